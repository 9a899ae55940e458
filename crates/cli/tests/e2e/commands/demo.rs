//! `crew demo`, whole: what it shows has happened, whatever the machine is like, and nothing of it stays.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::commands::repo::{Repo, Said, env, until};
use crate::commands::schema;

/// A demonstration in a temporary folder of its own. It does not outlive its test.
struct Show {
    repo: Repo,
    child: Child,
}

impl Show {
    fn begin(more: &[(&str, &str)], args: &[&str]) -> Self {
        let repo = Repo::none();
        let mut program = repo.program(&repo.root);
        let crew = program.pop().unwrap();
        fs::create_dir(repo.root.join("tmp")).unwrap();
        program.push(format!("TMPDIR={}", repo.root.join("tmp").display()));
        program.extend(more.iter().map(|(name, value)| format!("{name}={value}")));
        let child = env()
            .args(program)
            .arg(crew)
            .arg("demo")
            .args(args)
            .stdin(Stdio::null())
            .stdout(fs::File::create(repo.root.join("out")).unwrap())
            .stderr(fs::File::create(repo.root.join("err")).unwrap())
            .spawn()
            .unwrap();
        Self { repo, child }
    }

    fn end(&mut self) -> Said {
        let status = self.child.wait().unwrap();
        Said {
            code: status.code().unwrap_or(-1),
            out: self.repo.read("out"),
            err: self.repo.read("err"),
        }
    }

    /// What stands in its temporary folder.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.repo.root.join("tmp")).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    /// Processes that have its temporary folder in their environment.
    fn processes(&self) -> Vec<String> {
        let mark = self.repo.root.join("tmp/crew-demo-").display().to_string();
        let is_ours = |folder: &Path| {
            let read = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
            [read("environ"), read("cmdline")]
                .iter()
                .any(|bytes| bytes.windows(mark.len()).any(|part| part == mark.as_bytes()))
        };
        let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        all.filter(|path| is_ours(path))
            .map(|path| path.display().to_string())
            .collect()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

impl Drop for Show {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.signal(Signal::TERM);
            let _ = self.child.wait();
        }
    }
}

#[test]
fn it_lands_eight_tickets_in_the_worst_of_environments_and_leaves_nothing() {
    let mut show = Show::begin(
        &[
            ("HOME", "/nonexistent"),
            ("GIT_DIR", "/nonexistent"),
            ("GIT_INDEX_FILE", "/nonexistent"),
            ("GIT_CONFIG_COUNT", "2"),
            ("GIT_CONFIG_KEY_0", "commit.gpgSign"),
            ("GIT_CONFIG_VALUE_0", "true"),
            ("GIT_CONFIG_KEY_1", "core.hooksPath"),
            ("GIT_CONFIG_VALUE_1", "/nonexistent"),
            ("GIT_AUTHOR_DATE", "nonsense"),
            ("TICKETS_DIR", "/nonexistent"),
            ("CREW_WORKER", "1"),
            ("XDG_STATE_HOME", "/nonexistent"),
        ],
        &[],
    );
    let said = show.end().ok();
    for told in [
        "t-8  ada takes it, before all others",
        "now that t-2 has landed",
        "merged with main it fails the tests",
        "does not merge with what landed meanwhile (lib/greet.sh)",
        "crashed. What it wrote so far is kept",
        "hangs: no word",
        "may delegate, and has called crew's tool for that: others do t-7-c1 and t-7-c2",
        "takes this part of t-7, in the same folder: Write tests/reverse.test",
        "gave its parts to other agents, and landed the whole",
        "asks a person: Is this 0.9 or 1.0 already?",
        "answered with `crew answer ada Call it 1.0`",
        "merged with main it does not keep its promise",
        "rejects it in review: two blanks become two dashes",
        "merged results passed one run of the tests together",
        "landed it with others, by one run of the tests",
        "results landed at once",
        "(8 of 8)",
        "all 8 tickets landed",
        "Merge t-1: Count the words of a text",
        "crew init",
    ] {
        assert!(said.out.contains(told), "no {told:?} in {said}");
    }
    assert!(!said.out.contains('\u{1b}'), "{said}");
    assert_eq!(said.err, "");
    assert_eq!(show.left(), Vec::<String>::new());
    assert_eq!(show.processes(), Vec::<String>::new());
}

