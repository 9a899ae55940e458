//! `crew demo`, whole: what it shows has happened, whatever the machine is like, and nothing of it stays.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::commands::repo::{Repo, Said, env, until};
use crate::commands::schema;
use crate::web_board::http::Web;

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
fn a_person_answers_on_the_page_after_all_else_is_done() {
    let mut show = Show::begin(&[("USER", "jane")], &["--web", "--keep"]);
    let said = |what: &str| {
        until(&format!("it says {what:?}"), || {
            let out = show.repo.read("out");
            out.contains(what).then_some(out)
        })
    };
    let out = said("/pair#");
    let link = out.split_whitespace().find(|word| word.contains("/pair#"));
    let web = Web::paired(link.unwrap(), "textkit");
    // The wait is told as soon as it begins, as the guides name it, and once more when nothing else is left.
    let out = said("for your answer on the page");
    assert!(out.contains("the demo waits 2 minutes for your answer"), "{out}");
    for guide in [
        include_str!("../../../../../docs/web.md"),
        include_str!("../../../../../README.md"),
    ] {
        assert!(guide.contains("2 minutes for your answer"));
    }
    // The slow check waits for nobody, so that all else is done long before the two minutes are over.
    let notes = show.repo.root.join("tmp").join(&show.left()[0]).join("notes");
    fs::write(notes.join("joined"), "").unwrap();
    let help = show.repo.crew(&["demo", "--help"]).ok().out;
    let help: Vec<&str> = help.split_whitespace().collect();
    assert!(
        help.join(" ").contains("waits 2 minutes for your answer"),
        "{help:?}"
    );
    said("All else is done: the demo waits");
    let item = until("the page has the question", || {
        let docs = web.of_repo("/view")["docs"].clone();
        let mut docs = docs.as_array().unwrap().iter();
        docs.find(|doc| doc["kind"] == "item")
            .map(|doc| doc["doc"].clone())
    });
    web.act(&item, "it is 1.0, I should think");
    said("The page shows how it ended");
    show.signal(Signal::INT);
    let said = show.end().ok();
    for told in [
        "you answered on the page (a test): it is 1.0, I should think",
        "(8 of 8)",
        "1 question answered",
    ] {
        assert!(said.out.contains(told), "no {told:?} in {said}");
    }
    assert_eq!(said.out.matches("asks a person").count(), 1, "{said}");
    assert!(!said.out.contains("typed it for you"), "{said}");
    assert_eq!(said.err, "");
    let kept = show.repo.root.join("tmp").join(&show.left()[0]).join("textkit");
    let version = fs::read_to_string(kept.join("lib/version.sh")).unwrap();
    assert!(version.contains("echo 1.0"), "{version}");
}

#[test]
fn a_port_that_is_taken_is_refused_before_anything_is_shown() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut show = Show::begin(&[], &["--web", "--port", &port.to_string()]);
    let said = show.end();
    assert_ne!(said.code, 0, "{said}");
    assert_eq!(said.out, "");
    let told = format!("the port {port} is taken by another program");
    assert!(said.err.contains(&told), "{said}");
    assert!(said.err.contains("`crew demo --web --port "), "{said}");
    assert_eq!(show.left(), Vec::<String>::new());
}

/// The agent's next step on its question, in a folder of its own: what it prints.
fn agent(repo: &Repo, notes: &str, prompt: &str) -> String {
    let notes = repo.root.join(notes);
    fs::create_dir_all(&notes).unwrap();
    // The slow check is under way already.
    fs::write(notes.join("slow"), "").unwrap();
    let mut agent = env()
        .arg("sh")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/files/agent.sh"))
        .current_dir(&repo.root)
        .envs([("CREW_TICKET_ID", "t-8"), ("PACE", "0")])
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "u")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "u@example.invalid")))
        .env("DEMO", &notes)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    agent.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
    let said = agent.wait_with_output().unwrap();
    assert!(said.status.success(), "{said:?}");
    String::from_utf8(said.stdout).unwrap()
}

#[test]
fn its_agent_takes_any_answer_and_asks_once() {
    let repo = Repo::with_crew();
    for folder in ["lib", "tests"] {
        fs::create_dir_all(repo.root.join(folder)).unwrap();
    }
    let go_on = "\n\nGo on with ticket t-8 (step 2 of 50).\n";
    for (n, (answer, version)) in [
        ("Call it 1.0", "1.0"),
        ("1.0!", "1.0"),
        ("v1.0 please", "1.0"),
        ("1", "1.0"),
        ("I think it's “0.9”.\n\nThanks", "0.9"),
        ("0.9, 1.0 comes in spring", "0.9"),
        ("Don't call it 1.0 yet", "0.9"),
        ("not 0.9 but 1.0", "1.0"),
        ("zero point nine", "0.9"),
        ("2.0-beta", "2.0-beta"),
        ("whatever you like; $(exit 1) `exit 1` * \\", "0.9"),
    ]
    .into_iter()
    .enumerate()
    {
        let notes = format!("notes-{n}");
        let asks = agent(&repo, &notes, "Work on ticket t-8.");
        assert!(asks.contains("QUESTION: Is this 0.9 or 1.0 already?"), "{asks}");
        for prompt in [
            format!("The answer to your question:\n\n{answer}{go_on}"),
            format!(
                "Questions on ticket t-8 that were asked before, and what a person answered:\n\n\
                     Question: Is this 0.9 or 1.0 already?\nAnswer: {answer}\n{go_on}"
            ),
        ] {
            let said = agent(&repo, &notes, &prompt);
            let understood = match answer.starts_with("whatever") {
                true => "it names no version, so this is 0.9".to_owned(),
                false => format!("understood: it is version {version}\n"),
            };
            assert!(
                said.contains(&understood) && said.ends_with("DONE\n"),
                "{answer}: {said}"
            );
        }
        // Its work has come back: it knows.
        let said = agent(&repo, &notes, "The checks failed.");
        assert!(
            said.contains(&format!("writing lib/version.sh: {version}\n")),
            "{answer}: {said}"
        );
    }
    // Nobody answered in time, or the answer was lost: it decides by itself.
    agent(&repo, "unanswered", "Work on ticket t-8.");
    let said = agent(&repo, "unanswered", "Nobody has answered in time.");
    assert!(
        said.contains("so this is version 0.9") && !said.contains("QUESTION"),
        "{said}"
    );
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
