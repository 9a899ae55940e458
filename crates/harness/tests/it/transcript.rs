//! The transcript: what people see of an output, whichever client printed it.

use harness::entry::{Content, Entry, Excerpt};
use harness::{Transcript, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};

fn entries_in(pieces: &[&[u8]]) -> Vec<Entry> {
    let mut transcript = Transcript::of_agent();
    let mut entries = Vec::new();
    for piece in pieces {
        transcript.feed(piece, |entry| entries.push(entry));
    }
    transcript.end(|entry| entries.push(entry));
    entries
}

fn contents(output: &str) -> Vec<Content> {
    let entries = entries_in(&[output.as_bytes()]);
    entries.into_iter().map(|entry| entry.content).collect()
}

fn lines(values: &[Value]) -> String {
    let lines = values.iter().map(|value| {
        let mut value = value.clone();
        value["session_id"] = json!("s");
        format!("{value}\n")
    });
    lines.collect()
}

fn said(parent: Option<&str>, block: &Value) -> Value {
    json!({"type": "assistant", "message": {"id": "m", "model": "m", "content": [block]},
        "parent_tool_use_id": parent, "timestamp": "2026-11-27T15:15:35.000Z"})
}

fn text(parent: Option<&str>, text: &str) -> Value {
    said(parent, &json!({"type": "text", "text": text}))
}

fn tool(id: &str, name: &str, input: &Value) -> Value {
    said(
        None,
        &json!({"type": "tool_use", "id": id, "name": name, "input": input}),
    )
}

fn result(id: &str, content: &Value, is_error: bool) -> Value {
    json!({"type": "user", "timestamp": "2026-11-27T15:15:37.500Z", "message": {"content":
        [{"tool_use_id": id, "type": "tool_result", "content": content, "is_error": is_error}]}})
}

fn plain(line: &str) -> Content {
    Content::Text {
        text: Excerpt {
            head: format!("{line}\n"),
            lines: 1,
            ..Excerpt::default()
        },
    }
}

fn signal(text: &str) -> Content {
    let others = ["MODE:", "SUMMARY:", "commitment:"];
    Content::Signal {
        text: text.to_owned(),
        states_result: !others.iter().any(|other| text.starts_with(other)),
    }
}

#[test]
fn a_line_that_overwrote_itself_is_its_last_state_however_often_it_did() {
    let progress: String = (0..=10_000).map(|n| format!("\r{n} of 10000")).collect();
    assert_eq!(
        contents(&format!("first\n{progress}\n{progress}\r\r\nlast")),
        ["first", "10000 of 10000", "10000 of 10000", "last"].map(plain)
    );
}

