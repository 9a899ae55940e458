//! The client's output as text for people.

use super::failure;
use super::line::{self, Line, Reply};
use crate::event::Event;
use text::sanitise;

/// Turns one line of the client's output into the lines that people read, not sanitised; `None` when it is
/// not a line of this client's stream.
pub(crate) fn describe(bytes: &[u8]) -> Option<Vec<String>> {
    line::is_of_stream(bytes).then(|| line::parse(bytes).map_or_else(Vec::new, lines))
}

fn lines(line: Line) -> Vec<String> {
    match line {
        Line::TurnStarted { .. } | Line::ReplyStarted(_) | Line::ReplyUsage(_) | Line::Other => Vec::new(),
        Line::Reply(reply) => of_reply(&reply),
        Line::ToolResults(results) => {
            let failed = results.iter().filter(|(_, ok)| !ok);
            failed.map(|_| "< failed".to_owned()).collect()
        }
        Line::Retry(retry) => {
            let (why, _) = failure::of_retry(&retry);
            let again = retry.delay_ms.map_or_else(String::new, |millis| {
                format!("; again in {}.{} s", millis / 1_000, millis % 1_000 / 100)
            });
            vec![format!("… {why}{again}")]
        }
        Line::Denied { what } => vec![format!("! not permitted: {what}")],
        Line::Limited { .. } => vec!["! a limit of the plan is reached".to_owned()],
        Line::TurnEnded(result) if result.is_error => {
            vec![format!("! {}", sanitise::line(&result.text))]
        }
        Line::TurnEnded(_) => Vec::new(),
    }
}

fn of_reply(reply: &Reply) -> Vec<String> {
    // The text of a failure is repeated in the turn's result.
    if reply.error.is_some() {
        return Vec::new();
    }
    let mut all: Vec<String> = reply
        .text
        .iter()
        .flat_map(|text| text.lines().map(str::to_owned))
        .collect();
    for tool in &reply.tools {
        if let Event::ToolStart { name, .. } = tool.event("") {
            all.push(format!("> {name}"));
        }
    }
    if reply.parent.is_some() {
        // The lines of a subagent are indented.
        for line in &mut all {
            line.insert_str(0, "    ");
        }
    }
    all
}
