//! What a run printed, as lines.

use std::collections::VecDeque;

use model::RunId;
use serde_json::Value;

use crate::theme::Tone;

/// Lines that are kept.
const LINES: usize = 2_000;
/// Bytes of a line that are looked at.
const LONG: usize = 64 << 10;
/// Characters of a line that are kept.
const SHOWN: usize = 2_000;

/// A run's output.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// Whose.
    pub(crate) run: Option<RunId>,
    /// Its latest lines, sanitised.
    pub(crate) lines: VecDeque<(Tone, String)>,
    /// What was read of lines that are not whole yet: output, errors.
    rest: [Vec<u8>; 2],
    /// The unfinished line of the output, as it is so far.
    pub(crate) open: String,
}

impl Log {
    /// Of another run, of which nothing is known yet.
    pub(crate) fn begin(&mut self, run: Option<RunId>) {
        *self = Self {
            run,
            ..Self::default()
        };
    }

    /// Takes more of it in.
    pub(crate) fn feed(&mut self, error: bool, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let rest = &mut self.rest[usize::from(error)];
            let room = LONG.saturating_sub(rest.len());
            rest.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(rest);
                self.line(error, &String::from_utf8_lossy(&line));
            }
        }
        let open = String::from_utf8_lossy(&self.rest[0]);
        self.open = if open.starts_with('{') {
            String::new()
        } else {
            short(&harness::sanitise::output_line(&open))
        };
    }

    fn line(&mut self, error: bool, line: &str) {
        if error {
            let clean = harness::sanitise::output_line(line);
            if !clean.is_empty() {
                self.push(Tone::Waiting, &format!("stderr: {clean}"));
            }
            return;
        }
        match readable(line) {
            Some(said) => {
                for (tone, text) in said {
                    for line in harness::sanitise::text(&text).lines() {
                        if !line.trim().is_empty() {
                            self.push(tone, line);
                        }
                    }
                }
            }
            None => self.push(Tone::Plain, &harness::sanitise::output_line(line)),
        }
    }

    fn push(&mut self, tone: Tone, line: &str) {
        self.lines.push_back((tone, short(line)));
        if self.lines.len() > LINES {
            self.lines.pop_front();
        }
    }
}

fn short(line: &str) -> String {
    line.chars().take(SHOWN).collect()
}

/// What a client's message says to a person, where a line is one: clients that report in JSON name its `type`.
fn readable(line: &str) -> Option<Vec<(Tone, String)>> {
    if !line.starts_with('{') {
        return None;
    }
    let Ok(Value::Object(message)) = serde_json::from_str(line.trim_end()) else {
        return None;
    };
    if message.contains_key("crew") {
        return Some(Vec::new());
    }
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let said = match message.get("type")?.as_str()? {
        "assistant" | "user" => {
            let content = message.get("message").and_then(|message| message.get("content"));
            let blocks = content.and_then(Value::as_array).into_iter().flatten();
            blocks.filter_map(block).collect()
        }
        "result" => {
            let result = text(message.get("result"));
            let wrong = message.get("is_error").and_then(Value::as_bool) == Some(true);
            if wrong {
                vec![(Tone::Wrong, result)]
            } else {
                Vec::new()
            }
        }
        _ => Vec::new(),
    };
    Some(said)
}

/// What a block of a message says.
fn block(block: &Value) -> Option<(Tone, String)> {
    let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => Some((Tone::Plain, text("text").to_owned())),
        "tool_use" => {
            let input = block.get("input").and_then(Value::as_object);
            let about = input.and_then(|input| input.values().find_map(Value::as_str));
            let about = about.unwrap_or_default().lines().next().unwrap_or_default();
            Some((Tone::Moving, format!("→ {} {about}", text("name"))))
        }
        "tool_result" if block.get("is_error").and_then(Value::as_bool) == Some(true) => {
            Some((Tone::Waiting, "✗ the tool failed".to_owned()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut log = Log::default();
        for piece in pieces {
            log.feed(false, piece);
        }
        log.lines.into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn lines_come_whole_and_harmless_however_they_are_cut() {
        let bytes = "one\n10 %\r20 %\n\u{1b}[31mred\u{1b}[0m ü\nopen".as_bytes();
        let whole = lines(&[bytes]);
        assert_eq!(whole, ["one", "20 %", "red ü"]);
        let cut: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(lines(&cut), whole);
        let mut log = Log::default();
        log.feed(false, bytes);
        assert_eq!(log.open, "open");
    }

    #[test]
    fn a_clients_messages_become_sentences() {
        let text = concat!(
            r#"{"type":"system","subtype":"init","session_id":"x"}"#,
            "\n",
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look.\nThen I write."},{"type":"tool_use","name":"Bash","input":{"command":"ls -l\nrm x"}}]}}"#,
            "\n",
            r#"{"type":"result","is_error":true,"result":"no credit"}"#,
            "\n",
            r#"{"crew":"usage","input_tokens":1}"#,
            "\n{not json\n",
        );
        assert_eq!(
            lines(&[text.as_bytes()]),
            [
                "I look.",
                "Then I write.",
                "→ Bash ls -l",
                "no credit",
                "{not json"
            ]
        );
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut log = Log::default();
        for _ in 0..3 {
            log.feed(false, "line\n".repeat(LINES).as_bytes());
            log.feed(false, &vec![b'x'; 2 * LONG]);
            log.feed(false, b"\n");
        }
        assert_eq!(log.lines.len(), LINES);
        assert!(log.lines.iter().all(|(_, line)| line.chars().count() <= SHOWN));
    }
}
