//! Target `stream`: neither the outcome of an agent's output nor its transcript depends on how it is cut into
//! pieces, text for people is harmless and bounded, and only a line `DONE` makes a step done.

use harness::entry::{Content, Entry, Excerpt};
use harness::{Event, KINDS, Kind, Outcome, Session, Signal, Transcript};
use process::{Captured, Exit, Reason, Stream};

use crate::shown;

/// The first byte selects the kind of client and the size of the pieces; the rest is the output.
pub(crate) fn check(bytes: &[u8]) {
    let Some((first, output)) = bytes.split_first() else {
        return;
    };
    // An odd number selects `claude`, which the inputs in the corpus depend on.
    let name = if first % 2 == 1 { "claude" } else { "command" };
    let Some(kind) = harness::kind(name) else {
        panic!("no kind {name} among {KINDS:?}");
    };
    let exit = Exit {
        reason: Reason::Exited,
        code: Some(i32::from(first % 8 == 7)),
        signal: None,
        started_at: 1_000,
        ended_at: 50_000,
        out: Captured::default(),
        err: Captured::default(),
        survivors: 0,
    };
    let whole = read(kind, output, output.len().max(1), &exit);
    let pieces = read(kind, output, usize::from(first / 8) + 1, &exit);
    assert_eq!(whole, pieces, "other pieces, another outcome");
    if name == "command" && whole.result == Ok(Signal::Done) {
        // With or without a byte order mark, in UTF-16, and inside of what a terminal does not show.
        let is_done = |line: &[u8]| {
            let bytes: Vec<u8> = line.iter().copied().filter(|byte| *byte != 0).collect();
            let shown = text::sanitise::text(&String::from_utf8_lossy(&bytes));
            let letters: String = shown.chars().filter(char::is_ascii).collect();
            letters.trim() == "DONE"
        };
        assert!(
            output.split(|byte| matches!(byte, b'\n' | b'\r')).any(is_done),
            "no line DONE"
        );
    }
    let entries = transcript(output, output.len().max(1));
    for entry in &entries {
        check_entry(entry);
    }
    assert_eq!(
        entries,
        transcript(output, usize::from(first / 8) + 1),
        "other pieces, another transcript"
    );
}

fn read(kind: &Kind, output: &[u8], size: usize, exit: &Exit) -> Outcome {
    let mut reader = kind.reader(&Session::default(), None);
    for piece in output.chunks(size) {
        check_events(&reader.feed(Stream::Out, piece));
    }
    let (events, outcome) = reader.end(exit);
    check_events(&events);
    match &outcome.result {
        Ok(Signal::Blocked { why } | Signal::Wakeup { why, .. }) => shown::harmless(why),
        Ok(Signal::Asked { question }) => shown::harmless(question),
        Ok(Signal::None | Signal::Done) => {}
        Err(failure) => shown::harmless(&failure.message),
    }
    if let Some(summary) = &outcome.summary {
        shown::harmless(summary);
    }
    outcome
}

/// Panics unless the events of one piece are few, and their texts are fit to be shown.
fn check_events(events: &[Event]) {
    assert!(events.len() <= 1_000, "{} events of one piece", events.len());
    for event in events {
        match event {
            Event::Started { session } => shown::one_line(session),
            Event::Text { line } => shown::one_line(line),
            Event::ToolStart { id, name } => {
                shown::one_line(id);
                shown::one_line(name);
            }
            Event::ToolEnd { id, .. } => shown::one_line(id),
            Event::Retrying { why, .. } | Event::Wakeup { why, .. } => shown::harmless(why),
            Event::Denied { what } => shown::harmless(what),
            Event::Question { text } | Event::Summary { text } | Event::Note { text } => {
                shown::harmless(text);
            }
            Event::GivenUp { failure } => shown::harmless(&failure.message),
            Event::Usage(_) | Event::Mode { .. } => {}
        }
    }
}

fn transcript(output: &[u8], size: usize) -> Vec<Entry> {
    let mut transcript = Transcript::of_agent();
    let mut entries = Vec::new();
    for piece in output.chunks(size) {
        transcript.feed(piece, |entry| entries.push(entry));
        shown::one_line(&transcript.open());
    }
    transcript.end(|entry| entries.push(entry));
    entries
}

/// Panics unless the texts of an entry are fit to be shown, and not too long.
fn check_entry(entry: &Entry) {
    if let Some(parent) = &entry.parent {
        shown::one_line(parent);
    }
    match &entry.content {
        Content::Started { session } => shown::one_line(session),
        Content::Text { text } | Content::Thinking { text } => check_excerpt(text),
        Content::Signal { text, .. }
        | Content::Unusable { text }
        | Content::Note { text }
        | Content::Finished { text, .. } => shown::harmless(text),
        Content::ToolStart {
            id,
            tool,
            of_crew,
            target,
            arguments,
        } => {
            for line in [id, tool, target].into_iter().chain(of_crew) {
                shown::one_line(line);
            }
            for field in arguments {
                shown::one_line(&field.name);
                shown::harmless(&field.value);
                assert!(field.value.len() <= LONGEST, "a value is bounded");
            }
        }
        Content::ToolEnd { id, tool, result, .. } => {
            shown::one_line(id);
            shown::one_line(tool.as_deref().unwrap_or_default());
            check_excerpt(result);
        }
        Content::Retrying { why, .. } => shown::harmless(why),
        Content::Denied { what } => shown::harmless(what),
        Content::Usage(_) => {}
    }
}

/// The most bytes of a text: 32 KiB, of which each may become four when it is made harmless.
const LONGEST: usize = 4 * (32 << 10);

fn check_excerpt(text: &Excerpt) {
    for part in [&text.head, &text.tail] {
        shown::harmless(part);
        assert!(part.len() <= LONGEST, "a text is bounded");
    }
}
