//! What a client printed, for people to read: documents in JSON are turned into what they tell.

use crate::claude;

/// Bytes of a line that are held back to see whether it is a document; of a longer one all is shown as it is.
const HELD: usize = 4 << 20;

/// Makes output readable as it comes. Lines of Claude Code's stream become what they say, whoever printed them; all
/// other bytes pass as they are. Nothing is sanitised: that is for whoever shows it.
#[derive(Debug, Default)]
pub struct Readable {
    /// A line that may be a document, unfinished.
    held: Vec<u8>,
    /// Within a line that is none.
    passing: bool,
}

impl Readable {
    /// The next bytes, and what there is to be shown of them.
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
                self.tell(&mut shown);
            } else if self.held.len() > HELD {
                shown.append(&mut self.held);
                self.passing = true;
            }
        }
        shown
    }

    /// The output is over: what there is to be shown of its last, unfinished line.
    pub fn end(&mut self) -> Vec<u8> {
        let mut shown = Vec::new();
        if !self.held.is_empty() {
            self.tell(&mut shown);
        }
        shown
    }

    fn tell(&mut self, shown: &mut Vec<u8>) {
        match claude::told(&self.held) {
            Some(told) => {
                for line in told {
                    shown.extend_from_slice(line.as_bytes());
                    shown.push(b'\n');
                }
            }
            None => shown.extend_from_slice(&self.held),
        }
        self.held.clear();
    }
}

/// All of an output at once.
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
    fn a_stream_is_read_as_what_it_tells_and_all_else_as_it_is() {
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
