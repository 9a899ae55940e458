//! Tests of the conversation, with files as a run leaves them.

use std::fs::OpenOptions;
use std::io::{Seek as _, SeekFrom, Write as _};

use process::{Ask, Asks, Reply, Run, Spec};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// A run that has printed this.
fn run(folder: &TempDir, printed: &str) -> Run {
    let spec = Spec::new("r-1", "/bin/true", folder.path());
    let run = Run::create(folder.path().join("run"), &spec, None).unwrap();
    std::fs::write(run.dir().join("out"), printed).unwrap();
    run
}

/// The lines as the terminal shows them: indented, and each end of a tool beside its start.
fn shown(lines: impl IntoIterator<Item = Line>) -> String {
    let mut text = String::new();
    for line in lines {
        if line.joins {
            text.pop();
            text.push_str(&format!(" … {}\n", line.text));
        } else {
            text.push_str(&format!("{}{}\n", " ".repeat(line.indent), line.text));
        }
    }
    text
}

fn read(run: &Run, detail: Detail) -> String {
    let mut reading = Reading::new(run, true, Uncounted::default(), detail);
    let mut lines = Vec::new();
    reading.more(&mut |line| lines.push(line)).unwrap();
    reading.end(&mut |line| lines.push(line));
    shown(lines)
}

fn near_end(run: &Run, most: usize) -> String {
    let (_, lines) = Reading::near_end(run, true, &Uncounted::default(), Detail::Folded, most).unwrap();
    shown(lines)
}

fn line(value: Value) -> String {
    let mut value = value;
    value["session_id"] = json!("s");
    format!("{value}\n")
}

fn said(parent: Option<&str>, block: &Value) -> String {
    line(
        json!({"type": "assistant", "message": {"content": [block]}, "parent_tool_use_id": parent,
        "timestamp": "2026-11-27T15:15:35.000Z"}),
    )
}

fn text(parent: Option<&str>, text: &str) -> String {
    said(parent, &json!({"type": "text", "text": text}))
}

fn tool(parent: Option<&str>, id: &str, name: &str, input: &Value) -> String {
    said(
        parent,
        &json!({"type": "tool_use", "id": id, "name": name, "input": input}),
    )
}

fn result(parent: Option<&str>, id: &str, content: &str, is_error: bool) -> String {
    line(
        json!({"type": "user", "parent_tool_use_id": parent, "timestamp": "2026-11-27T15:15:55.000Z",
        "message": {"content": [{"tool_use_id": id, "type": "tool_result", "content": content, "is_error": is_error}]}}),
    )
}

/// A step with two subagents that speak in turn.
fn step() -> String {
    let numbers: String = (1..=40).map(|n| format!("{n}\n")).collect();
    let task = |id: &str, what: &str| tool(None, id, "Task", &json!({"description": what, "prompt": "Go."}));
    [
        said(None, &json!({"type": "thinking", "thinking": "hm\nhard"})),
        text(None, "I look.\n\n    code"),
        tool(None, "b1", "Bash", &json!({"command": "seq 40"})),
        result(None, "b1", &numbers, false),
        tool(None, "b2", "Bash", &json!({"command": "false", "timeout": 5})),
        result(None, "b2", &format!("Exit code 1\n{numbers}\u{1b}[31merror\u{1b}[0m: no\n"), true),
        task("s1", "find callers"),
        task("s2", "read docs"),
        tool(Some("s1"), "c1", "Grep", &json!({"pattern": "foo"})),
        text(Some("s2"), "DONE"),
        result(Some("s1"), "c1", "a.rs", false),
        result(None, "s2", "read", false),
        result(None, "s1", "found", false),
        result(None, "lost", "x\ny", false),
        text(None, "QUESTION: which?"),
        line(json!({"type": "result", "is_error": false, "result": "", "usage": {"input_tokens": 12_000, "output_tokens": 40}})),
    ]
    .concat()
}

#[test]
fn results_are_folded_and_the_end_of_a_failed_one_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(&folder, &step());
    let expected = "\
~ hm …
I look.

    code
> Bash: seq 40 … ok after 20s, 40 lines
> Bash: false … failed after 20s, 42 lines
    36
    37
    38
    39
    40
    error: no
> Task: find callers
> Task: read docs
    (Task: find callers)
    > Grep: foo
    (Task: read docs)
    DONE
    (Task: find callers)
    < Grep: foo … ok after 20s: a.rs
< Task: read docs … ok after 20s: read
< Task: find callers … ok after 20s: found
< a tool … ok, 2 lines
» QUESTION: which?
= 12.0k tokens in, 40 out
";
    assert_eq!(read(&run, Detail::Folded), expected);
    let unfolded = read(&run, Detail::Unfolded);
    for part in [
        "~ hm\n  hard\n",
        "> Bash: false\n    timeout: 5 … failed",
        "    Exit code 1\n    1\n",
        "    error: no\n",
    ] {
        assert!(unfolded.contains(part), "{part}: {unfolded}");
    }
}

