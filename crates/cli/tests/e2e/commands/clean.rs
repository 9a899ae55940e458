//! `crew clean`: it takes away what is crew's, and no work.

use std::path::PathBuf;

use crate::commands::repo::Repo;

#[test]
fn a_workspace_that_nobody_uses_is_kept_before_it_goes_and_what_is_not_crews_stays() {
    let (repo, agent) = landed();
    let spaces = spaces(&repo);
    // It comes back, as from a backup, with work that no ref has; and a person has put something beside it.
    let space = restored(&repo, &agent);
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

/// An agent whose workspaces' folder is copied as from a backup, before it is done.
pub(crate) const BACKED_UP: &str =
    "echo x > x; git add x; git commit -qm x; cp -a .. ../../../backup; echo DONE";

/// Puts the workspace of t-1, with what crew has beside it, back from the backup.
pub(crate) fn restored(repo: &Repo, agent: &str) -> PathBuf {
    let (backup, spaces) = (repo.home().join(".local/state/backup"), spaces(repo));
    for name in [format!(".{agent}-t-1"), format!("{agent}-t-1")] {
        std::fs::rename(backup.join(&name), spaces.join(&name)).unwrap();
    }
    spaces.join(format!("{agent}-t-1"))
}

/// The folder that the workspaces stand in.
fn spaces(repo: &Repo) -> PathBuf {
    let mut entries = std::fs::read_dir(repo.home().join(".local/state/crew")).unwrap();
    entries.next().unwrap().unwrap().path()
}

/// A repository in which t-1 has landed, and who did it.
fn landed() -> (Repo, String) {
    let repo = Repo::with_agent(BACKED_UP);
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    let agent = repo.crew(&["queue", "--json"]).ok().json()["landed"][0]["agent"]
        .as_str()
        .unwrap()
        .to_owned();
    (repo, agent)
}

/// What an engine leaves that is killed when an attempt's end is decided and nothing of it done: a branch
/// with work, and its pin.
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
    repo.crew(&["clean", "--yes"]).ok();
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
fn a_branch_of_a_persons_with_the_name_of_an_agents_stays_and_is_named() {
    let (repo, agent) = landed();
    let branch = format!("agent/{agent}-t-1");
    repo.git(&["branch", &branch]);
    let head = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let said = repo.crew(&["clean", "--yes"]).ok();
    let kept = format!("kept: branch {branch} is not crew's");
    assert!(said.out.contains(&kept), "{said}");
    assert_eq!(refs(&repo), [format!("{head} refs/heads/{branch}")]);
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
    let said = repo.crew(&["clean", "--yes"]).ok();
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
    let space = restored(&repo, &agent);
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

#[test]
fn a_folder_of_a_persons_with_the_name_of_a_workspace_is_theirs() {
    let (repo, agent) = landed();
    let space = spaces(&repo).join(format!("{agent}-t-1"));
    repo.git(&["clone", "--quiet", ".", space.to_str().unwrap()]);
    std::fs::write(space.join(".git/info/exclude"), "secret\n").unwrap();
    std::fs::write(space.join("secret"), "mine\n").unwrap();
    let said = repo.crew(&["doctor", "--fix", "--json"]).ok();
    assert!(said.out.contains("a folder that is not crew's"), "{said}");
    assert_eq!(std::fs::read_to_string(space.join("secret")).unwrap(), "mine\n");
    let said = repo.crew(&["clean", "--yes"]).ok();
    assert!(said.out.contains(&format!("{agent}-t-1")), "{said}");
    assert_eq!(std::fs::read_to_string(space.join("secret")).unwrap(), "mine\n");
    assert_eq!(refs(&repo), Vec::<String>::new());
}

#[test]
fn a_clean_that_was_killed_is_finished_by_the_next() {
    let (repo, _) = landed();
    std::fs::create_dir_all(repo.root.join(".crew.removed/runs")).unwrap();
    repo.write(".crew.removed/runs/t-1.1.1", "old\n");
    repo.crew(&["clean", "--yes"]).ok();
    for name in [".crew", ".crew.removed"] {
        assert!(!repo.root.join(name).exists(), "{name}");
    }
    assert!(repo.read(".git/info/exclude").contains(".crew.removed/\n"));
    // Killed later: the folder is gone, and so is its journal.
    repo.write(".crew.removed/journal.db", "old\n");
    repo.crew(&["clean", "--yes"]).ok();
    assert!(!repo.root.join(".crew.removed").exists());
}

#[test]
fn nothing_goes_while_a_workspace_is_not_where_it_is_looked_for() {
    let repo = Repo::with_agent("echo x > precious; echo 'QUESTION: red or blue?'");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]);
    let before = refs(&repo);
    assert!(!before.is_empty());
    let (home, away) = (repo.home().join(".local"), repo.home().join("away"));
    let spaces = spaces(&repo);
    std::fs::rename(&home, &away).unwrap();
    let said = repo.crew(&["clean", "--yes"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(
        said.err.contains("that is not there") && said.err.contains("mount"),
        "{said}"
    );
    assert_eq!(refs(&repo), before);
    assert!(repo.root.join(".crew/journal.db").exists());
    // A folder is there, and nothing in it.
    let spaces = spaces.strip_prefix(&home).unwrap();
    std::fs::create_dir_all(home.join(spaces)).unwrap();
    let said = repo.crew(&["clean", "--yes"]);
    assert_eq!((said.code, refs(&repo)), (1, before.clone()), "{said}");
    assert!(
        said.err.contains("no workspace in") && said.err.contains("XDG_STATE_HOME"),
        "{said}"
    );
    std::fs::remove_dir_all(&home).unwrap();
    // A file where the folder is to be cannot be listed.
    std::fs::write(&home, "").unwrap();
    let said = repo.crew(&["clean", "--yes"]);
    assert_eq!((said.code, refs(&repo)), (1, before), "{said}");
    std::fs::remove_file(&home).unwrap();
    std::fs::rename(&away, &home).unwrap();

    repo.crew(&["clean", "--yes"]).ok();
    let holds = |line: &String| {
        let name = line.split_once(' ').unwrap().1;
        repo.git(&["ls-tree", "-r", "--name-only", name])
            .contains("precious")
    };
    let kept = refs(&repo);
    assert!(kept.iter().any(holds), "{kept:?}");
}

#[test]
fn a_clean_goes_on_when_it_was_killed_after_the_workspaces_went() {
    let repo = Repo::with_agent("echo x > precious; echo 'QUESTION: red or blue?'");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]);
    let name = repo.git(&[
        "for-each-ref",
        "--format=%(refname:lstrip=3)",
        "refs/heads/agent/",
    ]);
    let space = spaces(&repo).join(name.trim());
    assert!(space.exists());
    // What makes the first one fail comes after the workspaces: a pin that cannot be taken away.
    let lock = repo.root.join(".git/refs/crew/base/t-1/1.lock");
    repo.write(".git/refs/crew/base/t-1/1.lock/file", "");
    let said = repo.crew(&["clean", "--yes"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(repo.root.join(".crew/journal.db").exists());
    assert!(!space.exists(), "{said}");
    std::fs::remove_dir_all(&lock).unwrap();
    repo.crew(&["clean", "--yes"]).ok();
    assert!(!repo.root.join(".crew").exists());
}