#[test]
fn what_it_tells_is_what_the_journal_of_the_kept_repository_has() {
    let mut show = Show::begin(&[], &["--keep", "--json"]);
    let said = show.end().ok();
    let rows: Vec<Value> = said
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    schema::check_output("demo", &said.out);
    let summary = &rows.last().unwrap()["summary"];
    let kept = Path::new(summary["kept"].as_str().unwrap());
    assert_eq!(show.left().len(), 1);

    let said = show.repo.crew_in(kept, &["events", "--all", "--json"]).ok();
    let mut happened: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in said.json()["events"].as_array().unwrap() {
        let (stream, says) = (event["stream"].as_str().unwrap(), event["says"].as_str().unwrap());
        if let Some(ticket) = stream.strip_prefix("ticket/") {
            happened
                .entry(ticket.to_owned())
                .or_default()
                .push(says.to_owned());
        }
    }
    let has = |ticket: &str, what: &str| {
        let n = happened[ticket].iter().filter(|text| text.contains(what)).count();
        assert_eq!(n, 1, "{what:?} of {ticket}: {:#?}", happened[ticket]);
    };
    assert_eq!(happened.len(), 10);
    for ticket in happened.keys() {
        let is_part = ticket.starts_with("t-7-");
        has(
            ticket,
            if is_part {
                "landed with t-7 as"
            } else {
                "landed as"
            },
        );
    }
    has(
        "t-7",
        "delegates t-7-c1 (Write lib/reverse.sh), t-7-c2 (Write tests/reverse.test)",
    );
    has("t-1", "step stopped: stalled");
    has("t-4", "check failed");
    has("t-2", "commitment 1 is not met");
    has("t-3", "rejected in review");
    has("t-4", "landing in a batch of");
    has("t-8", "landing in a batch of");
    has("t-7-c1", "step failed (lost, 1 of 5 in a row");
    has("t-8", "asks: Is this 0.9 or 1.0 already?");
    has("t-8", "answers: Call it 1.0");
    let conflicts = ["t-5", "t-6"].map(|t| {
        happened[t]
            .iter()
            .filter(|text| text.contains("does not merge"))
            .count()
    });
    assert_eq!(conflicts.iter().sum::<usize>(), 1, "{happened:#?}");
    let order: Vec<&str> = summary["landed"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|landed| landed["ticket"].as_str())
        .collect();
    let at = |ticket| order.iter().position(|landed| *landed == ticket).unwrap();
    assert!(at("t-2") < at("t-3"), "{order:?}");

    let history = show.repo.crew_in(kept, &["history", "t-7"]).ok();
    assert!(history.out.contains("landed as"), "{history}");
    let ps = show.repo.crew_in(kept, &["ps"]).ok();
    assert!(ps.out.contains("10 landed"), "{ps}");
    let version = fs::read_to_string(kept.join("lib/version.sh")).unwrap();
    assert!(version.contains("echo 1.0"), "{version}");
    let greet = fs::read_to_string(kept.join("lib/greet.sh")).unwrap();
    assert!(greet.contains("Bonjour") && greet.contains("Hallo"), "{greet}");
}

#[test]
fn interrupted_it_leaves_nothing() {
    for signal in [Signal::INT, Signal::HUP] {
        let mut show = Show::begin(&[], &[]);
        until("an agent at work", || {
            let root = show.repo.root.join("tmp").join(show.left().first()?);
            root.join("notes/hung").exists().then_some(())
        });
        show.signal(signal);
        let said = show.end();
        assert_eq!(said.code, 130, "{said}");
        assert_eq!(show.left(), Vec::<String>::new());
        assert_eq!(show.processes(), Vec::<String>::new());
    }
}
