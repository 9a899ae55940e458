//! What the web page is given: documents, what changes, and what its pages ask. The real server is asked over
//! a plain connection.

pub(crate) mod http;

use serde_json::{Value, json};

use self::http::{Event, Web};
use crate::commands::engine::Engine;
use crate::commands::repo::{Repo, until};

/// Commits a file and is done; asks first where the ticket says so.
const AGENT: &str = "\
if test \"$CREW_TICKET_ID\" = t-3; then echo 'QUESTION: which <b>store</b>?'; exit 0; fi
echo \"line one of $CREW_TICKET_ID\"
echo \"$CREW_TICKET_ID\" > \"$CREW_TICKET_ID.txt\"
git add --all
git commit --quiet -m \"work on $CREW_TICKET_ID\"
printf '{\"crew\":\"usage\",\"input_tokens\":1200,\"output_tokens\":300,\"cost_usd\":0.02}\\n'
echo 'SUMMARY: wrote a file'
echo DONE";

/// The documents of a kind, by their keys.
fn of_kind(view: &Value, kind: &str) -> Vec<(String, Value)> {
    let docs = view["docs"].as_array().unwrap().iter();
    let of_kind = docs.filter(|doc| doc["kind"] == kind);
    of_kind
        .map(|doc| (doc["key"].as_str().unwrap().to_owned(), doc["doc"].clone()))
        .collect()
}

/// The documents of a kind in the order in which they are shown.
fn in_order(view: &Value, kind: &str, of: &str) -> Vec<Value> {
    let docs = of_kind(view, kind);
    let order = of_kind(view, "order");
    let (_, keys) = order.iter().find(|(key, _)| key == of).unwrap();
    let doc = |key: &Value| docs.iter().find(|(one, _)| key == one).unwrap().1.clone();
    keys.as_array().unwrap().iter().map(doc).collect()
}

/// Whether each document has all that the list of a command has, in its order.
fn has_all(docs: &[Value], listed: &Value) -> bool {
    let listed = listed.as_array().unwrap();
    let has = |(doc, wanted): (&Value, &Value)| {
        let fields = wanted.as_object().unwrap().iter();
        fields
            .filter(|(name, _)| *name != "acts")
            .all(|(name, value)| doc[name] == *value)
    };
    docs.len() == listed.len() && docs.iter().zip(listed).all(has)
}

