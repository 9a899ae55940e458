//! With an engine: the whole way of a ticket, and what people say to a crew at work.

use std::process::{Child, Stdio};

use crate::commands::repo::{Repo, env, until};

/// Commits a file and is done.
const WORKER: &str = "\
echo \"$CREW_TICKET_ID by $CREW_AGENT\" > \"$CREW_TICKET_ID.txt\"
git add --all
git commit --quiet -m \"work on $CREW_TICKET_ID\"
printf '{\"crew\":\"usage\",\"input_tokens\":1200,\"output_tokens\":300,\"cost_usd\":0.02}\\n'
printf 'SUMMARY: wrote \\033[31ma file\\n'
echo DONE";

/// Waits until a file stands beside the repository, then works.
fn gated() -> String {
    format!("while ! test -e \"$TICKETS_DIR/../../go\"; do sleep 0.02; done\n{WORKER}")
}

fn open_gate(repo: &Repo) {
    std::fs::write(repo.root.parent().unwrap().join("go"), "").unwrap();
}

/// An engine in the background. Ended when dropped, however the test ends.
pub(crate) struct Engine<'a>(&'a Repo, Option<Child>);

impl<'a> Engine<'a> {
    pub(crate) fn start(repo: &'a Repo, args: &[&str]) -> Self {
        let child = env()
            .args(repo.program(&repo.root))
            .arg("run")
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self(repo, Some(child))
    }

