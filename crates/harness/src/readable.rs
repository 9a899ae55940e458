//! Readable output: the JSON documents of a client, turned into text for people.

use crate::kinds::KINDS;

/// The most bytes of a line that are held back until its end shows whether it is a document. A longer line
/// is passed on unchanged.
const MAX_HELD: usize = 4 << 20;

/// Makes output readable as it comes. A line in the output format of one of the [`KINDS`] becomes text,
/// whichever program printed it; all other bytes pass unchanged. Nothing is sanitised, so the caller must
/// do that before it shows the text.
#[derive(Debug, Default)]
pub struct Readable {
    /// An unfinished line that may be a document.
    held: Vec<u8>,
    /// Whether the current line is known not to be a document.
    passing: bool,
}

impl Readable {
    /// Takes the next bytes, and returns the text to show.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ends = piece.last() == Some(&b'\n');
            if self.passing || (self.held.is_empty() && piece.first() != Some(&b'{')) {
                shown.extend_from_slice(piece);
                self.passing = !ends;
                continue;
            }
            self.held.extend_from_slice(piece);
            if ends {
                self.release(&mut shown);
            } else if self.held.len() > MAX_HELD {
                shown.append(&mut self.held);
                self.passing = true;
            }
        }
        shown
    }

    /// Ends the output, and returns the text of its last, unfinished line.
    pub fn end(&mut self) -> Vec<u8> {
        let mut shown = Vec::new();
        if !self.held.is_empty() {
            self.release(&mut shown);
        }
        shown
    }

    fn release(&mut self, shown: &mut Vec<u8>) {
        match KINDS.iter().find_map(|kind| (kind.describe_line)(&self.held)) {
            Some(lines) => {
                for line in lines {
                    shown.extend_from_slice(line.as_bytes());
                    shown.push(b'\n');
                }
            }
            None => shown.extend_from_slice(&self.held),
        }
        self.held.clear();
    }
}

/// Makes a whole output readable, as [`Readable`] does.
pub fn readable(output: &[u8]) -> Vec<u8> {
    let mut readable = Readable::default();
    let mut shown = readable.feed(output);
    shown.extend(readable.end());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: &str = concat!(
        "plain\n",
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w"}"#,
        "\n",
        r#"{"session_id":"s","type":"assistant","message":{"content":[{"type":"text","text":"I look.\nAnd act."}]}}"#,
        "\n",
        r#"{"session_id":"s","type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}"#,
        "\n",
        r#"{"session_id":"s","type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true}]}}"#,
        "\n",
        r#"{"session_id":"s","type":"stream_event","event":{"type":"message_stop"}}"#,
        "\n",
        r#"{"session_id":"s","type":"system","subtype":"api_retry","error_status":529,"attempt":1,"retry_delay_ms":2500}"#,
        "\n",
        r#"{"session_id":"s","type":"result","is_error":true,"result":"API Error"}"#,
        "\n",
        r#"{"crew":"usage","input_tokens":1}"#,
        "\n{ not json\n",
        "50 %\r60 %"
    );
    const SHOWN: &str = "plain\nI look.\nAnd act.\n> Bash: ls\n< failed\n… the service is overloaded (529); again in 2.5 s\n! API Error\n\
                         {\"crew\":\"usage\",\"input_tokens\":1}\n{ not json\n50 %\r60 %";

    #[test]
    fn a_stream_of_json_becomes_text_and_all_else_stays_as_it_is() {
        assert_eq!(String::from_utf8(readable(OUT.as_bytes())).unwrap(), SHOWN);
        let mut pieces = Readable::default();
        let mut shown: Vec<u8> = OUT
            .as_bytes()
            .chunks(1)
            .flat_map(|byte| pieces.feed(byte))
            .collect();
        shown.extend(pieces.end());
        assert_eq!(String::from_utf8(shown).unwrap(), SHOWN);
        let long = [b"{".as_slice(), &vec![b'x'; 5 << 20], b"\nend\n"].concat();
        assert_eq!(readable(&long), long);
    }
}
