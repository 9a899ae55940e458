//! `crew doctor` on a live store and repository: each planted violation is said in words, and nothing else
//! is.

use serde_json::Value;

use crate::commands::engine::Engine;
use crate::commands::repo::{Repo, Said};

/// Two tickets that have landed.
fn landed() -> Repo {
    let repo = Repo::with_agent(
        "echo x > $CREW_TICKET_ID; git add .; git commit -qm x; printf '{\"crew\":\"usage\",\"input_tokens\":1,\"output_tokens\":1,\"cost_usd\":0.02}\\n'; echo DONE",
    );
    repo.ticket("t-1", "One", "");
    repo.ticket("t-2", "Two", "");
    repo.crew(&["run", "--until-idle"]).ok();
    repo
}

/// What is said of an area, at a level that is not fine.
fn told(said: &Said, area: &str) -> String {
    let findings = said.json()["findings"].as_array().cloned().unwrap_or_default();
    let says: Vec<String> = findings
        .iter()
        .filter(|one| one["area"] == area && one["level"] != "fine")
        .filter_map(|one| Some(one["says"].as_str()?.to_owned()))
        .collect();
    says.join("\n")
}

/// Who landed a ticket: the two of [`landed`] may land in either order.
fn agent_of(repo: &Repo, ticket: &str) -> String {
    let queue = repo.crew(&["queue", "--json"]).ok().json();
    let landed = queue["landed"].as_array().unwrap();
    let entry = landed.iter().find(|entry| entry["ticket"] == ticket).unwrap();
    entry["agent"].as_str().unwrap().to_owned()
}

fn wrong(said: &Said) -> Vec<Value> {
    let findings = said.json()["findings"].as_array().cloned().unwrap_or_default();
    findings
        .into_iter()
        .filter(|one| one["level"] == "wrong")
        .collect()
}

