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
