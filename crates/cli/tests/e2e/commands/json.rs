//! Every document has the shape that docs/json.schema.json promises. Whatever a test prints with `--json` is
//! held against it, by [`Repo::crew`]; here are all commands, on a repository where as much as possible has
//! happened.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::commands::following::Following;
use crate::commands::repo::{Repo, Said};
use crate::commands::schema;

/// What these agents do is told by the ticket's id.
const AGENT: &str = "case $CREW_TICKET_ID in
  t-blocked) echo 'BLOCKED: ask ops for the key'; exit ;;
  t-asks) echo 'QUESTION: red or blue?'; exit ;;
  t-guarded) echo '# mine' >> crew.toml ;;
  t-fails) if test ! -e \"$TICKETS_DIR/../../failed\"; then touch \"$TICKETS_DIR/../../failed\"; echo oh >&2; exit 1; fi ;;
esac
echo \"$CREW_TICKET_ID\" > \"$CREW_TICKET_ID\"
git add .
git commit --quiet --message work
echo '{\"crew\":\"usage\",\"input_tokens\":100,\"output_tokens\":10,\"cost_usd\":0.25}'
echo \"SUMMARY: $CREW_TICKET_ID is written\"
echo DONE";

/// A repository in which commands are called with `--json`, and which were.
struct Seen {
    repo: Repo,
    commands: BTreeSet<String>,
}

impl Seen {
    /// What a command says; it is checked there.
    fn said(&mut self, args: &[&str]) -> Said {
        let args = [&["--json"], args].concat();
        self.commands.extend(schema::command(&args));
        self.repo.crew(&args)
    }

    fn json(&mut self, args: &[&str]) -> Value {
        self.said(args).json()
    }

    /// The first line of a command that follows.
    fn follows(&mut self, args: &[&str]) {
        let args = [args, &["--json"]].concat();
        let command = schema::command(&args).unwrap();
        let following = Following::start(&self.repo, &args);
        schema::check_output(&command, &following.line());
        self.commands.insert(command);
        assert_eq!(following.interrupted(), Some(130));
    }
}