#[test]
fn the_documents_are_those_of_the_commands_at_the_same_row() {
    let repo = Repo::with_agent(AGENT);
    repo.ticket("t-1", "Write a file", "");
    repo.ticket("t-2", "Wait for the first", "");
    let file = repo.read(".tickets/t-2.md");
    repo.write(".tickets/t-2.md", &file.replace("deps: []", "deps: [t-1]"));
    repo.ticket("t-3", "Ask something", "");
    let web = Web::start(&repo);
    // Before an engine ever ran, the ticket folder is all there is.
    let tickets = until("the files are shown", || {
        let tickets = in_order(&web.of_repo("/view"), "ticket", "tickets");
        (tickets.len() == 3).then_some(tickets)
    });
    assert_eq!(
        (&tickets[0]["is_seen"], &tickets[0]["assignable"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(tickets[1]["deps"], json!(["t-1"]));
    let engine = Engine::start(&repo, &[]);
    until("two have landed and one asks", || {
        let view = web.of_repo("/view");
        let is_there = of_kind(&view, "landed").len() == 2 && of_kind(&view, "item").len() == 1;
        is_there.then_some(())
    });
    drop(engine);
    let view = until("the view is that of the commands", || {
        let view = web.of_repo("/view");
        let ps = repo.crew(&["ps", "--json"]).ok().json();
        let queue = repo.crew(&["queue", "--json"]).ok().json();
        let inbox = repo.crew(&["inbox", "--json"]).json();
        let train = repo.crew(&["train", "--json"]).ok().json();
        let state = &of_kind(&view, "state")[0].1;
        let mut landed = in_order(&view, "landed", "landed");
        landed.reverse();
        let is_same = state["seq"] == ps["seq"]
            && state["counts"] == queue["counts"]
            && state["usage"] == ps["usage"]
            && has_all(&in_order(&view, "agent", "agents"), &ps["agents"])
            && has_all(&in_order(&view, "ticket", "tickets"), &queue["tickets"])
            && has_all(&in_order(&view, "item", "inbox"), &inbox["items"])
            && has_all(&in_order(&view, "train", "train"), &train["entries"])
            && has_all(&landed, &queue["landed"]);
        is_same.then_some(view)
    });
    // The words of the agent stand apart, and as they are.
    let items = of_kind(&view, "item");
    assert_eq!(items[0].1["question"], "which <b>store</b>?");
    assert_eq!(items[0].1["acts"][0]["id"], "answer");
    let state = &of_kind(&view, "state")[0].1;
    assert_eq!(state["landed_today"], 2);
    assert_eq!(state["paid_today"], 40_000);
    assert_eq!(state["landings_by_hour"].as_array().unwrap().len(), 24);

    // The page of a ticket that is over, and what it says of one that never was.
    let page = web.of_repo("/tickets/t-1");
    assert_eq!(page["ticket"]["standing"]["word"], "landed");
    assert_eq!(page["dependants"][0]["id"], "t-2");
    assert_eq!(page["works"][0]["summary"], "wrote a file");
    let run = page["runs"][0]["run"].as_str().unwrap().to_owned();
    assert_eq!(web.status("/tickets/t-99"), 404);
    for bad in [
        "/tickets/..%2f..",
        "/tickets/-x",
        "/runs/..%2fx/output",
        "/events/x",
    ] {
        assert_eq!(web.status(bad), 400, "{bad}");
    }
    let change = web.of_repo("/tickets/t-1/diff");
    let diff = repo.crew(&["diff", "t-1", "--json"]).ok().json();
    assert!(
        has_all(std::slice::from_ref(&change), &json!([diff])),
        "{change} has all of {diff}"
    );
    let added = json!({ "mark": "added", "text": "+t-1", "blanks": "" });
    let lines = change["lines"].as_array().unwrap();
    assert!(lines.contains(&added), "{change}");
    assert_eq!(
        (&change["more_lines"], &change["sensitive"]),
        (&json!(0), &json!([]))
    );
    let history = web.of_repo("/tickets/t-1/history");
    assert_eq!(history, repo.crew(&["history", "t-1", "--json"]).ok().json());
    // A commit that is found leads to the ticket that brought it. One of a person leads nowhere, and is not
    // found.
    let commits = |q: &str| {
        let found = web.of_repo(&format!("/search?q={q}"));
        let hits = found["hits"].as_array().unwrap().iter();
        let commits = hits.filter(|hit| hit["kind"] == "commit");
        commits.map(|hit| hit["link"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(commits("work%20on%20t-1"), [json!("t/t-1")]);
    let by_hand = repo.git(&["log", "--max-parents=0", "--format=%h"]);
    assert_eq!(commits(by_hand.trim()), Vec::<Value>::new());
    let cost = web.of_repo("/cost?by=agent");
    assert_eq!(cost, repo.crew(&["cost", "--by", "agent", "--json"]).ok().json());
    let over = web.of_repo("/tickets?over=true&q=WAIT");
    assert_eq!(over["tickets"][0]["id"], "t-2");

    // The output of its step: whole, in windows, found, and followed to its end.
    let output = web.of_repo(&format!("/runs/{run}/output?from=start"));
    assert_eq!(output["lines"][0]["text"], "line one of t-1");
    assert_eq!(output["done"], true);
    assert_eq!(output["end"], output["length"]);
    let at = output["lines"][1]["at"].as_u64().unwrap();
    let rest = web.of_repo(&format!("/runs/{run}/output?from={at}&lines=1"));
    assert_eq!(rest["lines"][0], output["lines"][1]);
    // One window after the other is the whole, and so is what comes before an end.
    let (mut lines, mut from) = (Vec::new(), json!(0));
    while from != output["length"] {
        let window = web.of_repo(&format!("/runs/{run}/output?from={from}&lines=1"));
        lines.extend(window["lines"].as_array().unwrap().clone());
        from = window["end"].clone();
    }
    assert_eq!(json!(lines), output["lines"]);
    let end = web.of_repo(&format!("/runs/{run}/output?from=end&lines=2"));
    let last = output["lines"].as_array().unwrap().len() - 2;
    assert_eq!(
        json!(end["lines"]),
        json!(output["lines"].as_array().unwrap()[last..])
    );
    assert_eq!(end["start"], output["lines"][last]["at"]);
    let found = web.of_repo(&format!("/runs/{run}/find?q=LINE+ONE"));
    assert_eq!(
        found,
        json!({ "matches": [{ "at": 0, "line": "line one of t-1" }], "next": null })
    );
    let raw = web.unpacked(&format!("/runs/{run}/raw"));
    assert_eq!(raw.len() as u64, output["length"].as_u64().unwrap());
    assert!(raw.starts_with(b"line one of t-1\n"), "{raw:?}");
    let followed = web.follow(&run).up_to("done");
    assert_eq!(followed[0].data["lines"], output["lines"]);
    let events = web.of_repo("/events?limit=3");
    assert_eq!(events["events"].as_array().unwrap().len(), 3);
    assert_eq!(events["events"][0]["seq"], state["seq"]);
}

#[test]
fn the_page_of_a_ticket_says_why_it_stands_so_as_explain_does() {
    let repo = Repo::with_agent(
        "if test \"$CREW_TICKET_ID\" = t-2; then echo 'BLOCKED: there is no `key`'; exit 0; fi
         echo 1 > \"$CREW_TICKET_ID.txt\"; git add --all; git commit --quiet -m work; echo DONE",
    );
    for (id, deps) in [("t-1", "[]"), ("t-2", "[]"), ("t-3", "[t-2]")] {
        repo.ticket(id, "Write a file", "");
        let file = repo.read(&format!(".tickets/{id}.md"));
        let file = file.replace("deps: []", &format!("deps: {deps}"));
        repo.write(&format!(".tickets/{id}.md"), &file);
    }
    let web = Web::start(&repo);
    let same = |id: &str, is_so: &dyn Fn(&Value) -> bool| {
        until(&format!("{id} is explained as on the command line"), || {
            let page = web.of_repo(&format!("/tickets/{id}"))["explanation"].clone();
            let said = repo.crew(&["explain", id, "--json"]).ok().json();
            (page == said && is_so(&page)).then_some(page)
        })
    };
    until("the page has all three", || {
        (of_kind(&web.of_repo("/view"), "ticket").len() == 3).then_some(())
    });
    // Before an engine ever ran.
    same("t-3", &|why| why["refusal"]["why"] == "waits_for");
    let engine = Engine::start(&repo, &[]);
    until("one has landed and one is held", || {
        let view = web.of_repo("/view");
        let is_there = of_kind(&view, "landed").len() == 1 && of_kind(&view, "item").len() == 1;
        is_there.then_some(())
    });
    drop(engine);
    let waits = same("t-3", &|why| why["says"].as_str().unwrap().contains("t-2"));
    assert_eq!(waits["remedies"], json!([]), "{waits:#}");
    let held = same("t-2", &|why| why["refusal"]["why"] == "held");
    assert!(
        held["says"].as_str().unwrap().contains("there is no `key`"),
        "{held:#}"
    );
    assert_eq!(
        held["remedies"][0]["lines"],
        json!(["crew retry t-2", "crew drop t-2"])
    );
    let landed = same("t-1", &|why| {
        why["state"] == "done/landed" || !why["landed"].is_null()
    });
    assert_eq!(landed["landed"]["agent"], "ada", "{landed:#}");
}

/// The last id among events.
fn last_id(events: &[Event]) -> String {
    events.iter().rev().find_map(|event| event.id.clone()).unwrap()
}

/// The rows among events.
fn rows(events: &[Event]) -> Vec<u64> {
    let rows = events.iter().filter(|event| event.name == "row");
    rows.map(|row| row.data["event"]["seq"].as_u64().unwrap())
        .collect()
}

#[test]
fn a_stream_that_is_resumed_gives_exactly_the_rows_that_were_missed() {
    let repo = Repo::with_crew();
    repo.crew(&["spawn", "ada"]).ok();
    let head = || repo.crew(&["ps", "--json"]).ok().json()["seq"].as_u64().unwrap();
    let web = Web::start(&repo);
    let mut stream = web.stream(None);
    let first = stream.up_to("mark");
    assert_eq!(
        (first[0].name.as_str(), &first[0].data["resumed"]),
        ("hello", &json!(false))
    );
    assert_eq!(first[1].name, "reset");
    // Until the board has folded all that is there.
    let mut id = last_id(&first);
    while id.split('.').nth(1) != Some(head().to_string().as_str()) {
        id = last_id(&stream.up_to("mark"));
    }
    drop(stream);
    let had = head();
    repo.crew(&["spawn", "bob"]).ok();
    let mut missed = Vec::new();
    let mut stream = web.stream(Some(&id));
    let hello = stream.event();
    assert_eq!(hello.data["resumed"], true, "{hello:?}");
    while missed.last().copied().unwrap_or(had) < head() {
        let events = stream.up_to("mark");
        assert!(events.iter().all(|event| event.name != "reset"), "{events:?}");
        missed.extend(rows(&events));
    }
    assert_eq!(missed, (had + 1..=head()).collect::<Vec<_>>());
    drop((stream, web));

    // Another server knows the rows all the same, and has the page begin anew.
    let web = Web::start(&repo);
    until("the new server has folded them", || {
        (of_kind(&web.of_repo("/view"), "state")[0].1["seq"] == head()).then_some(())
    });
    let mut stream = web.stream(Some(&id));
    let events = stream.up_to("mark");
    assert_eq!(events[0].data["resumed"], false);
    assert_eq!(rows(&events), (had + 1..=head()).collect::<Vec<_>>());
    assert!(events.iter().any(|event| event.name == "reset"), "{events:?}");
}

#[test]
fn a_page_that_does_not_read_delays_nobody() {
    let repo = Repo::with_crew();
    let web = Web::start(&repo);
    let _stalled: Vec<_> = (0..3).map(|_| web.stalled()).collect();
    let mut stream = web.stream(None);
    stream.up_to("mark");
    // More than its queue and its connection hold.
    for round in 0..3 {
        for n in 0..400 {
            repo.ticket(&format!("t-{n}"), &format!("{round} {}", "x".repeat(4000)), "");
        }
        until("the other page has seen them", || {
            let events = stream.up_to("mark");
            let is_new = |event: &Event| {
                event.name == "reset"
                    || event.data["kind"] == "ticket"
                        && event.data["doc"]["title"]
                            .as_str()
                            .unwrap_or_default()
                            .starts_with(&format!("{round} "))
            };
            events.iter().any(is_new).then_some(())
        });
    }
    repo.crew(&["spawn", "ada"]).ok();
    until("the other page sees the agent", || {
        let events = stream.up_to("mark");
        events
            .iter()
            .any(|event| event.name == "reset" || event.data["kind"] == "agent" && event.data["key"] == "ada")
            .then_some(())
    });
}

#[test]
fn a_journal_that_is_gone_is_said_and_another_one_is_shown_from_its_beginning() {
    let repo = Repo::with_crew();
    repo.crew(&["spawn", "ada"]).ok();
    let web = Web::start(&repo);
    let shown = |name: &str| {
        let view = web.of_repo("/view");
        let is_shown = of_kind(&view, "agent").iter().any(|(key, _)| key == name);
        is_shown.then_some(view)
    };
    let first = until("the agent is shown", || shown("ada"));
    let mut stream = web.stream(first["cut"].as_str());
    assert_eq!(stream.event().data["resumed"], true);
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        // The last two are gone where nobody has the journal open.
        drop(std::fs::remove_file(repo.root.join(".crew").join(file)));
    }
    until("it is said", || {
        let view = web.of_repo("/view");
        let problems = of_kind(&view, "state")[0].1["problems"].to_string();
        problems.contains("was deleted").then_some(())
    });
    stream.up_to("reset");
    repo.crew(&["spawn", "bob"]).ok();
    let view = until("another journal is shown", || shown("bob"));
    assert!(of_kind(&view, "agent").iter().all(|(key, _)| key != "ada"));
    assert_eq!(of_kind(&view, "state")[0].1["problems"], json!([]));
    assert_eq!(web.of_repo("/events/1")["seq"], 1);
}
