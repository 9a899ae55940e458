//! What an agent prints comes to the same however it is cut into pieces; what people are shown of it acts on no terminal; and
//! no more than a line that says so makes it done.

use std::path::Path;

use harness::claude::Options;
use harness::environment::Environment;
use harness::{Claude, Command, Event, Harness, Outcome, Readable, Session, Signal};
use process::{Captured, Exit, Reason, Stream};

use crate::shown;

/// The first byte says whose output the rest is, and how it is cut.
pub(crate) fn check(bytes: &[u8]) {
    let Some((first, output)) = bytes.split_first() else {
        return;
    };
    let is_claude = first % 2 == 1;
    let harness: Box<dyn Harness> = if is_claude {
        Box::new(Claude::new(
            "a",
            Options::default(),
            Path::new("/p"),
            Environment::new(),
        ))
    } else {
        Box::new(Command::new(
            "a",
            &["x".to_owned()],
            &[],
            Path::new("/p"),
            Environment::new(),
        ))
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
    let whole = read(&*harness, output, output.len().max(1), &exit);
    let pieces = read(&*harness, output, usize::from(first / 8) + 1, &exit);
    assert_eq!(whole, pieces, "cut otherwise, it comes to something else");
    if !is_claude && whole.result == Ok(Signal::Done) {
        let says_so = |line: &[u8]| line.trim_ascii_end() == b"DONE";
        assert!(
            output.split(|byte| *byte == b'\n').any(says_so),
            "nobody said DONE"
        );
    }
    readable(output, usize::from(first / 8) + 1);
}

fn read(harness: &dyn Harness, output: &[u8], size: usize, exit: &Exit) -> Outcome {
    let mut reader = harness.reader(&Session::default());
    for piece in output.chunks(size) {
        told(&reader.feed(Stream::Out, piece));
    }
    let (events, outcome) = reader.end(exit);
    told(&events);
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

/// What is told of a piece is bounded, and fit to be shown.
fn told(events: &[Event]) {
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

fn readable(output: &[u8], size: usize) {
    let mut readable = Readable::default();
    let mut shown: Vec<u8> = output
        .chunks(size)
        .flat_map(|piece| readable.feed(piece))
        .collect();
    shown.extend(readable.end());
    assert_eq!(
        shown,
        harness::readable(output),
        "cut otherwise, it reads otherwise"
    );
}
