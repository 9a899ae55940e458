//! A line of the stream, for people.

use super::ended;
use super::line::{Line, Reply};
use crate::event::Event;
use crate::sanitise;

/// What there is to be read in it.
pub(super) fn lines(line: Line) -> Vec<String> {
    match line {
        Line::Init { .. } | Line::Begun(_) | Line::Grown(_) | Line::Other => Vec::new(),
        Line::Reply(reply) => of_reply(&reply),
        Line::Tools(ended) => {
            let failed = ended.iter().filter(|(_, ok)| !ok);
            failed.map(|_| "< failed".to_owned()).collect()
        }
        Line::Retry(retry) => {
            let (why, _) = ended::retried(&retry);
            let again = retry.delay_ms.map_or_else(String::new, |millis| {
                format!("; again in {}.{} s", millis / 1_000, millis % 1_000 / 100)
            });
            vec![format!("… {why}{again}")]
        }
        Line::Denied { what } => vec![format!("! not permitted: {what}")],
        Line::Limited { .. } => vec!["! a limit of the plan is reached".to_owned()],
        Line::Result(ended) if ended.is_error => vec![format!("! {}", sanitise::line(&ended.text))],
        Line::Result(_) => Vec::new(),
    }
}

fn of_reply(reply: &Reply) -> Vec<String> {
    // The same words are in the result.
    if reply.error.is_some() {
        return Vec::new();
    }
    let mut all: Vec<String> = reply
        .text
        .iter()
        .flat_map(|text| text.lines().map(str::to_owned))
        .collect();
    for tool in &reply.tools {
        if let Event::ToolStart { name, .. } = tool.start("") {
            all.push(format!("> {name}"));
        }
    }
    if reply.parent.is_some() {
        // Of an agent below.
        for line in &mut all {
            line.insert_str(0, "    ");
        }
    }
    all
}
