//! `crew doctor`: what is well, what is wrong, and what is mended.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::commands::clean::{BACKED_UP, restored};
use crate::commands::repo::{Repo, Said};

/// What it found of an area at a level.
fn found(said: &Said, area: &str, level: &str) -> Vec<Value> {
    let findings = said.json()["findings"].as_array().cloned().unwrap_or_default();
    findings
        .into_iter()
        .filter(|one| one["area"] == area && one["level"] == level)
        .collect()
}

fn says(findings: &[Value]) -> String {
    let says: Vec<&str> = findings.iter().filter_map(|one| one["says"].as_str()).collect();
    says.join("\n")
}

#[test]
fn a_crew_that_worked_is_well() {
    let repo = Repo::with_agent("echo x > x; git add x; git commit -qm x; echo DONE");
    let before = repo.crew(&["doctor", "--json"]).ok();
    assert!(
        says(&found(&before, "journal", "fine")).contains("none yet"),
        "{before}"
    );
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    let said = repo.crew(&["doctor", "--json"]).ok();
    for area in [
        "git",
        "repository",
        "settings",
        "harness",
        "tickets",
        "journal",
        "invariants",
        "leftovers",
    ] {
        assert!(!found(&said, area, "fine").is_empty(), "{area} in {said}");
        assert!(found(&said, area, "wrong").is_empty(), "{area} in {said}");
    }
    assert!(
        says(&found(&said, "settings", "note")).contains("nothing guards"),
        "{said}"
    );
    assert!(
        says(&found(&said, "invariants", "fine")).contains("once"),
        "{said}"
    );
    let text = repo.crew(&["doctor"]).ok();
    assert!(text.out.contains("nothing is wrong"), "{text}");
}