#[test]
fn a_programs_lines_are_text_and_its_lines_for_crew_are_what_they_mean() {
    let output = "plain \u{1b}[31mred\n\n10 %\r20 %\n\
                  {\"crew\":\"usage\",\"input_tokens\":100,\"output_tokens\":20,\"cost_usd\":0.003}\n\
                  {\"crew\":\"commitment\",\"says\":\"it works\",\"run\":[\"make\",\"check\"]}\n\
                  {\"crew\":\"verdict\",\"run_id\":\"r\",\"verdict\":\"reject\",\"reason\":\"no test\"}\n\
                  {\"crew\":\"failure\",\"class\":\"auth\",\"message\":\"no key\"}\n\
                  {\"crew\":\"usage\",\"input_tokens\":-1}\n\
                  {\"my\":\"json\"}\n**DONE**\nQUESTION: which?\nnot DONE yet\nDONE";
    let usage = Usage {
        input_tokens: 100,
        output_tokens: 20,
        cost_micro_usd: 3_000,
    };
    let seen = contents(output);
    let unusable = |at: usize, part: &str| {
        let Content::Unusable { text } = &seen[at] else {
            panic!("{:?}", seen[at]);
        };
        assert!(text.contains(part), "{text}");
    };
    unusable(7, "no plausible number");
    unusable(9, "counts only as `DONE`");
    let expected = [
        plain("plain red"),
        plain(""),
        plain("20 %"),
        Content::Usage(usage),
        signal("commitment: it works (`make check`)"),
        signal("verdict: reject: no test"),
        signal("failure (auth): no key"),
        seen[7].clone(),
        plain("{\"my\":\"json\"}"),
        seen[9].clone(),
        signal("QUESTION: which?"),
        plain("not DONE yet"),
        signal("DONE"),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn what_a_check_prints_is_text_and_nothing_else() {
    let mut transcript = Transcript::of_program();
    let mut seen = Vec::new();
    let stream = lines(&[text(None, "hello")]);
    transcript.feed(format!("DONE\n{stream}").as_bytes(), |entry| {
        seen.push(entry.content);
    });
    assert_eq!(seen, [plain("DONE"), plain(stream.trim_end())]);
}

#[test]
fn a_conversation_has_texts_tools_and_results_with_their_times() {
    let output = lines(&[
        json!({"type": "system", "subtype": "init", "cwd": "/w"}),
        text(None, "I look.\nAnd act.\n\nSUMMARY: looked\nDONE\nreally"),
        tool(
            "t1",
            "Read",
            &json!({"limit": 5, "file_path": "/w/src/a.rs", "deep": {"x": 1}}),
        ),
        result("t1", &json!("1\tone\r\n2\t\u{1b}[31mtwo\n"), false),
        result(
            "t2",
            &json!([{"type": "text", "text": "a\nb"}, {"type": "image"}]),
            true,
        ),
        text(Some("t1"), "DONE"),
    ]);
    let entries = entries_in(&[output.as_bytes()]);
    let at = |nth: usize| (entries[nth].at_ms, entries[nth].parent.as_deref());
    let contents: Vec<&Content> = entries.iter().map(|entry| &entry.content).collect();
    assert_eq!(contents[0], &Content::Started { session: "s".into() });
    let Content::Text { text } = contents[1] else {
        panic!("{contents:?}");
    };
    assert_eq!((text.head.as_str(), text.lines), ("I look.\nAnd act.", 2));
    assert_eq!(contents[2..4], [&signal("SUMMARY: looked"), &signal("DONE")]);
    assert_eq!(at(1), (Some(1_795_792_535_000), None));
    let Content::ToolStart {
        tool,
        target,
        arguments,
        ..
    } = contents[5]
    else {
        panic!("{contents:?}");
    };
    assert_eq!((tool.as_str(), target.as_str()), ("Read", "src/a.rs"));
    let arguments: Vec<(&str, &str)> = arguments
        .iter()
        .map(|field| (field.name.as_str(), field.value.as_str()))
        .collect();
    assert!(
        arguments.contains(&("limit", "5")) && arguments.contains(&("deep", "…")),
        "{arguments:?}"
    );
    let Content::ToolEnd {
        tool,
        ok: true,
        result,
        took_ms,
        ..
    } = contents[6]
    else {
        panic!("{contents:?}");
    };
    assert_eq!((tool.as_deref(), *took_ms), (Some("Read"), Some(2_500)));
    assert_eq!((result.head.as_str(), result.lines), ("1    one\n2    two\n", 2));
    let Content::ToolEnd {
        tool: None,
        ok: false,
        result,
        took_ms: None,
        ..
    } = contents[7]
    else {
        panic!("{contents:?}");
    };
    assert_eq!(result.head, "a\nb\n(image)");
    // A subagent's words are for the agent that started it.
    assert!(
        matches!(contents[8], Content::Text { .. }) && at(8).1 == Some("t1"),
        "{contents:?}"
    );
}

#[test]
fn the_end_of_a_turn_says_what_it_used_and_how_it_failed() {
    let output = lines(&[
        json!({"type": "system", "subtype": "api_retry", "error_status": 529, "attempt": 1, "retry_delay_ms": 2500.5}),
        json!({"type": "system", "subtype": "permission_denied", "tool_name": "Bash", "message": "no"}),
        json!({"type": "result", "is_error": true, "result": "API Error", "usage": {"input_tokens": 7, "cache_read_input_tokens": 3}}),
        json!({"type": "result", "is_error": false, "result": "Said by a command.\nDONE"}),
    ]);
    let seen = contents(&output);
    assert!(
        matches!(&seen[0], Content::Retrying { why, delay_ms: Some(2_501) } if why == "the service is overloaded (529)"),
        "{seen:?}"
    );
    assert_eq!(
        seen[1],
        Content::Denied {
            what: "Bash: no".into()
        }
    );
    assert!(
        matches!(seen[2], Content::Usage(Usage { input_tokens: 10, .. })),
        "{seen:?}"
    );
    let failed = Content::Finished {
        ok: false,
        text: "API Error".into(),
    };
    assert_eq!(seen[3], failed);
    assert!(
        matches!(&seen[4], Content::Text { .. }) && seen[5] == signal("DONE"),
        "{seen:?}"
    );
}

#[test]
fn a_line_that_breaks_off_is_used_as_far_as_it_goes() {
    // The fields in the order of the client.
    let long = format!(
        "{{\"type\":\"user\",\"message\":{{\"content\":[{{\"tool_use_id\":\"t1\",\"type\":\"tool_result\",\"content\":\"{}\"}}]}}}}\n",
        "x".repeat(5 << 20)
    );
    let begun = lines(&[tool("t1", "Bash", &json!({"command": "ls"}))]);
    let seen = contents(&(begun + &long + &lines(&[text(None, "Next.")])));
    let Content::ToolEnd {
        tool,
        ok: true,
        result,
        ..
    } = &seen[1]
    else {
        panic!("another entry");
    };
    assert_eq!((tool.as_deref(), result.lines), (Some("Bash"), 0));
    assert!(result.left_out > 1 << 20, "{}", result.left_out);
    assert!(matches!(seen[2], Content::Text { .. }));

    // The client was killed while it wrote.
    let broken = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"I say."},{"type":"text","te"#;
    let seen = contents(broken);
    assert!(
        matches!(&seen[..], [Content::Text { text }] if text.head == "I say."),
        "{seen:?}"
    );
    assert_eq!(contents("{\"broken"), [plain("{\"broken")]);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_an_entry_of_a_few_kilobytes() {
    let mut transcript = Transcript::of_agent();
    let mut seen = Vec::new();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        transcript.feed(&piece, |entry| seen.push(entry.content));
    }
    transcript.feed(b"\nDONE\n", |entry| seen.push(entry.content));
    let [Content::Text { text }, done] = &seen[..] else {
        panic!("{} entries", seen.len());
    };
    assert_eq!(done, &signal("DONE"));
    let kept = (text.head.len() + text.tail.len()) as u64;
    assert!(kept <= 32 << 10, "{kept}");
    assert_eq!(kept + text.left_out, 100 << 20);
}

fn everything() -> String {
    lines(&[
        json!({"type": "system", "subtype": "init", "cwd": "/w"}),
        text(None, "I look.\nDONE\nü and more"),
        tool("t1", "Bash", &json!({"command": "ls"})),
        result("t1", &json!("a\nb"), false),
    ]) + "plain\r\n{\"crew\":\"usage\",\"input_tokens\":1}\n{\"unfinished"
}

proptest! {
    #[test]
    fn however_it_is_cut_the_entries_are_the_same(mut cuts in prop::collection::vec(0_usize..1_200, 0..12)) {
        let output = everything();
        cuts.retain(|cut| *cut < output.len());
        cuts.extend([0, output.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &output.as_bytes()[pair[0]..pair[1]]).collect();
        prop_assert_eq!(entries_in(&pieces), entries_in(&[output.as_bytes()]));
    }
}
