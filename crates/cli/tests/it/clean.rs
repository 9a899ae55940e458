//! `crew clean`: it takes away what is crew's, and no work.

use crate::support::Repo;

#[test]
fn a_workspace_that_nobody_uses_is_kept_before_it_goes_and_what_is_not_crews_stays() {
    let repo = Repo::with_agent("echo x > x; git add x; git commit -qm x; echo DONE");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    let spaces = std::fs::read_dir(repo.home().join(".local/state/crew"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let agent = repo.crew(&["queue", "--json"]).ok().json()["landed"][0]["agent"]
        .as_str()
        .unwrap()
        .to_owned();
    // It comes back, as from a backup, with work that no ref has; and a person has put something beside it.
    let space = spaces.join(format!("{agent}-t-1"));
    repo.git(&["clone", "--quiet", ".", space.to_str().unwrap()]);
    std::fs::write(space.join("unsaved.txt"), "precious\n").unwrap();
    let mine = spaces.join("my-notes");
    std::fs::create_dir(&mine).unwrap();
    std::fs::write(mine.join("note.txt"), "mine\n").unwrap();

    let said = repo.crew(&["clean", "--yes"]).ok();
    assert!(said.out.contains("my-notes"), "{said}");
    assert!(!space.exists());
    assert_eq!(std::fs::read_to_string(mine.join("note.txt")).unwrap(), "mine\n");
    let kept = repo.git(&["for-each-ref", "--format=%(refname)", "refs/crew/rescue/"]);
    let holds = |name: &str| {
        repo.git(&["ls-tree", "-r", "--name-only", name])
            .contains("unsaved.txt")
    };
    assert!(kept.lines().any(holds), "{kept}");
    assert!(!repo.root.join(".crew").exists());
}

/// The folder that the workspaces stand in.
fn spaces(repo: &Repo) -> std::path::PathBuf {
    let mut entries = std::fs::read_dir(repo.home().join(".local/state/crew")).unwrap();
    entries.next().unwrap().unwrap().path()
}

/// A repository in which t-1 has landed, and who did it.
fn landed() -> (Repo, String) {
    let repo = Repo::with_agent("echo x > x; git add x; git commit -qm x; echo DONE");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    let agent = repo.crew(&["queue", "--json"]).ok().json()["landed"][0]["agent"]
        .as_str()
        .unwrap()
        .to_owned();
    (repo, agent)
}

/// What an engine leaves that is killed when an attempt's end is decided and nothing of it done: a branch with work, and its pin.
fn left_behind(repo: &Repo, agent: &str) -> String {
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let identity = ["-c", "user.name=U", "-c", "user.email=u@example.invalid"];
    let commit = [
        &identity[..],
        &["commit-tree", "-p", "HEAD", "-m", "precious", tree.trim()],
    ]
    .concat();
    let tip = repo.git(&commit).trim().to_owned();
    repo.git(&["branch", &format!("agent/{agent}-t-1"), &tip]);
    repo.git(&["update-ref", "refs/crew/base/t-1/1", "HEAD"]);
    tip
}

fn refs(repo: &Repo) -> Vec<String> {
    let said = repo.git(&[
        "for-each-ref",
        "--format=%(objectname) %(refname)",
        "refs/crew/",
        "refs/heads/agent/",
    ]);
    said.lines().map(str::to_owned).collect()
}

#[test]
fn branch_and_pin_of_an_attempt_that_is_over_and_not_put_away_yet_are() {
    let (repo, agent) = landed();
    let tip = left_behind(&repo, &agent);
    // Somebody else's stay: another journal's, and one that no crew made.
    repo.git(&["update-ref", "refs/crew/base/x-9/1", "HEAD"]);
    repo.git(&["branch", "agent/mine"]);
    let head = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.crew(&["clean"]).ok();
    assert_eq!(
        refs(&repo),
        [
            format!("{tip} refs/crew/attempts/t-1/1"),
            format!("{head} refs/crew/base/x-9/1"),
            format!("{head} refs/heads/agent/mine"),
        ]
    );
}

#[test]
fn what_a_person_hid_beside_the_workspaces_stays() {
    let (repo, agent) = landed();
    let spaces = spaces(&repo);
    std::fs::write(spaces.join(".note"), "mine\n").unwrap();
    std::fs::create_dir(spaces.join(".mine")).unwrap();
    std::fs::write(spaces.join(".mine/note"), "mine\n").unwrap();
    let crews = spaces.join(format!(".{agent}-t-1"));
    std::fs::create_dir_all(&crews).unwrap();
    let said = repo.crew(&["clean"]).ok();
    for name in [".note", ".mine"] {
        assert!(said.out.contains(name), "{said}");
    }
    assert_eq!(std::fs::read_to_string(spaces.join(".note")).unwrap(), "mine\n");
    assert_eq!(
        std::fs::read_to_string(spaces.join(".mine/note")).unwrap(),
        "mine\n"
    );
    assert!(!crews.exists());
}

#[test]
fn with_its_target_gone_all_that_there_is_of_the_work_is_kept() {
    let (repo, agent) = landed();
    let tip = left_behind(&repo, &agent);
    let space = spaces(&repo).join(format!("{agent}-t-1"));
    repo.git(&["clone", "--quiet", ".", space.to_str().unwrap()]);
    std::fs::write(space.join("unsaved.txt"), "precious\n").unwrap();
    repo.git(&["branch", "--move", "main", "other"]);
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/gone"]);
    repo.crew(&["clean", "--yes"]).ok();
    let kept = refs(&repo);
    assert!(
        kept.contains(&format!("{tip} refs/crew/attempts/t-1/1")),
        "{kept:?}"
    );
    assert!(
        kept.iter()
            .all(|name| !name.contains("/base/") && !name.contains("agent/")),
        "{kept:?}"
    );
    let holds = |line: &String| {
        let name = line.split_once(' ').unwrap().1;
        repo.git(&["ls-tree", "-r", "--name-only", name])
            .contains("unsaved.txt")
    };
    assert!(kept.iter().any(holds), "{kept:?}");
}