    pub(crate) fn ended(mut self) -> std::process::Output {
        self.1.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Engine<'_> {
    fn drop(&mut self) {
        if let Some(mut child) = self.1.take() {
            self.0.crew(&["stop", "--kill"]);
            if self.0.crew(&["stop"]).out != "no engine runs here\n" {
                let _ = child.kill();
            }
            let _ = child.wait();
        }
    }
}

fn agent(repo: &Repo, wanted: &str) -> Option<serde_json::Value> {
    let ps = repo.crew(&["ps", "--json"]).ok().json();
    ps["agents"]
        .as_array()?
        .iter()
        .find(|agent| agent["state"] == wanted && agent["running"] == (wanted == "working"))
        .cloned()
}

#[test]
fn three_tickets_land_and_nobodys_edit_is_touched() {
    let repo = Repo::with_agent(WORKER);
    repo.write("checked.sh", "#!/bin/sh\nls *.txt > /dev/null\n");
    let guarded = repo
        .read("crew.toml")
        .replace("commands = []", "commands = [\"sh checked.sh\"]");
    repo.write("crew.toml", &guarded);
    repo.commit("a check");
    repo.write("README", "hello, and an edit of mine\n");
    repo.write("mine.txt", "untracked\n");
    for (id, title) in [("t-1", "One"), ("t-2", "Two"), ("t-3", "Three")] {
        repo.ticket(id, title, "");
    }
    let said = repo.crew(&["run", "--until-idle", "--anyway"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(
        said.out.contains("landed 3 tickets") && !said.out.contains('\u{1b}'),
        "{said}"
    );
    for id in ["t-1", "t-2", "t-3"] {
        assert!(
            repo.git(&["show", &format!("main:{id}.txt")])
                .starts_with(&format!("{id} by "))
        );
        assert_eq!(
            repo.crew(&["explain", id, "--json"]).ok().json()["state"],
            "done/landed"
        );
        assert!(repo.read(&format!(".tickets/{id}.md")).contains("status: closed"));
        assert!(
            repo.read(&format!("{id}.txt")).starts_with(id),
            "the checkout follows"
        );
    }
    assert_eq!(repo.read("README"), "hello, and an edit of mine\n");
    assert_eq!(repo.read("mine.txt"), "untracked\n");
    assert_eq!(
        repo.git(&["status", "--porcelain", "--", ":!.tickets"]),
        " M README\n?? mine.txt\n"
    );

    let landed = repo.crew(&["queue", "--json"]).ok().json();
    assert_eq!(landed["landed"].as_array().unwrap().len(), 3);
    assert_eq!(landed["landed"][0]["usage"]["input_tokens"], 1200);
    let history = repo
        .crew(&["history", "t-2", "--to", "landed", "--json"])
        .ok()
        .json();
    let row = &history["events"][0];
    assert_eq!(
        (row["kind"].as_str(), row["state"].as_str()),
        (Some("landed"), Some("done/landed"))
    );
    let seq = row["seq"].as_u64().unwrap();
    let then = repo
        .crew(&["history", "t-2", "--at", &(seq - 1).to_string(), "--json"])
        .ok()
        .json();
    assert_eq!(then["state"], "verify/landing");
    let name = landed["landed"][0]["agent"].as_str().unwrap();
    let logs = repo.crew(&["logs", name]).ok();
    assert!(logs.out.contains("» SUMMARY: wrote a file\n» DONE\n"), "{logs}");
    assert!(
        repo.crew(&["logs", name, "--raw"])
            .ok()
            .out
            .contains("wrote \u{1b}[31ma file")
    );
    assert!(
        repo.crew(&["peek", name, "-n", "1"])
            .ok()
            .out
            .ends_with("\n» DONE\n")
    );
    let events = repo.crew(&["events", "--all", "--json"]).ok().json();
    assert!(events["events"].as_array().unwrap().len() > 20);

    // A second time there is nothing to do, and nothing is done.
    let tip = repo.git(&["rev-parse", "main"]);
    let said = repo.crew(&["run", "--until-idle", "--json"]);
    assert_eq!(said.code, 0, "{said}");
    let last: serde_json::Value = serde_json::from_str(said.out.lines().last().unwrap()).unwrap();
    assert_eq!(last["summary"]["landed"], serde_json::json!([]));
    assert_eq!(repo.git(&["rev-parse", "main"]), tip);
}

#[test]
fn what_waits_for_a_person_is_named_and_the_exit_code_says_so() {
    let repo = Repo::with_agent(
        "case $CREW_TICKET_ID in t-1) echo 'BLOCKED: ask ops for the key' ;; t-2) echo 'QUESTION: red or blue?' ;; esac",
    );
    repo.ticket("t-1", "Blocked", "");
    repo.ticket("t-2", "Asking", "");
    repo.ticket("t-3", "Behind", "");
    let with = repo.read(".tickets/t-3.md").replace("deps: []", "deps: [t-1]");
    repo.write(".tickets/t-3.md", &with);
    let said = repo.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, 3, "{said}");
    assert!(said.out.contains("nothing guards the target"), "{said}");
    let summary = said.out.split_once("landed 0 tickets").unwrap().1;
    for wanted in ["t-1", "ask ops for the key", "t-2", "red or blue?", "t-3"] {
        assert!(summary.contains(wanted), "no `{wanted}` in {said}");
    }
    insta::assert_snapshot!(repo.seen(&["queue"]));
    let said = repo.crew(&["waive", "t-1", "it is fine"]);
    assert_eq!(said.code, 1, "nothing of it was submitted: {said}");
    let said = repo.crew(&["drop", "t-1", "not", "ours"]).ok();
    assert_eq!(said.out.lines().next(), Some("t-1 is dropped"));
    assert!(repo.read(".tickets/t-1.md").contains("status: closed"));
    let said = repo.crew(&["history", "t-1"]).ok();
    assert!(said.out.contains("dropped by grace: not ours"), "{said}");
    let asking = until("the agent that asks", || agent(&repo, "waiting"));
    assert_eq!(asking["waits_for"], "an answer: red or blue?");
    repo.crew(&["answer", asking["name"].as_str().unwrap(), "blue"])
        .ok();
    let said = repo.crew(&["clean"]);
    assert_eq!(said.code, 1, "there is work that has not landed: {said}");
    let said = repo.crew(&["clean", "--yes"]).ok();
    assert!(
        !repo.root.join(".crew").exists() && repo.root.join("crew.toml").is_file(),
        "{said}"
    );
    assert!(
        repo.read(".tickets/t-2.md").contains("status: open"),
        "nobody holds it any more"
    );
}

/// A note that crew writes into a ticket's file is no edit of a person's; what a person writes below it is
/// one.
#[test]
fn a_note_of_crews_own_is_no_edit_and_an_answer_below_it_is() {
    let repo = Repo::with_agent("printf 'BLOCKED: which key,\\nthe red one or the blue one?\\n'");
    repo.ticket("t-1", "Blocked", "");
    let edits = || {
        let said = repo.crew(&["history", "t-1"]).ok();
        let rows = said.out.lines();
        rows.filter(|row| row.ends_with("  its file was edited")).count()
    };
    // The second engine looks at the file anew, whatever the first had still to see.
    for _ in 0..2 {
        let said = repo.crew(&["run", "--until-idle"]);
        assert_eq!(said.code, 3, "{said}");
        let file = repo.read(".tickets/t-1.md");
        assert_eq!(file.matches("\nBLOCKED: which key,").count(), 1, "{file}");
        assert_eq!(edits(), 0, "{file}");
    }
    let noted = repo.read(".tickets/t-1.md");
    repo.write(".tickets/t-1.md", &format!("{noted}The blue one.\n"));
    assert_eq!(repo.crew(&["run", "--until-idle"]).code, 3);
    assert_eq!(edits(), 1);
}

/// Why something is so is read as a whole: where the terminal is narrow it goes on below, broken between
/// words.
#[test]
fn a_narrow_terminal_loses_no_word_of_what_happened() {
    let why =
        "the key of the staging server is in no vault that an agent can open, so somebody has to bring it";
    let repo = Repo::with_agent(&format!("echo 'BLOCKED: {why}'"));
    repo.ticket("t-1", "Blocked", "");
    assert_eq!(repo.crew(&["run", "--until-idle"]).code, 3);
    for columns in [40, 80] {
        for args in [&["history", "t-1"][..], &["events"], &["explain", "t-1"]] {
            let mut screen = repo.terminal(args, (columns, 100));
            let seen = until("the whole reason on the screen", || {
                let seen = screen.screen();
                let words: Vec<&str> = seen.split_whitespace().collect();
                words.join(" ").contains(why).then_some(seen)
            });
            screen.left();
            // A line that the terminal itself broke is one line here.
            let is_narrow = |line: &str| line.chars().count() <= usize::from(columns);
            assert!(seen.lines().all(is_narrow), "{args:?} at {columns}:\n{seen}");
        }
    }
}

#[test]
fn people_talk_to_an_engine_at_work() {
    let repo = Repo::with_agent(&gated());
    repo.ticket("t-1", "One", "");
    let engine = Engine::start(&repo, &["--agents", "1"]);
    let working = until("an agent at work", || agent(&repo, "working"));
    let name = working["name"].as_str().unwrap().to_owned();
    assert_eq!(
        (working["ticket"].as_str(), working["step"].as_u64()),
        (Some("t-1"), Some(1))
    );

    let second = repo.crew(&["run"]);
    assert_eq!(second.code, 4, "{second}");
    assert!(
        second.err.contains("an engine holds this repository: process "),
        "{second}"
    );
    assert_eq!(repo.crew(&["clean", "--yes"]).code, 4);

    assert_eq!(repo.crew(&["spawn", "zed"]).ok().out, "spawned zed\n");
    let said = repo.crew(&["assign", "zed", "t-1"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(said.err.contains(&format!("{name} works on it")), "{said}");
    let said = repo.crew(&["explain", "t-1"]).ok();
    assert!(said.out.contains(&format!("{name} works on it")), "{said}");

    assert!(repo.crew(&["kill", &name]).ok().out.contains("is being stopped"));
    let held = until("the ticket is held", || {
        let queue = repo.crew(&["queue", "--json"]).ok().json();
        queue["held"]
            .as_array()
            .filter(|held| !held.is_empty())
            .map(|held| held[0].clone())
    });
    assert_eq!(
        (held["ticket"].as_str(), held["why"].as_str()),
        (Some("t-1"), Some("killed"))
    );
    open_gate(&repo);
    repo.crew(&["retry", "t-1"]).ok();
    until("the ticket has landed", || {
        (repo.crew(&["explain", "t-1", "--json"]).ok().json()["state"] == "done/landed").then_some(())
    });
    repo.crew(&["stop", "--wait"]).ok();
    assert_eq!(repo.crew(&["stop"]).ok().out, "no engine runs here\n");
    let output = engine.ended();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_signal_stops_the_engine_and_a_reader_that_is_gone_does_not() {
    let repo = Repo::with_agent(&gated());
    repo.ticket("t-1", "One", "");
    let mut engine = Engine::start(&repo, &[]);
    drop(engine.1.as_mut().unwrap().stdout.take());
    until("an agent at work", || agent(&repo, "working"));
    let holder = repo.crew(&["ps", "--json"]).ok().json()["engine"]["pid"]
        .as_u64()
        .unwrap();
    open_gate(&repo);
    until("the ticket has landed", || {
        (repo.crew(&["explain", "t-1", "--json"]).ok().json()["state"] == "done/landed").then_some(())
    });
    let killed = env()
        .args(["kill", "-INT", &holder.to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(engine.ended().status.code(), Some(130));
}

#[test]
fn commands_without_an_engine_are_carried_out_at_once() {
    let repo = Repo::with_agent(WORKER);
    repo.ticket("t-1", "One", "");
    assert_eq!(repo.crew(&["spawn", "ada"]).ok().out, "spawned ada\n");
    assert_eq!(repo.crew(&["spawn", "2"]).ok().out.lines().count(), 1);
    let said = repo.crew(&["assign", "ada", "t-1"]).ok();
    assert!(said.out.starts_with("ada has t-1\n"), "{said}");
    let ps = repo.crew(&["ps", "--json"]).ok().json();
    assert_eq!(
        (
            ps["agents"][0]["name"].as_str(),
            ps["agents"][0]["ticket"].as_str()
        ),
        (Some("ada"), Some("t-1"))
    );
    assert!(ps["engine"].is_null());
    let said = repo.crew(&["merge", "ada"]);
    assert!(
        matches!(said.code, 1 | 3),
        "nothing was committed, so nothing lands: {said}"
    );
    let said = repo.crew(&["cleanup", "ada"]).ok();
    assert!(said.out.contains("its work on t-1 kept"), "{said}");
    assert_eq!(
        repo.crew(&["ps", "--json"]).ok().json()["agents"][0]["state"],
        "idle"
    );
    assert_eq!(repo.crew(&["run", "--until-idle"]).code, 3, "it is held");
    repo.crew(&["retry", "t-1"]).ok();
    let said = repo.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, 0, "{said}");
}

#[test]
fn a_change_to_the_settings_waits_for_a_person() {
    let repo =
        Repo::with_agent("echo '# mine' >> crew.toml\ngit commit --quiet --all --message w\necho DONE");
    repo.ticket("t-1", "Be free", "");
    let said = repo.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, 3, "{said}");
    assert!(!repo.git(&["show", "main:crew.toml"]).contains("# mine"));
    let said = repo.crew(&["explain", "t-1"]).ok();
    let proposed = said.out.split("hint: `crew approve t-1 --tip ").nth(1);
    let tip = proposed.and_then(|tip| tip.split('`').next());
    let Some(tip) = tip else { panic!("{said}") };
    repo.crew(&["approve", "t-1", "--tip", tip]).ok();
    let said = repo.crew(&["merge", "t-1"]).ok();
    assert!(said.out.contains("landed as "), "{said}");
    assert!(repo.git(&["show", "main:crew.toml"]).contains("# mine"));
}

#[test]
fn what_cannot_be_carried_out_is_not_left_for_later() {
    let repo = Repo::with_crew();
    repo.crew(&["spawn", "ada"]).ok();
    let settings = repo.read("crew.toml");
    repo.write("crew.toml", "nonsense");
    assert_eq!(repo.crew(&["spawn", "bob"]).code, 2);
    repo.write("crew.toml", &settings);
    assert_eq!(repo.crew(&["run", "--until-idle"]).code, 0);
    let ps = repo.crew(&["ps", "--json"]).ok().json();
    let names: Vec<&str> = ps["agents"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|agent| agent["name"].as_str())
        .collect();
    assert!(names.contains(&"ada") && !names.contains(&"bob"), "{names:?}");
}