/// A person has rewritten the target, and git has deleted what it was.
#[test]
fn a_history_that_is_gone_is_told_of_and_not_in_gits_words() {
    let repo = landed();
    repo.git(&["checkout", "-q", "--orphan", "anew"]);
    repo.git(&[
        "-c",
        "user.name=U",
        "-c",
        "user.email=u@example.org",
        "commit",
        "-qm",
        "anew",
    ]);
    repo.git(&["branch", "-M", "main"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    let says = told(&repo.crew(&["doctor", "--json"]), "invariants");
    let says: Vec<&str> = says.lines().collect();
    let [one, two, begun] = says[..] else {
        panic!("{says:#?}")
    };
    for says in [one, two] {
        assert!(
            says.ends_with("which is no longer in main: its history was rewritten"),
            "{says}"
        );
    }
    assert!(
        begun.starts_with("the commit that the first work began on is gone"),
        "{begun}"
    );
    // New work lands on it as on any other.
    repo.ticket("t-3", "Three", "");
    repo.crew(&["run", "--until-idle"]).ok();
    assert_eq!(repo.git(&["show", "main:t-3"]), "x\n");
}

/// As by `git pull --rebase`: to have them done again, as for lost work, would cost a step each.
#[test]
fn landings_whose_changes_are_in_other_commits_are_not_lost() {
    let repo = landed();
    let ours = ["-c", "user.name=U", "-c", "user.email=u@example.org"];
    let commit = |args: &[&str]| repo.git(&[&ours, args].concat());
    repo.git(&["reset", "-q", "--soft", "HEAD~2"]);
    commit(&["commit", "-qm", "both in one"]);
    let said = repo.crew(&["doctor", "--json"]).ok();
    assert_eq!(
        told(&said, "invariants"),
        "2 of the landings are in main in other commits: its history was rewritten, as by a rebase"
    );
    // What is not in it is lost all the same.
    repo.git(&["rm", "-q", "t-2"]);
    commit(&["commit", "-q", "--amend", "-m", "one of them"]);
    let says = told(&repo.crew(&["doctor", "--json"]), "invariants");
    assert!(says.contains("t-2 landed as"), "{says}");
}

/// Work that landed on what was the target then is not lost.
#[test]
fn landings_on_the_target_before_this_one_are_not_lost() {
    let repo = landed();
    repo.git(&["branch", "stable", "HEAD~2"]);
    let settings = repo.read("crew.toml");
    let settings = settings.replace("target = \"main\"", "target = \"stable\"");
    repo.write("crew.toml", &settings);
    let said = repo.crew(&["doctor", "--json"]);
    assert_eq!(
        told(&said, "invariants"),
        "2 of the landings are in main, and not in stable"
    );
}

#[test]
fn what_another_journal_landed_is_told() {
    let repo = landed();
    assert_eq!(told(&repo.crew(&["doctor", "--json"]).ok(), "invariants"), "");
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let side = repo.git(&[
        "-c",
        "user.name=U",
        "-c",
        "user.email=u@example.org",
        "commit-tree",
        "-p",
        "HEAD",
        "-m",
        "work",
        tree.trim(),
    ]);
    let message = "Land t-9\n\nTicket: t-9\nAgent: bob\nAttempt: 1";
    let merge = repo.git(&[
        "-c",
        "user.name=U",
        "-c",
        "user.email=u@example.org",
        "commit-tree",
        "-p",
        "HEAD",
        "-p",
        side.trim(),
        "-m",
        message,
        tree.trim(),
    ]);
    repo.git(&["merge", "--quiet", "--ff-only", merge.trim()]);
    let said = told(&repo.crew(&["doctor", "--json"]).ok(), "invariants");
    assert!(
        said.contains("of t-9 is in main, and this journal has not landed it"),
        "{said}"
    );
}

#[test]
fn a_landing_that_is_gone_altogether_is_told() {
    let repo = landed();
    repo.git(&["reset", "--quiet", "--hard", "HEAD~2"]);
    let said = repo.crew(&["doctor", "--json"]);
    assert_eq!(said.code, 1);
    let says = told(&said, "invariants");
    for id in ["t-1 landed as", "t-2 landed as"] {
        assert!(says.contains(id), "{says}");
    }
}

#[test]
fn a_pin_of_a_ticket_that_nobody_knows_is_told() {
    let repo = landed();
    repo.git(&["update-ref", "refs/crew/base/x-9/1", "HEAD"]);
    repo.git(&["update-ref", "refs/crew/rescue/x-8/1", "HEAD"]);
    let said = repo.crew(&["doctor", "--json"]);
    assert_eq!(said.code, 1, "{said}");
    let (invariants, leftovers) = (told(&said, "invariants"), told(&said, "leftovers"));
    assert!(
        invariants.contains("refs/crew/base/x-9/1: the base of a ticket"),
        "{invariants}"
    );
    assert!(leftovers.contains("refs/crew/rescue/x-8/1"), "{leftovers}");
}

#[test]
fn a_state_file_that_crew_did_not_write_or_of_a_newer_journal_is_told() {
    let repo = landed();
    for (text, says) in [
        ("half a fi", "crew did not write it"),
        ("{\"seq\": 999999}", "more than the journal has"),
    ] {
        repo.write(".crew/state.json", text);
        let said = repo.crew(&["doctor", "--json"]);
        assert_eq!(said.code, 1, "{said}");
        let told = told(&said, "invariants");
        assert!(told.contains(says), "{told}");
    }
    repo.crew(&["run", "--until-idle"]).ok();
    repo.crew(&["doctor", "--json"]).ok();
}

#[test]
fn an_environment_that_outlived_its_step_is_told_and_removed() {
    let repo = landed();
    let env = repo.root.join(".crew/runs/t-1.1.1/env.json");
    assert!(!env.exists());
    std::fs::write(&env, "[[\"TOKEN\",\"canary\"]]").unwrap();
    let said = repo.crew(&["doctor", "--json"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(told(&said, "leftovers").contains("secrets too"), "{said}");
    repo.crew(&["doctor", "--fix"]).ok();
    assert!(!env.exists());
}

#[test]
fn nothing_is_wrong_while_an_engine_works_and_what_is_wrong_is_told_all_the_same() {
    let repo = landed();
    let agent = agent_of(&repo, "t-1");
    for n in 3..9 {
        repo.ticket(&format!("t-{n}"), "More", "");
    }
    let engine = Engine::start(&repo, &[]);
    let all = || {
        repo.git(&["log", "--first-parent", "--format=%s", "main"])
            .lines()
            .count()
            >= 9
    };
    let mut looks = 0;
    while !all() {
        let said = repo.crew(&["doctor", "--json"]);
        assert_eq!(wrong(&said), Vec::<Value>::new());
        looks += 1;
        assert!(looks < 2_000, "the engine does not land them");
    }
    // Its engine still runs.
    repo.git(&["branch", &format!("agent/{agent}-t-1"), "HEAD~3"]);
    let said = repo.crew(&["doctor", "--json"]);
    assert!(told(&said, "leftovers").contains("no attempt uses it"), "{said}");
    repo.git(&["branch", "-D", &format!("agent/{agent}-t-1")]);
    repo.crew(&["stop"]).ok();
    engine.ended();
}

/// A merge commit on HEAD with this message, checked out.
fn merge_by_hand(repo: &Repo, message: &str) {
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let identity = ["-c", "user.name=U", "-c", "user.email=u@example.org"];
    let side = [
        &identity[..],
        &["commit-tree", "-p", "HEAD", "-m", "work", tree.trim()],
    ]
    .concat();
    let side = repo.git(&side);
    let made = [
        "commit-tree",
        "-p",
        "HEAD",
        "-p",
        side.trim(),
        "-m",
        message,
        tree.trim(),
    ];
    let merge = repo.git(&[&identity[..], &made].concat());
    repo.git(&["merge", "--quiet", "--ff-only", merge.trim()]);
}

#[test]
fn landings_that_a_person_merged_into_another_line_are_not_gone() {
    let repo = landed();
    let identity = ["-c", "user.name=U", "-c", "user.email=u@example.org"];
    repo.git(&["checkout", "--quiet", "-b", "mine", "HEAD~2"]);
    let own = [
        &identity[..],
        &["commit", "--quiet", "--allow-empty", "-m", "mine"],
    ]
    .concat();
    repo.git(&own);
    let merge = [
        &identity[..],
        &["merge", "--quiet", "--no-ff", "-m", "all of it", "main"],
    ]
    .concat();
    repo.git(&merge);
    repo.git(&["branch", "--force", "main", "mine"]);
    repo.git(&["checkout", "--quiet", "main"]);
    let said = repo.crew(&["doctor", "--json"]).ok();
    let told = told(&said, "invariants");
    assert!(
        told.contains("2 of the landings came into main by a merge"),
        "{told}"
    );
    assert!(!told.contains("rewritten"), "{told}");
}

#[test]
fn between_lines_that_a_person_merged_there_is_no_order() {
    let repo = Repo::with_agent("echo x > $CREW_TICKET_ID; git add .; git commit -qm x; echo DONE");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    repo.git(&["branch", "aside"]);
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    repo.ticket("t-2", "Two", "");
    repo.crew(&["run", "--until-idle"]).ok();
    // What landed first comes in last, by a line of its own.
    let identity = ["-c", "user.name=U", "-c", "user.email=u@example.org"];
    let merge = ["merge", "--quiet", "--no-ff", "-m", "both", "aside"];
    repo.git(&[&identity[..], &merge].concat());
    let said = repo.crew(&["doctor", "--json"]).ok();
    let told = told(&said, "invariants");
    assert!(
        told.contains("1 of the landings came into main by a merge"),
        "{told}"
    );
    assert!(!told.contains("before work that landed earlier"), "{told}");
}

#[test]
fn a_ticket_that_another_journal_landed_before_may_land_again() {
    let repo = landed();
    repo.crew(&["clean", "--yes"]).ok();
    repo.script("echo again >> $CREW_TICKET_ID; git add .; git commit -qm again; echo DONE");
    repo.commit("another agent");
    for id in ["t-1", "t-2"] {
        repo.ticket(id, "Again", "");
    }
    repo.crew(&["run", "--until-idle"]).ok();
    let merges = repo.git(&[
        "log",
        "--first-parent",
        "--format=%(trailers:key=Ticket,valueonly)",
    ]);
    assert_eq!(merges.matches("t-1").count(), 2, "{merges}");
    let said = repo.crew(&["doctor", "--json"]);
    let told = told(&said, "invariants");
    assert!(
        !told.contains("times") && !told.contains("has not landed it"),
        "{told}"
    );
}

#[test]
fn an_attempt_that_is_in_the_target_twice_is_told() {
    let repo = landed();
    merge_by_hand(&repo, "Land t-1\n\nTicket: t-1\nAgent: bob\nAttempt: 1");
    let said = repo.crew(&["doctor", "--json"]);
    assert_eq!(said.code, 1, "{said}");
    let told = told(&said, "invariants");
    assert!(told.contains("attempt 1 of t-1 is in main 2 times"), "{told}");
}

#[test]
fn merges_with_tickets_of_others_are_theirs() {
    let repo = landed();
    merge_by_hand(&repo, "Merge a branch\n\nTicket: JIRA-7");
    merge_by_hand(&repo, "Merge a branch\n\nTicket: JIRA-7\nAttempt: last");
    let said = repo.crew(&["doctor", "--json"]).ok();
    assert_eq!(told(&said, "invariants"), "");
}

#[test]
fn submitted_work_that_no_ref_leads_to_any_more_is_told() {
    let repo = Repo::with_agent(
        "[ ! -e x ] || { echo 'BLOCKED: it is red'; exit 0; }\necho x > x; git add .; git commit -qm x; echo DONE",
    );
    let settings = repo.read("crew.toml");
    let guarded = settings.replace("commands = []", "commands = [\"test ! -e x\"]");
    assert_ne!(settings, guarded);
    repo.write("crew.toml", &guarded);
    repo.commit("checks");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]);
    repo.crew(&["drop", "t-1", "no"]).ok();
    repo.crew(&["run", "--until-idle"]);
    assert_eq!(told(&repo.crew(&["doctor", "--json"]), "invariants"), "");
    let kept = repo.git(&["for-each-ref", "--format=%(refname)", "refs/crew/attempts/"]);
    assert!(!kept.is_empty());
    for name in kept.lines() {
        repo.git(&["update-ref", "-d", name]);
    }
    let said = repo.crew(&["doctor", "--json"]).ok();
    let told = told(&said, "invariants");
    assert!(told.contains("t-1: no ref leads to"), "{told}");
}

#[test]
fn a_secret_that_an_agent_printed_is_found_and_not_shown() {
    let repo = Repo::with_agent("echo canary-0123456789; echo x > x; git add .; git commit -qm x; echo DONE");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    let deep = |variable: &str| {
        let mut program = repo.program(&repo.root);
        program.insert(program.len() - 1, variable.to_owned());
        repo.run(&program, &["doctor", "--deep", "--json"])
    };
    let said = deep("SOME_TOKEN=canary-0123456789");
    assert_eq!(said.code, 1, "{said}");
    let told = told(&said, "invariants");
    assert!(
        told.contains("the value of SOME_TOKEN is in") && told.contains("/.crew/runs/t-1.1.1/"),
        "{told}"
    );
    assert!(!said.out.contains("canary"), "{said}");
    let said = deep("SOME_TOKEN=canary-that-nobody-printed").ok();
    assert!(said.out.contains("no value of 1 secret"), "{said}");
}

#[test]
fn a_landing_that_a_killed_engine_has_not_told_of_is_its_own() {
    let repo = Repo::with_agent("echo x > $CREW_TICKET_ID; git add .; git commit -qm x; echo DONE");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    repo.ticket("t-2", "Two", "");
    let mut program = repo.program(&repo.root);
    program.insert(program.len() - 1, "CREW_FAILPOINT_AT=land.moved".to_owned());
    let killed = repo.run(&program, &["run", "--until-idle"]);
    assert_eq!(killed.code, -1, "{killed}");
    let merges = repo.git(&["log", "--format=%(trailers:key=Ticket,valueonly)", "main"]);
    assert!(merges.contains("t-2"), "{merges}");
    assert_eq!(told(&repo.crew(&["doctor", "--json"]), "invariants"), "");
    repo.crew(&["run", "--until-idle"]).ok();
    assert_eq!(told(&repo.crew(&["doctor", "--json"]).ok(), "invariants"), "");
}