#[test]
fn a_line_that_fills_the_screen_is_folded_too() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(&folder, &format!("{}\nDONE\n", "x".repeat(5_000)));
    let folded = read(&run, Detail::Folded);
    assert!(
        folded.ends_with("x…\n» DONE\n") && folded.len() < 1_100,
        "{folded}"
    );
    assert_eq!(
        read(&run, Detail::Unfolded),
        format!("{}\n» DONE\n", "x".repeat(5_000))
    );
}

#[test]
fn the_time_stands_once_at_the_first_line_of_an_entry() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(
        &folder,
        &said(None, &json!({"type": "thinking", "thinking": "hm\nhard"})),
    );
    for detail in [Detail::Folded, Detail::Unfolded] {
        let mut times = Vec::new();
        let mut reading = Reading::new(&run, true, Uncounted::default(), detail);
        reading.more(&mut |line| times.push(line.at.is_some())).unwrap();
        assert_eq!(
            times.iter().filter(|has_time| **has_time).count(),
            1,
            "{detail:?}"
        );
        assert!(times[0]);
    }
}

#[test]
fn the_last_lines_are_found_before_any_amount_of_noise() {
    let folder = tempfile::tempdir().unwrap();
    let noise = line(
        json!({"type": "stream_event", "event": {"type": "content_block_delta", "text": "x".repeat(200)}}),
    );
    // Two mebibytes of a stream without a line for people.
    let printed = text(None, "first\nsecond") + &noise.repeat(10_000) + &text(None, "last");
    let run = run(&folder, &printed);
    assert_eq!(near_end(&run, 2), "second\nlast\n");
    assert_eq!(near_end(&run, 9), "first\nsecond\nlast\n");
    assert_eq!(near_end(&run, 0), "");
}

#[test]
fn the_end_of_a_gigabyte_is_read_without_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(&folder, "first\n");
    // A hole: one line of a gigabyte, of which nothing is on the disk.
    let mut out = OpenOptions::new()
        .write(true)
        .open(run.dir().join("out"))
        .unwrap();
    out.seek(SeekFrom::Start(1 << 30)).unwrap();
    out.write_all(b"\nthe last but one\nthe last\nhalf").unwrap();
    assert_eq!(near_end(&run, 2), "the last but one\nthe last\n");
    let far = near_end(&run, 20);
    assert!(
        far.ends_with("\nthe last\n") && far.contains("MiB left out"),
        "{far}"
    );
    let (reading, _) = Reading::near_end(&run, true, &Uncounted::default(), Detail::Folded, 1).unwrap();
    assert_eq!(reading.open().map(|line| line.text).as_deref(), Some("half"));
    assert_eq!(last_line(run.dir(), true), "half");
}

#[test]
fn a_reading_from_near_the_end_goes_on_with_what_is_printed_next() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(&folder, &step());
    let (mut reading, last) =
        Reading::near_end(&run, true, &Uncounted::default(), Detail::Folded, 1).unwrap();
    assert_eq!(shown(last), "= 12.0k tokens in, 40 out\n");
    let mut out = OpenOptions::new()
        .append(true)
        .open(run.dir().join("out"))
        .unwrap();
    out.write_all(text(None, "And on.").as_bytes()).unwrap();
    let mut next = Vec::new();
    assert!(reading.more(&mut |line| next.push(line)).unwrap());
    assert_eq!(shown(next), "And on.\n");
}

#[test]
fn reading_begins_at_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    std::fs::write(&path, "one\ntwo\nthree").unwrap();
    let starts: Vec<u64> = (0..10).map(|offset| line_start(&path, offset)).collect();
    assert_eq!(starts, [0, 4, 4, 4, 4, 8, 8, 8, 8, 13]);
    assert_eq!(line_start(&folder.path().join("none"), 7), 7);
}

/// A run whose program may call, and which has printed nothing yet.
fn calling(folder: &TempDir) -> Run {
    let mut spec = Spec::new("r-1", "/bin/true", folder.path());
    spec.token = Some("secret".to_owned());
    Run::create(folder.path().join("run"), &spec, None).unwrap()
}

fn print(run: &Run, text: &str) {
    let path = run.dir().join("out");
    let mut out = OpenOptions::new().create(true).append(true).open(path).unwrap();
    out.write_all(text.as_bytes()).unwrap();
}

/// The program calls and is answered, `at` milliseconds after the first of 1970.
fn call(run: &Run, at: u64, tool: &str, arguments: Value, reply: &Reply) {
    let ask = Ask {
        token: "secret".to_owned(),
        ticket: "t-1".to_owned(),
        tool: tool.to_owned(),
        arguments,
    };
    let asks = Asks::of(run.dir());
    let id = asks.send(&ask, at).unwrap();
    asks.answer(&id, reply).unwrap();
}