#[test]
fn what_every_command_prints_fits_the_committed_schema() {
    let repo = Repo::new();
    repo.script(AGENT);
    let commands = BTreeSet::new();
    let mut seen = Seen { repo, commands };
    let init = seen.json(&["init", "--yes", "--agent", "./agent.sh"]);
    assert_eq!(init["guarded"], false);
    seen.repo.commit("crew");
    for look in [
        "ps", "queue", "inbox", "summary", "events", "cost", "doctor", "config", "diagram", "stop",
    ] {
        assert_eq!(seen.said(&[look]).code, 0, "{look}");
    }
    let tickets = [
        ("t-lands", ""),
        ("t-fails", ""),
        ("t-blocked", ""),
        ("t-asks", ""),
        ("t-guarded", ""),
        ("t-misses", "deps: [t-none]"),
        ("t-circle", "deps: [t-round]"),
        ("t-round", "deps: [t-circle]"),
        ("t-waits", "deps: [t-blocked]"),
        ("t-epic", "type: epic"),
    ];
    for (id, more) in tickets {
        seen.repo.ticket(id, &format!("About {id}"), "");
        let file = format!(".tickets/{id}.md");
        let text = match more.split_once(": ") {
            Some(("deps", _)) => seen.repo.read(&file).replace("deps: []", more),
            Some(("type", _)) => seen.repo.read(&file).replace("type: task", more),
            Some(_) | None => continue,
        };
        seen.repo.write(&file, &text);
    }
    seen.repo.write(".tickets/t-torn.md", "no front matter\n");
    let said = seen.json(&["spawn", "ada"]);
    assert_eq!(said["message"], "spawned ada");
    assert_eq!(seen.said(&["spawn", "ada"]).code, 1);
    assert_eq!(seen.json(&["peek", "ada"])["run"], Value::Null);
    let said = seen.json(&["assign", "ada", "t-lands"]);
    assert_ne!(said["events"], Value::from([""; 0]));

    let ran = seen.said(&["run", "--until-idle", "--agents", "8"]);
    assert_eq!(ran.code, 3, "{ran}");
    let items = seen.json(&["inbox"])["items"].as_array().unwrap().clone();
    let kinds: BTreeSet<&str> = items.iter().filter_map(|item| item["kind"].as_str()).collect();
    let wanted = ["question", "dependency", "file", "blocked", "paths"];
    assert!(wanted.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    let acts = || items.iter().flat_map(|item| item["acts"].as_array().unwrap());
    assert!(acts().all(|act| act["typed"].is_null() != act["by_hand"].is_null()));
    assert!(acts().any(|act| act["by_hand"].is_string()));

    for (id, _) in tickets {
        seen.said(&["explain", id]);
        seen.said(&["history", id]);
    }
    seen.said(&["history", "ada", "--at", "9"]);
    assert!(seen.json(&["path", "t-asks"])["path"].is_string());
    assert_eq!(seen.json(&["diff", "t-lands"])["of"], "landed");
    assert_eq!(seen.json(&["diff", "t-asks"])["of"], "workspace");
    let queue = seen.json(&["queue", "--landed"]);
    let refusals = queue["tickets"].as_array().unwrap().iter();
    let refusals: BTreeSet<&str> = refusals
        .filter_map(|ticket| ticket["refusal"]["why"].as_str())
        .collect();
    let wanted = [
        "cycle",
        "epic",
        "held",
        "in_progress",
        "missing_dependency",
        "waits_for",
    ];
    assert!(wanted.iter().all(|why| refusals.contains(why)), "{refusals:?}");
    let agent = |wanted: &str| {
        let landed = queue["landed"].as_array().unwrap().iter();
        let of = landed.filter(|landed| landed["ticket"] == wanted);
        of.map(|landed| landed["agent"].as_str().unwrap().to_owned())
            .next()
            .unwrap()
    };
    let (lands, fails) = (agent("t-lands"), agent("t-fails"));
    let printed = seen.said(&["logs", &fails]);
    assert!(printed.out.contains("\"stream\":\"err\""), "{printed}");
    assert_eq!(
        seen.json(&["peek", &lands])["lines"].as_array().map(Vec::len),
        Some(3)
    );
    for by in ["step", "attempt", "ticket", "agent", "day"] {
        seen.said(&["cost", "--by", by]);
    }
    for args in [
        &["ps"][..],
        &["cost", "t-fails", "--since", "24h"],
        &["summary", "--all"],
        &["events", "--all"],
        &["events", "--leader", "--all"],
        &["diagram", "attempt"],
        &["train"],
        &["checks"],
        &["checks", "--forget"],
        &["ticket", "ls"],
        &["ticket", "ready"],
        &["ticket", "blocked"],
        &["ticket", "closed"],
        &["ticket", "show", "t-waits"],
        &["doctor"],
    ] {
        seen.said(args);
    }
    for follows in [
        &["events", "-f"][..],
        &["events", "--leader", "-f"],
        &["inbox", "-f"],
        &["logs", "-f", &lands],
        &["web", "--port", "0"],
    ] {
        seen.follows(follows);
    }

    assert!(seen.json(&["web", "pair"])["pair"].is_string());
    assert_eq!(seen.json(&["web", "devices"])["devices"], Value::from([""; 0]));
    // A device is paired, and revoked, where the page is tested.
    assert_eq!(seen.said(&["web", "revoke", "phone"]).code, 1);

    let told = seen.repo.home().join(".config/crew/notify.toml");
    fs::create_dir_all(told.parent().unwrap()).unwrap();
    fs::write(&told, "[[to]]\nafter = \"0s\"\ncommand = [\"true\"]\n").unwrap();
    assert_eq!(seen.json(&["notify", "--test"])["failure"], Value::Null);
    let told_once = seen.said(&["notify", "--once"]);
    assert!(told_once.out.contains("\"program\":\"true\""), "{told_once}");
    fs::remove_file(&told).unwrap();

    let last = seen.json(&["history", "t-blocked"])["events"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()["seq"]
        .to_string();
    for asks in [
        &["answer", "t-asks", "red"][..],
        &["wake", "t-asks"],
        &["say", "t-asks", "words"],
        &["mode", "t-asks", "plan"],
        &["bait", "t-asks"],
        &["rewind", "t-blocked", "--at", &last],
        &["approve", "t-guarded"],
        &["merge", "t-guarded"],
        &["waive", "t-lands", "it may"],
        &["reject", "t-lands", "no"],
        &["commit-to", "t-blocked", "it is there", "--", "test", "-e", "it"],
        &["retry", "t-blocked"],
        &["kill", "ada"],
        &["drop", "t-waits", "not wanted"],
        &["cleanup", "ada"],
        &["reap", "ada"],
    ] {
        let said = seen.said(asks);
        assert!(said.json()["accepted"].is_boolean(), "{said}");
    }
    let agents = seen.json(&["ps"])["agents"].as_array().unwrap().clone();
    let idle = agents.iter().find(|agent| agent["ticket"].is_null()).unwrap();
    let idle = idle["name"].as_str().unwrap().to_owned();
    assert_eq!(seen.json(&["delegate", &idle, "Look around"])["accepted"], true);
    assert_eq!(seen.json(&["revert", "t-lands"])["accepted"], true);
    let prompts = seen.said(&["logs", "t-lands", "--prompt"]);
    assert!(prompts.out.contains("About t-lands"), "{prompts}");
    assert!(seen.json(&["run", "--detach"])["pid"].is_number());
    seen.json(&["stop", "--kill", "--wait"]);
    assert_eq!(seen.json(&["clean", "--older", "1d"])["steps"], 0);
    assert_eq!(seen.json(&["clean", "--checks"])["was_kept"], false);
    seen.json(&["clean", "--yes"]);

    // What the demonstration prints is seen where it is tested.
    let unseen: Vec<&str> = schema::commands()
        .into_iter()
        .filter(|command| !seen.commands.contains(*command) && *command != "demo")
        .collect();
    assert_eq!(unseen, [""; 0]);
}

#[test]
fn every_command_is_in_the_schema_or_prints_no_json() {
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/man");
    let pages = fs::read_dir(manual).unwrap();
    let pages: Vec<String> = pages
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    let commands: BTreeSet<&str> = pages
        .iter()
        .filter_map(|page| page.strip_prefix("crew-")?.strip_suffix(".1"))
        .collect();
    let documented = schema::commands();
    let documented: BTreeSet<&str> = documented
        .iter()
        .filter_map(|command| command.split(' ').next())
        .collect();
    let others: Vec<&&str> = commands.difference(&documented).collect();
    assert_eq!(others, [&"completions", &"dashboard", &"man", &"mcp", &"tool"]);
    assert!(documented.is_subset(&commands), "{documented:?}");
}

#[test]
fn the_program_prints_the_committed_schema() {
    let repo = Repo::none();
    for (what, file) in [("documents", "json"), ("settings", "crew")] {
        let said = repo.crew(&["config", "--schema", what]).ok();
        let path = format!("{}/../../docs/{file}.schema.json", env!("CARGO_MANIFEST_DIR"));
        assert!(
            said.out == fs::read_to_string(path).unwrap(),
            "docs/{file}.schema.json is another one"
        );
    }
}