#[test]
fn each_part_says_what_is_wrong_with_it() {
    let none = Repo::none();
    let said = none.crew(&["doctor", "--json"]);
    assert_eq!(
        (said.code, found(&said, "repository", "wrong").len()),
        (1, 1),
        "{said}"
    );

    let repo = Repo::new();
    let said = repo.crew(&["doctor", "--json"]);
    let settings = found(&said, "settings", "wrong");
    assert!(
        settings[0]["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("crew init")),
        "{said}"
    );

    let repo = Repo::with_crew();
    repo.write(
        "crew.toml",
        "[project]\ntarget = \"main\"\n\n[agents]\ncuont = 3\n",
    );
    let said = repo.crew(&["doctor", "--json"]);
    assert!(
        says(&found(&said, "settings", "wrong")).starts_with("crew.toml:5:1:"),
        "{said}"
    );
    repo.write(
        "crew.toml",
        "prompts_dir = \"says\"\n[project]\ntarget = \"gone\"\n[agents]\nharness = \"x\"\n[harness.x]\nkind = \"command\"\ncommand = [\"./no-such\"]\n",
    );
    repo.write("says/step.md", "{{ agnt }}\n");
    repo.git(&["branch", "agent"]);
    repo.ticket("t-1", "One", "");
    repo.write(".tickets/t-2.md", "no front matter\n");
    let said = repo.crew(&["doctor", "--json"]);
    let prompts = says(&found(&said, "settings", "wrong"));
    assert!(
        prompts.contains("says/step.md") && prompts.contains("agnt"),
        "{said}"
    );
    let repository = says(&found(&said, "repository", "wrong"));
    assert!(
        repository.contains("gone") && repository.contains("named `agent`"),
        "{said}"
    );
    assert!(
        says(&found(&said, "harness", "wrong")).contains("no-such"),
        "{said}"
    );
    assert!(says(&found(&said, "tickets", "note")).contains("t-2"), "{said}");
}

#[test]
fn what_can_be_mended_is_mended_and_no_work_is_lost() {
    let repo = Repo::with_agent(BACKED_UP);
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    // A workspace and a branch come back, as from a backup; and somebody opened crew's folder to everyone.
    let agent = repo.crew(&["queue", "--json"]).ok().json()["landed"][0]["agent"]
        .as_str()
        .unwrap()
        .to_owned();
    let name = format!("{agent}-t-1");
    let space = restored(&repo, &agent);
    std::fs::write(space.join("unsaved.txt"), "precious\n").unwrap();
    repo.git(&["checkout", "--quiet", "-b", &format!("agent/{name}")]);
    repo.write("branch.txt", "work\n");
    repo.commit("left");
    repo.git(&["checkout", "--quiet", "main"]);
    let crew_dir = repo.root.join(".crew");
    std::fs::set_permissions(&crew_dir, std::fs::Permissions::from_mode(0o755)).unwrap();

    let said = repo.crew(&["doctor", "--json"]);
    assert_eq!(said.code, 1, "{said}");
    assert_eq!(found(&said, "leftovers", "wrong").len(), 2, "{said}");
    assert_eq!(found(&said, "repository", "wrong").len(), 1, "{said}");
    assert!(space.exists(), "looking changes nothing");

    repo.crew(&["doctor", "--fix"]).ok();
    assert!(!space.exists());
    let kept = repo.git(&["for-each-ref", "--format=%(refname)", "refs/crew/"]);
    let files: Vec<String> = kept
        .lines()
        .map(|kept| repo.git(&["ls-tree", "-r", "--name-only", kept]))
        .collect();
    for wanted in ["unsaved.txt", "branch.txt"] {
        assert!(
            files.iter().any(|files| files.contains(wanted)),
            "{wanted} in {kept}"
        );
    }
    let mode = crew_dir.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(found(&repo.crew(&["doctor", "--json"]).ok(), "leftovers", "wrong").is_empty());
}

#[test]
fn history_that_was_rewritten_is_told() {
    let repo = Repo::with_agent("echo x > x; git add x; git commit -qm x; echo DONE");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let said = repo.crew(&["doctor", "--json"]);
    assert_eq!(said.code, 1);
    assert!(
        says(&found(&said, "invariants", "wrong")).contains("t-1 landed as"),
        "{said}"
    );
}

/// The naive version looks for one line in one file: it tells of a clone in which only the engine, or the
/// user, has seen to it.
#[test]
fn whoever_has_git_ignore_crews_folder_it_is_ignored_and_doctor_does_it_once() {
    let repo = Repo::with_crew();
    let is_told = || {
        let said = repo.crew(&["doctor", "--json"]);
        said.out.contains("is not ignored")
    };
    for text in ["/.crew/\n", ".crew/\n", "*.o\n.crew\n"] {
        repo.write(".git/info/exclude", text);
        assert!(!is_told(), "{text}");
    }
    repo.write(".git/info/exclude", "");
    repo.write(".gitignore", ".cr*/\n");
    assert!(!is_told(), "by a file of the user's");
    std::fs::remove_file(repo.root.join(".gitignore")).unwrap();
    assert!(is_told());
    for _ in 0..2 {
        repo.crew(&["doctor", "--fix"]).ok();
        let excluded = repo.read(".git/info/exclude");
        assert_eq!(excluded.matches("/.crew/\n").count(), 1, "{excluded}");
    }
    assert!(!is_told());
}

#[test]
fn commits_that_somebody_made_on_the_target_are_named_and_no_fault() {
    let repo = Repo::with_agent("echo x > x; git add x; git commit -qm x; echo DONE");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    let said = repo.crew(&["doctor", "--json"]).ok();
    assert!(!said.out.contains("not crew's"), "{said}");
    let by_hand = |args: &[&str]| {
        let pat = ["-c", "user.name=pat", "-c", "user.email=pat@example.org"];
        repo.git(&[&pat, args].concat())
    };
    by_hand(&["commit", "--quiet", "--allow-empty", "-m", "By \u{1b}[31mhand"]);
    let said = repo.crew(&["doctor", "--json"]).ok();
    let fine = says(&found(&said, "repository", "fine"));
    let commit = repo.git(&["log", "-1", "--format=%h %an", "--abbrev=10"]);
    assert!(fine.contains("1 commit on main is not crew's"), "{said}");
    assert!(fine.contains(commit.trim()) && fine.contains("hand"), "{said}");
    assert!(!fine.contains('\u{1b}'), "{said}");
    // A reset to a commit that is not above the first work.
    let root = by_hand(&["commit-tree", "HEAD^{tree}", "-m", "Another root"]);
    repo.git(&["reset", "--quiet", "--soft", root.trim()]);
    let said = repo.crew(&["doctor", "--json"]);
    let notes = says(&found(&said, "repository", "note"));
    assert!(notes.contains("main was moved away from"), "{said}");
}

#[test]
fn a_target_whose_runner_misses_a_program_is_not_called_red_and_the_program_is_named() {
    let repo = Repo::with_crew();
    let settings = repo.read("crew.toml");
    // As make prints it, which ends with a code of its own.
    repo.write(
        "test.sh",
        "echo 'make: no-such-tool: No such file or directory'; echo 'make: *** [Makefile:2: test] Error 127'; exit 2",
    );
    let guarded = settings.replace("commands = []", "commands = [\"sh test.sh\"]");
    assert_ne!(settings, guarded);
    repo.write("crew.toml", &guarded);
    repo.commit("Guard the target");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]);
    let said = repo.crew(&["doctor", "--json"]);
    let wrong = found(&said, "checks", "wrong");
    assert!(
        says(&wrong).contains("`sh test.sh` cannot be run, since no-such-tool is not found on its PATH"),
        "{said}"
    );
    let hint = wrong[0]["hint"].as_str().unwrap();
    assert!(hint.starts_with("install no-such-tool"), "{hint}");
}