fn taken(says: &str) -> Reply {
    Reply {
        accepted: true,
        says: says.to_owned(),
    }
}

#[test]
fn calls_stand_where_they_were_answered_and_words_beside_a_result_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let run = calling(&folder);
    print(&run, "I look.\nMODE: plan\n");
    call(
        &run,
        1_000,
        "report_progress",
        json!({"text": "I read\non"}),
        &taken("noted"),
    );
    print(&run, "half");
    let work = json!({"summary": "it is done", "output": "42"});
    call(
        &run,
        2_000,
        "submit_work",
        work,
        &taken("submitted\nend your turn"),
    );
    print(&run, " a line\nBLOCKED: no\nSUMMARY: other\n");
    let refused = Reply::refused("your first result stands");
    call(
        &run,
        3_000,
        "ask",
        json!({"question": "which\u{1b}[31m?"}),
        &refused,
    );
    let expected = "\
I look.
» MODE: plan
> crew report_progress: I read on … taken
> crew submit_work: it is done … taken
half a line
✗ does not count: BLOCKED: no (the call submit_work stands)
✗ does not count: SUMMARY: other (the call submit_work stands)
> crew ask: which? … refused: your first result stands
";
    assert_eq!(read(&run, Detail::Folded), expected);
    assert_eq!(
        near_end(&run, 2),
        expected
            .lines()
            .skip(6)
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    );
    let unfolded = read(&run, Detail::Unfolded);
    assert!(
        unfolded.contains("    output: 42 … taken\n    submitted\n"),
        "{unfolded}"
    );
    assert!(!unfolded.contains("secret"), "{unfolded}");
    assert_eq!(
        last_line(run.dir(), true),
        "✗ does not count: SUMMARY: other (the call submit_work stands)"
    );
}

#[test]
fn a_call_that_comes_while_the_output_is_read_is_shown_then() {
    let folder = tempfile::tempdir().unwrap();
    let run = calling(&folder);
    let mut reading = Reading::new(&run, true, Uncounted::default(), Detail::Folded);
    assert!(!reading.has_times());
    let mut lines = Vec::new();
    assert!(!reading.more(&mut |line| lines.push(line)).unwrap());
    call(
        &run,
        5_000,
        "set_mode",
        json!({"mode": "plan"}),
        &taken("your mode is plan"),
    );
    assert!(reading.more(&mut |line| lines.push(line)).unwrap());
    assert_eq!(lines[0].at, Some(Time(5_000)));
    assert_eq!(shown(lines), "> crew set_mode: plan … taken\n");
    assert!(Reading::new(&run, true, Uncounted::default(), Detail::Folded).has_times());
}

#[test]
fn a_call_that_the_clients_stream_shows_is_not_shown_twice() {
    let folder = tempfile::tempdir().unwrap();
    let run = calling(&folder);
    let noted = |at, text: &str| call(&run, at, "team_comment", json!({ "text": text }), &taken("noted"));
    print(
        &run,
        &line(json!({"type": "system", "subtype": "init", "cwd": "/w"})),
    );
    print(
        &run,
        &tool(None, "m1", "mcp__crew__team_comment", &json!({"text": "one"})),
    );
    noted(1, "one");
    print(&run, &result(None, "m1", "noted", false));
    // A script of the agent's that calls is no call of its client.
    print(&run, &tool(None, "b1", "Bash", &json!({"command": "./script"})));
    noted(2, "two");
    print(&run, &result(None, "b1", "fine", false));
    // The client may print its call after it was answered.
    noted(3, "three");
    print(
        &run,
        &tool(None, "m2", "mcp__crew__team_comment", &json!({"text": "three"})),
    );
    print(&run, &result(None, "m2", "noted", false));
    let expected = "\
> crew team_comment … ok after 20s: noted
> Bash: ./script
> crew team_comment: two … taken
< Bash: ./script … ok after 20s: fine
> crew team_comment … ok after 20s: noted
";
    assert_eq!(read(&run, Detail::Folded), expected);
}

#[test]
fn a_word_that_was_refused_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(&folder, "MODE: plan\nMODE: break_up\nDONE\n");
    let refused = |word: &str, why: &str| view::Uncounted {
        word: word.to_owned(),
        why: why.to_owned(),
    };
    let uncounted = vec![refused("MODE: break_up", "no"), refused("DONE", "no parts")];
    let mut reading = Reading::new(&run, true, Uncounted::refused(uncounted), Detail::Folded);
    let mut lines = Vec::new();
    reading.more(&mut |line| lines.push(line)).unwrap();
    let expected = "» MODE: plan\n✗ does not count: MODE: break_up (no)\n✗ does not count: DONE (no parts)\n";
    assert_eq!(shown(lines), expected);
}
