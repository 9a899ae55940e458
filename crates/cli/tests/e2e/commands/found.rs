//! What was said and done is found again, by agent and by ticket; and nothing is done by a slip.

use crate::commands::repo::{Repo, until};

/// An agent that needs two steps.
const TWO_STEPS: &str = "if test \"$CREW_STEP\" = 1; then echo 'only half'; exit; fi
echo 'the other half'
echo \"$CREW_TICKET_ID\" > \"$CREW_TICKET_ID\"
git add .
git commit --quiet --message work
echo DONE";

#[test]
fn steps_prompts_and_the_landing_of_a_ticket_are_found_by_its_id() {
    let repo = Repo::with_agent(TWO_STEPS);
    repo.ticket("t-1", "Mend the hinge", "");
    repo.ticket("t-2", "Oil it", "");
    let said = repo.crew(&["explain", "t-1", "--json"]).ok().json();
    assert!(said["landed"].is_null(), "{said}");
    assert_eq!(
        repo.crew(&["peek", "t-1"]).ok().out,
        "no agent has been at t-1 yet\n"
    );
    repo.crew(&["run", "--until-idle"]).ok();

    let first = repo.crew(&["logs", "t-1", "--step", "1"]).ok().out;
    assert!(
        first.contains("only half") && !first.contains("the other half"),
        "{first}"
    );
    let told = repo.crew(&["logs", "t-1", "--prompt"]).ok().out;
    assert_eq!(told.matches("told to").count(), 2, "{told}");
    assert!(
        told.contains("Mend the hinge") && !told.contains("only half"),
        "{told}"
    );
    let second = repo.crew(&["logs", "t-1", "--prompt", "--step", "2"]).ok().out;
    assert!(
        second.contains("step 2 (run t-1.") && !second.contains("step 1 (run"),
        "{second}"
    );
    let said = repo.crew(&["logs", "t-1", "--step", "7"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(said.err.contains("t-1 has had no step 7"), "{said}");
    let peeked = repo.crew(&["peek", "t-1"]).ok().out;
    assert!(
        peeked.contains("the other half") && !peeked.contains("only half"),
        "{peeked}"
    );

    let landed = repo.crew(&["explain", "t-1", "--json"]).ok().json()["landed"].clone();
    assert_eq!(landed["steps"], 2, "{landed}");
    let agent = landed["agent"].as_str().unwrap();
    let commit = &landed["commit"].as_str().unwrap()[..8];
    let told = repo.crew(&["explain", "t-1"]).ok().out;
    assert!(
        told.contains(&format!("commit {commit} by {agent}, begun ")) && told.contains("2 steps"),
        "{told}"
    );
}

#[test]
fn an_engine_in_the_background_works_until_it_is_stopped() {
    let repo = Repo::with_agent(TWO_STEPS);
    repo.ticket("t-1", "Mend the hinge", "");
    let said = repo.crew(&["run", "--detach"]).ok();
    assert!(
        said.out.contains("in the background: process ") && said.out.contains(".crew/logs/run.log"),
        "{said}"
    );
    until("the ticket has landed", || {
        let queue = repo.crew(&["queue", "--json"]).ok().json();
        (queue["landed"].as_array().unwrap().len() == 1).then_some(())
    });
    let again = repo.crew(&["run", "--detach"]);
    assert_eq!(again.code, 4, "{again}");
    repo.crew(&["stop", "--wait"]).ok();
    let log = repo.read(".crew/logs/run.log");
    assert!(log.contains("Mend the hinge"), "{log}");

    // One that cannot begin says so here.
    repo.write("crew.toml", "[run]\nmax_steps = 0\n");
    let said = repo.crew(&["run", "--detach"]);
    assert_eq!(said.code, 2, "{said}");
}

#[test]
fn a_clean_says_what_would_be_lost_and_asks() {
    let repo = Repo::with_agent("echo 'QUESTION: red or blue?'");
    repo.ticket("t-1", "Mend the hinge", "");
    repo.crew(&["run", "--until-idle"]);
    let said = repo.crew(&["clean"]);
    assert_eq!(said.code, 1, "{said}");
    for part in [
        "the journal, with the history and the costs of 1 ticket: ",
        "the output of 1 step: ",
        "the workspace ",
        "t-1  Mend the hinge",
        "crew clean --yes",
    ] {
        assert!(said.err.contains(part), "{part}: {said}");
    }
    let mut terminal = repo.terminal(&["clean"], (100, 30));
    terminal.until("Remove all of it? [y/N]");
    terminal.press("n\n");
    terminal.until("nothing was removed");
    assert_eq!(terminal.left().0, 1);
    assert!(repo.root.join(".crew").exists());
    let mut terminal = repo.terminal(&["clean"], (100, 30));
    terminal.until("Remove all of it? [y/N]");
    terminal.press("y\n");
    terminal.until("removed the journal");
    assert_eq!(terminal.left().0, 0);
    assert!(!repo.root.join(".crew").exists());
}

#[test]
fn a_command_that_acts_is_written_out() {
    let repo = Repo::with_crew();
    let said = repo.crew(&["clea", "--yes"]);
    assert_eq!(said.code, 2, "{said}");
    let said = repo.crew(&["sto"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(
        said.err.contains("`sto` is no command") && said.err.contains("crew stop"),
        "{said}"
    );
    repo.ticket("t-1", "One", "");
    assert_eq!(
        repo.crew(&["expl", "t-1"]).ok().out,
        repo.crew(&["explain", "t-1"]).ok().out
    );
}