#[test]
fn a_lock_of_another_git_is_left_and_said_to_be() {
    let repo = Repo::with_crew();
    repo.write(".git/index.lock", "");
    let said = repo.crew(&["doctor", "--json"]).ok();
    assert!(
        says(&found(&said, "repository", "note")).contains("index.lock"),
        "{said}"
    );
    let said = repo.crew(&["doctor", "--fix", "--json"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(
        says(&found(&said, "repository", "wrong")).contains("another git's"),
        "{said}"
    );
    assert!(repo.root.join(".git/index.lock").exists());
}

/// As an engine leaves it that is killed while a checkout follows what landed.
#[test]
fn a_lock_that_an_engine_left_is_no_fault_and_given_back_by_the_next() {
    let repo = Repo::with_crew();
    let lock = repo.root.join(".git/index.lock");
    assert!(!repo.crew(&["ps"]).ok().out.contains("index.lock"));
    std::fs::write(&lock, "crew follows the landed branch here\n").unwrap();
    let said = repo.crew(&["doctor", "--json"]).ok();
    let notes = found(&said, "repository", "note");
    assert!(says(&notes).contains("index.lock is crew's"), "{said}");
    assert!(
        notes
            .iter()
            .any(|note| note["hint"].as_str().unwrap().ends_with("removes the lock")),
        "{said}"
    );
    let said = repo.crew(&["ps"]).ok();
    assert!(
        said.out.contains("index.lock keeps your git out: `crew run`"),
        "{said}"
    );
    let ps = repo.crew(&["ps", "--json"]).ok().json();
    assert_eq!(ps["index_locks"], serde_json::json!([lock]), "{ps}");
    let inbox = repo.crew(&["inbox", "--json"]);
    assert_eq!(inbox.code, 3, "{inbox}");
    let item = &inbox.json()["items"][0];
    assert!(
        item["kind"] == "checkout" && item["why"].as_str().unwrap().contains(lock.to_str().unwrap()),
        "{inbox}"
    );
    repo.crew(&["doctor", "--fix"]).ok();
    assert!(lock.exists());
    repo.crew(&["run", "--until-idle"]).ok();
    assert!(!lock.exists());
    assert!(!repo.crew(&["ps"]).ok().out.contains("index.lock"));
    repo.crew(&["inbox"]).ok();
    repo.crew(&["doctor"]).ok();
}

#[test]
fn a_deep_look_reads_every_object_and_says_what_is_missing() {
    let repo = Repo::with_crew();
    let said = repo.crew(&["doctor", "--deep"]).ok();
    assert!(said.out.contains("every object is there and whole"), "{said}");

    let blob = repo.git(&["rev-parse", "HEAD:README"]).trim().to_owned();
    std::fs::remove_file(repo.root.join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    assert_eq!(repo.crew(&["doctor"]).code, 0, "only a deep look reads them");
    let said = repo.crew(&["doctor", "--deep", "--json"]);
    assert_eq!(said.code, 1, "{said}");
    let wrong = says(&found(&said, "repository", "wrong"));
    assert!(
        wrong.contains("the content of a file is missing") && wrong.contains(&blob),
        "{wrong}"
    );
}

#[test]
fn commits_that_are_made_during_a_deep_look_are_no_faults() {
    let repo = Repo::with_crew();
    for file in 0..300 {
        repo.write(&format!("many/{file}"), &format!("{file}\n"));
    }
    repo.git(&["config", "user.name", "Pat"]);
    repo.git(&["config", "user.email", "pat@example.com"]);
    repo.git(&["add", "many"]);
    repo.git(&["commit", "-qm", "Many"]);
    std::thread::scope(|scope| {
        let looks = scope.spawn(|| {
            for _ in 0..6 {
                let said = repo.crew(&["doctor", "--deep"]);
                assert!(said.out.contains("every object is there and whole"), "{said}");
            }
        });
        while !looks.is_finished() {
            repo.git(&["commit", "-q", "--allow-empty", "-m", "Another"]);
        }
    });
}

#[test]
fn a_program_is_named_as_a_person_would_write_it() {
    let repo = Repo::with_crew();
    let said = repo.crew(&["doctor"]).ok();
    assert!(
        said.out.contains("/repo/agent.sh") && !said.out.contains("/./"),
        "{said}"
    );
}

#[test]
fn an_edit_that_was_put_aside_is_listed() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "One", "");
    repo.write(".tickets/t-1.md.kept-1", "mine\n");
    let said = repo.crew(&["doctor", "--json"]).ok();
    let notes = says(&found(&said, "tickets", "note"));
    assert!(
        notes.contains("t-1.md.kept-1: written at the same moment"),
        "{said}"
    );
    assert_eq!(repo.read(".tickets/t-1.md.kept-1"), "mine\n");
}
