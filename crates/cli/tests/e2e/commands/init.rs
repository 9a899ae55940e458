use crate::commands::repo::Repo;

#[test]
fn init_writes_settings_that_can_be_read_and_says_what_guards_the_target() {
    let repo = Repo::new();
    repo.write("Makefile", "test:\n\ttrue\n");
    insta::assert_snapshot!(repo.seen(&["init", "--yes"]));
    insta::assert_snapshot!(repo.seen(&["config"]));
    assert!(repo.root.join(".tickets").is_dir());
    assert!(
        repo.read(".git/info/exclude")
            .lines()
            .any(|line| line == "/.crew/")
    );
    assert_eq!(
        repo.git(&["status", "--porcelain"]),
        "?? Makefile\n?? crew.toml\n"
    );
}

#[test]
fn init_says_plainly_when_nothing_guards_the_target() {
    let repo = Repo::new();
    repo.script("");
    let said = repo.crew(&["init", "--yes", "--agent", "./agent.sh"]).ok();
    assert!(said.out.contains("nothing guards the target"), "{said}");
    assert!(
        repo.read("crew.toml").contains("command = [\"./agent.sh\"]"),
        "{}",
        repo.read("crew.toml")
    );
}

#[test]
fn init_splits_the_agents_program_as_a_shell_would() {
    let repo = Repo::new();
    repo.crew(&["init", "--yes", "--agent", "sh -c 'cat; echo DONE' -"])
        .ok();
    let settings = repo.read("crew.toml");
    assert!(
        settings.contains(r#"command = ["sh", "-c", "cat; echo DONE", "-"]"#),
        "{settings}"
    );
}

#[test]
fn init_refuses_a_program_that_cannot_be_started_before_anything_is_written() {
    let repo = Repo::new();
    for (agent, why) in [
        ("no-such-program-anywhere exec -", "no-such-program-anywhere"),
        ("./missing.sh", "missing.sh"),
        ("./README", "README"),
        ("sh -c 'cat", "not closed"),
        (" ", "cannot be empty"),
        ("''", "cannot be empty"),
    ] {
        let said = repo.crew(&["init", "--yes", "--agent", agent]);
        assert_ne!(said.code, 0, "{agent}: {said}");
        assert!(said.err.contains(why), "{agent}: {said}");
        assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "", "{agent}");
    }
}

#[test]
fn init_takes_claude_where_it_is_installed_and_names_the_variables_it_needs() {
    use std::os::unix::fs::PermissionsExt as _;
    let repo = Repo::new();
    let bin = repo.home().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let claude = bin.join("claude");
    std::fs::write(&claude, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = repo.program(&repo.root);
    let path = command.iter_mut().find(|word| word.starts_with("PATH=")).unwrap();
    *path = format!("PATH={}:{}", bin.display(), &path["PATH=".len()..]);
    command.insert(2, "ANTHROPIC_API_KEY=canary".to_owned());
    let said = repo.run(&command, &["init", "--yes"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.out.contains("agents run on   claude"), "{said}");
    let written = repo.read("crew.toml");
    for line in [
        "harness = \"claude\"",
        "[harness.claude]",
        "pass_env = [\"ANTHROPIC_API_KEY\"]",
    ] {
        assert!(written.contains(line), "{line} is missing:\n{written}");
    }
    assert!(!written.contains("canary") && !said.to_string().contains("canary"));
    repo.crew(&["config"]).ok();
}

#[test]
fn init_writes_nothing_over_settings_and_asks_where_nobody_can_answer() {
    let repo = Repo::new();
    let said = repo.crew(&["init"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.contains("crew init --yes"), "{said}");
    assert!(!repo.root.join("crew.toml").exists());
    repo.write("crew.toml", "# mine\n");
    let said = repo.crew(&["init", "--yes"]);
    assert_eq!(said.code, 1, "{said}");
    assert_eq!(repo.read("crew.toml"), "# mine\n");
}

#[test]
fn init_in_a_folder_of_the_repository_makes_the_whole_of_it_ready() {
    let repo = Repo::new();
    std::fs::create_dir(repo.root.join("deep")).unwrap();
    repo.crew_in(&repo.root.join("deep"), &["init", "--yes"]).ok();
    assert!(repo.root.join("crew.toml").is_file());
    repo.crew_in(&repo.home(), &["-C", "../repo/deep", "ps"]).ok();
}

#[test]
fn a_target_that_cannot_be_one_is_refused() {
    let repo = Repo::new();
    repo.git(&["switch", "--quiet", "--create", "agent/x"]);
    let said = repo.crew(&["init", "--yes"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(
        said.err.contains("where crew keeps its agents' branches"),
        "{said}"
    );
    assert!(!repo.root.join("crew.toml").exists());
}

#[test]
fn init_says_that_there_is_nothing_to_try() {
    let repo = Repo::new();
    let said = repo.crew(&["init", "--yes", "--try"]).ok();
    assert!(
        said.out.contains("nothing was tried: there are no checks"),
        "{said}"
    );
}
