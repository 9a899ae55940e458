//! tk's commands, by either name.

use crate::commands::repo::{Repo, env};

#[test]
fn a_ticket_goes_round() {
    let repo = Repo::with_crew();
    let tk = |args: &[&str]| repo.crew(&[&["ticket"], args].concat()).ok().out;
    let first = tk(&[
        "create",
        "Write it",
        "-d",
        "All of it",
        "--acceptance",
        "It reads well",
        "-p",
        "1",
        "--tags",
        "a,b",
    ]);
    let first = first.trim();
    let second = tk(&["create", "Then: read it | \"aloud\""]);
    let second = second.trim();
    assert!(
        first.starts_with("rep-"),
        "{first}: named after the repository's folder"
    );
    assert_eq!(
        tk(&["dep", second, first]),
        format!("Added dependency: {second} -> {first}\n")
    );
    assert_eq!(tk(&["dep", second, first]), "Dependency already exists\n");
    assert_eq!(tk(&["ready"]), format!("{first} [P1][open] - Write it\n"));
    assert_eq!(
        tk(&["blocked"]),
        format!("{second} [P2][open] - Then: read it | \"aloud\" <- [{first}]\n")
    );
    assert_eq!(tk(&["start", first]), format!("Updated {first} -> in_progress\n"));
    assert_eq!(tk(&["close", first]), format!("Updated {first} -> closed\n"));
    assert_eq!(
        tk(&["closed", "--limit=5"]),
        format!("{first} [closed] - Write it\n")
    );
    assert_eq!(tk(&["reopen", first]), format!("Updated {first} -> open\n"));
    assert_eq!(
        tk(&["status", first, "closed"]),
        format!("Updated {first} -> closed\n")
    );
    assert_eq!(
        tk(&["add-note", second, "a", "note"]),
        format!("Note added to {second}\n")
    );
    assert!(tk(&["show", second]).contains("a note"));
    assert_eq!(
        tk(&["link", first, second]),
        "Added 2 link(s) between 2 tickets\n"
    );
    assert_eq!(
        tk(&["unlink", first, second]),
        format!("Removed link: {first} <-> {second}\n")
    );
    assert!(tk(&["dep", "tree", second]).contains("└── "));
    assert_eq!(tk(&["dep", "cycle"]), "No dependency cycles found\n");
    assert_eq!(
        tk(&["undep", second, first]),
        format!("Removed dependency: {second} -/-> {first}\n")
    );
    assert_eq!(
        tk(&["ls", "--status=open"]),
        format!("{second} [open] - Then: read it | \"aloud\"\n")
    );
    assert_eq!(tk(&["query"]).lines().count(), 2);
    assert!(tk(&["edit", second]).starts_with("Edit ticket file: "));
    assert!(tk(&[]).starts_with("Usage: crew ticket"));
}

#[test]
fn what_tk_refuses_is_refused_with_its_code() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "One", "");
    for args in [
        &["frobnicate"][..],
        &["show", "nothing"],
        &["show"],
        &["show", "../../etc/passwd"],
        &["create", "--frob"],
        &["create", "two\nlines"],
        &["create", "x", "-p", "9"],
        &["status", "t-1", "half"],
        &["dep", "t-1", "t-1"],
        &["undep", "t-1", "t-2"],
        &["ls", "--limit=3"],
        &["closed", "--limit=x"],
    ] {
        let said = repo.crew(&[&["ticket"], args].concat());
        assert_eq!(said.code, 1, "{args:?}: {said}");
        assert!(said.err.starts_with("error: "), "{args:?}: {said}");
    }
    assert_eq!(
        repo.crew(&["ticket", "ls"]).ok().out,
        "t-1      [open] - One\n",
        "nothing was written"
    );
}

#[test]
fn help_is_an_option_of_each_command() {
    let repo = Repo::with_crew();
    let help = repo.crew(&["ticket", "help"]).ok().out;
    for args in [
        &["create", "--help"][..],
        &["create", "A title", "-h"],
        &["dep", "--help"],
        &["--help"],
    ] {
        assert_eq!(
            repo.crew(&[&["ticket"], args].concat()).ok().out,
            help,
            "{args:?}"
        );
    }
    let noted = repo.crew(&["ticket", "create", "--", "--help"]).ok();
    let shown = repo.crew(&["ticket", "show", noted.out.trim()]).ok();
    assert!(shown.out.contains("# --help"), "{shown}");
}

#[test]
fn called_tk_it_is_tk() {
    let repo = Repo::none();
    let link = repo.home().join("tk");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_crew"), &link).unwrap();
    let mut command = repo.program(&repo.root);
    *command.last_mut().unwrap() = link.display().to_string();
    let tk = |args: &[&str]| env().args(&command).args(args).output().unwrap();
    let created = tk(&["create", "No repository needed"]);
    assert!(created.status.success(), "{created:?}");
    let listed = String::from_utf8(tk(&["ls"]).stdout).unwrap();
    assert!(listed.contains("No repository needed"), "{listed}");
    assert_eq!(tk(&["frobnicate"]).status.code(), Some(1));
}
