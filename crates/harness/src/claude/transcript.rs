//! The client's output as entries for people.

use super::failure;
use super::line::{self, Line, Reply, Results, TurnResult};
use super::mcp;
use crate::entry::{Content, Entry, Excerpt, Field};
use crate::lines;
use crate::signal;
use crate::transcript::Memory;
use text::sanitise;

/// Reads a line of the client's stream; `false` when it is none.
pub(crate) fn entries(memory: &mut Memory, line: &lines::Line<'_>, each: &mut dyn FnMut(Entry)) -> bool {
    if line.bytes.first() != Some(&b'{') {
        return false;
    }
    let may_break_off = line.is_cut() || !line.is_closed;
    let mut mended = String::new();
    let parsed = line::parse(line.bytes, may_break_off, &mut mended);
    let Some(parsed) = parsed.filter(|parsed| parsed.is_of_stream) else {
        return false;
    };
    match parsed.line {
        Line::ReplyStarted(_) | Line::ReplyUsage(_) | Line::Other => {}
        Line::TurnStarted {
            session,
            cwd,
            lacks_crew,
        } => {
            (memory.cwd, memory.has_replied) = (cwd.into_owned(), false);
            let session = line::shown_id(&session);
            each(Content::Started { session }.into());
            if lacks_crew {
                let text = mcp::LACKING.to_owned();
                each(Content::Note { text }.into());
            }
        }
        Line::Reply(reply) => of_reply(memory, reply, each),
        Line::ToolResults(results) => of_results(memory, results, line.dropped, each),
        Line::Retry(retry) => {
            let (why, _) = failure::of_retry(&retry);
            let delay_ms = retry.delay_ms;
            each(Content::Retrying { why, delay_ms }.into());
        }
        Line::Denied { what } => each(Content::Denied { what }.into()),
        Line::Limited { .. } => each(
            Content::Note {
                text: "a limit of the plan is reached".to_owned(),
            }
            .into(),
        ),
        Line::TurnEnded(result) => of_result(memory, &result, each),
    }
    true
}

fn of_reply(memory: &mut Memory, reply: Reply<'_>, each: &mut dyn FnMut(Entry)) {
    // The text of a failure is repeated in the turn's result.
    if reply.error.is_some() {
        return;
    }
    let at_ms = millis_of(&reply.at);
    let parent = reply.parent.as_deref().map(line::shown_id);
    let mut push = |content| {
        each(Entry {
            at_ms,
            parent: parent.clone(),
            content,
        });
    };
    for thought in reply.thinking.iter().filter(|thought| !thought.trim().is_empty()) {
        let text = Excerpt::shown(thought);
        push(Content::Thinking { text });
    }
    for text in &reply.text {
        of_text(text, parent.is_none(), &mut push);
    }
    memory.has_replied |= parent.is_none();
    for tool in reply.tools {
        let (id, name) = (line::shown_id(&tool.id), tool.shown_name());
        memory.start(&id, &name, at_ms);
        push(Content::ToolStart {
            id,
            target: tool.shown_target(&memory.cwd),
            tool: name,
            of_crew: tool.of_crew(),
            arguments: tool.arguments.into_iter().map(Field::sanitised).collect(),
        });
    }
}

/// The text of a reply. `speaks`: whether its lines for crew count.
fn of_text(text: &str, speaks: bool, push: &mut impl FnMut(Content)) {
    let mut plain = 0..0;
    let push_plain = |plain: &std::ops::Range<usize>, push: &mut dyn FnMut(Content)| {
        let text = text[plain.clone()].trim_matches('\n');
        if !text.trim().is_empty() {
            let text = Excerpt::shown(text);
            push(Content::Text { text });
        }
    };
    for line in text.split_inclusive('\n') {
        let begins = plain.end;
        plain.end += line.len();
        let line = line.trim_end_matches(['\n', '\r']);
        if speaks && let Some(content) = signal::of_line(line) {
            push_plain(&(plain.start..begins), push);
            plain.start = plain.end;
            push(content);
        }
    }
    push_plain(&plain, push);
}

fn of_results(memory: &mut Memory, results: Results<'_>, dropped: u64, each: &mut dyn FnMut(Entry)) {
    let at_ms = millis_of(&results.at);
    let parent = results.parent.as_deref().map(line::shown_id);
    for result in results.results {
        let id = line::shown_id(&result.id);
        let (tool, started) = memory.end(&id).unzip();
        let took = at_ms.zip(started.flatten()).map(|(end, start)| end - start);
        let mut text = result.text.sanitised();
        text.left_out += dropped;
        each(Entry {
            at_ms,
            parent: parent.clone(),
            content: Content::ToolEnd {
                id,
                tool,
                ok: result.ok,
                result: text,
                took_ms: took.and_then(|took| u64::try_from(took).ok()),
            },
        });
    }
}

fn of_result(memory: &mut Memory, result: &TurnResult, each: &mut dyn FnMut(Entry)) {
    let mut usage = result.tokens.usage();
    usage.cost_micro_usd = result.micro_usd.unwrap_or(0);
    if !memory.has_replied && !result.is_error {
        of_text(&result.text, true, &mut |content| each(content.into()));
    }
    if !usage.is_zero() {
        each(Content::Usage(usage).into());
    }
    let text = match result.is_error {
        true => sanitise::excerpt(&result.text),
        false => String::new(),
    };
    let ok = !result.is_error;
    each(Content::Finished { ok, text }.into());
}

/// A time as `2026-11-27T15:15:35.690Z`, in milliseconds since 1970.
fn millis_of(at: &str) -> Option<i64> {
    let number = |from: usize, to: usize| at.get(from..to)?.parse::<i64>().ok().filter(|n| *n >= 0);
    let is_shaped = at.len() >= 20 && at.ends_with('Z') && at.as_bytes().get(10) == Some(&b'T');
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    if !is_shaped || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // The days since 1970, where a year begins in March and an era has 400 years.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let days = era * 146_097 + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 719_469;
    let seconds = ((days * 24 + number(11, 13)?) * 60 + number(14, 16)?) * 60 + number(17, 19)?;
    Some(seconds * 1_000 + number(20, 23).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::millis_of;

    #[test]
    fn a_time_is_read_to_the_millisecond() {
        assert_eq!(millis_of("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(millis_of("2026-11-27T15:15:35.690Z"), Some(1_795_792_535_690));
        assert_eq!(millis_of("2024-02-29T23:59:59Z"), Some(1_709_251_199_000));
        for other in [
            "",
            "yesterday",
            "2026-13-27T15:15:35.690Z",
            "2026-11-27 15:15:35.690Z",
            "ü026-11-27T15:15:35Z",
        ] {
            assert_eq!(millis_of(other), None, "{other}");
        }
    }
}
