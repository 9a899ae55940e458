//! The lines of the protocol, in which a client's slips are mended or answered.
//!
//! A request that is not answered holds its agent up for hours, as clients wait for tools that long. So a
//! line that cannot be read is answered with an error, under its id where it shows one. Some clients write
//! half of a character (a lone surrogate, where a text was cut), which is no JSON: it becomes the sign for an
//! unknown character. Some begin in another order than the protocol's, which would end the server: what
//! cannot matter before `initialize` is passed over.

use std::io;
use std::mem::discriminant;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
    BufReader, DuplexStream,
};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

/// The most bytes of a line. A longer one is skipped, and answered.
const LONGEST: u64 = 16 << 20;
/// The most bytes of an error that the server answers with.
const LONGEST_ERROR: usize = 64 << 10;
/// The version of the protocol that a client is taken to speak which names none.
const OLDEST: &str = "2024-11-05";
/// Bytes and answers that are under way between the two tasks.
const UNDER_WAY: (usize, usize) = (64 * 1024, 16);

type Answer = TxJsonRpcMessage<RoleServer>;

/// Both directions of a connection to a client.
pub(crate) struct Lines {
    mended: AsyncRwTransport<RoleServer, DuplexStream, DuplexStream>,
    refusals: mpsc::Receiver<Answer>,
    /// Refusals that are being written.
    writing: JoinSet<()>,
    /// The task that writes the answers for the client.
    answers: Option<JoinHandle<()>>,
}

impl Lines {
    pub(crate) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (far, near) = tokio::io::duplex(UNDER_WAY.0);
        let (refuse, refusals) = mpsc::channel(UNDER_WAY.1);
        tokio::spawn(forward(BufReader::new(input), far, refuse));
        let (answers, said) = tokio::io::duplex(UNDER_WAY.0);
        let answering = tokio::spawn(answer_each(BufReader::new(said), output));
        Self {
            mended: AsyncRwTransport::new_server(near, answers),
            refusals,
            writing: JoinSet::new(),
            answers: Some(answering),
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(&mut self, item: Answer) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.mended.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            tokio::select! {
                biased;
                Some(refusal) = self.refusals.recv() => {
                    // Whoever waits here may stop waiting at any time, and no line may be torn.
                    let write = self.mended.send(refusal);
                    self.writing.spawn(async { drop(write.await) });
                }
                message = self.mended.receive() => return message,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        while self.writing.join_next().await.is_some() {}
        self.mended.close().await?;
        if let Some(answers) = self.answers.take() {
            drop(answers.await);
        }
        Ok(())
    }
}

/// Writes the server's answers for the client, until there are no more. An error whose request has no id that
/// can be used has the id `null`, which strict clients want to see.
async fn answer_each(mut said: impl AsyncBufRead + Unpin, mut output: impl AsyncWrite + Unpin) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match said.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if let Some(whole) = with_id(&line) {
            line = whole;
        }
        let written = output.write_all(&line).await;
        if written.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

/// An error without an id as it should be; none for every other line.
fn with_id(line: &[u8]) -> Option<Vec<u8>> {
    // Only short lines are looked into: an error is one.
    if line.len() > LONGEST_ERROR {
        return None;
    }
    let mut message: Value = serde_json::from_slice(line).ok()?;
    let fields = message.as_object_mut()?;
    if !fields.contains_key("error") || fields.contains_key("id") {
        return None;
    }
    fields.insert("id".to_owned(), Value::Null);
    let mut whole = serde_json::to_vec(&message).ok()?;
    whole.push(b'\n');
    Some(whole)
}

/// Passes the client's lines on, until it closes them or nobody takes them.
async fn forward(
    mut input: impl AsyncBufRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    refuse: mpsc::Sender<Answer>,
) {
    let mut line = Vec::new();
    let mut has_begun = false;
    loop {
        line.clear();
        match (&mut input).take(LONGEST).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let is_cut = line.len() as u64 == LONGEST && !line.ends_with(b"\n");
        if is_cut && skip_line(&mut input).await.is_err() {
            return;
        }
        let read = match is_cut {
            true => Err(refusal(
                id_in(&String::from_utf8_lossy(&line)),
                ErrorData::invalid_request(format!("a line has at most {LONGEST} bytes"), None),
            )),
            false => mended(&line, &mut has_begun),
        };
        let is_taken = match read {
            Ok(line) => to.write_all(format!("{line}\n").as_bytes()).await.is_ok(),
            Err(refusal) => refuse.send(*refusal).await.is_ok(),
        };
        if !is_taken {
            return;
        }
    }
}

/// Reads to the end of a line, and keeps nothing of it.
async fn skip_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
    loop {
        let piece = input.fill_buf().await?;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let (length, is_over) = (piece.len(), piece.is_empty() || end.is_some());
        input.consume(end.map_or(length, |end| end + 1));
        if is_over {
            return Ok(());
        }
    }
}

/// A line that can be read, or the answer to one that cannot. `has_begun`: whether the client has said
/// `initialize`, or begun by what it says with each request.
fn mended(line: &[u8], has_begun: &mut bool) -> Result<String, Box<Answer>> {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_start_matches('\u{feff}').trim();
    if line.is_empty() {
        return Ok(String::new());
    }
    let (line, mut message) = match serde_json::from_str::<Value>(line) {
        Ok(message) => (line.to_owned(), message),
        Err(_) => {
            let better = text::mended_json(line);
            let message = serde_json::from_str(&better).map_err(|error| {
                let why = format!("the line is no JSON: {error}");
                refusal(id_in(line), ErrorData::parse_error(why, None))
            })?;
            (better, message)
        }
    };
    let arguments = message.pointer("/params/arguments");
    let is_wrong = arguments.is_some_and(|arguments| !arguments.is_object() && !arguments.is_null());
    if is_wrong && message.get("method").and_then(Value::as_str) == Some("tools/call") {
        let why = "`arguments` is an object, with a field for each argument of the tool";
        return Err(refusal(
            message.get("id").cloned(),
            ErrorData::invalid_params(why, None),
        ));
    }
    let is_call = message.get("method").and_then(Value::as_str) == Some("tools/call");
    let is_named = message.pointer("/params/name").is_some_and(Value::is_string);
    if is_call && !is_named && message.get("id").is_some() && fault(&message).is_none() {
        let why = "`name` is the name of a tool, as a text";
        let id = message.get("id").cloned();
        return Err(refusal(id, ErrorData::invalid_params(why, None)));
    }
    if let Some(why) = fault(&message) {
        let id = message.get("id").cloned();
        return Err(refusal(id, ErrorData::invalid_request(why, None)));
    }
    if message.get("method").and_then(Value::as_str) == Some("initialize") {
        *has_begun = true;
        return Ok(match introduce(&mut message) {
            true => message.to_string(),
            false => line,
        });
    }
    *has_begun |= message.pointer("/params/_meta").is_some();
    let is_request = message.get("method").is_some() && message.get("id").is_some();
    Ok(match is_request || *has_begun {
        true => line,
        // A notification, or an answer to a question that nobody has asked.
        false => String::new(),
    })
}

/// Why JSON is no message of the protocol.
fn fault(message: &Value) -> Option<&'static str> {
    let Some(fields) = message.as_object() else {
        return Some("a message is an object, one on a line: send those of a list one after the other");
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Some("`jsonrpc` is \"2.0\"");
    }
    let id = fields.get("id").filter(|_| fields.contains_key("method"))?;
    let is_usable = serde_json::from_value::<RequestId>(id.clone()).is_ok();
    (!is_usable).then_some("`id` is a text or a whole number")
}

/// Adds to an `initialize` what every client says of itself and this one does not; gives whether anything was
/// missing.
fn introduce(message: &mut Value) -> bool {
    let usual = [
        ("protocolVersion", json!(OLDEST)),
        ("capabilities", json!({})),
        ("clientInfo", json!({ "name": "unknown", "version": "0" })),
    ];
    let Some(fields) = message.as_object_mut() else {
        return false;
    };
    let params = fields.entry("params").or_insert_with(|| json!({}));
    if !params.is_object() {
        *params = json!({});
    }
    let mut is_changed = false;
    for (key, value) in usual {
        let is_same_kind = |said: &Value| discriminant(said) == discriminant(&value);
        let is_there = params.get(key).is_some_and(is_same_kind);
        if !is_there {
            params[key] = value;
            is_changed = true;
        }
    }
    is_changed
}

fn refusal(id: Option<Value>, error: ErrorData) -> Box<Answer> {
    let id = id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    Box::new(Answer::error(error, id))
}

/// The id of a message that is no JSON, as far as it shows one outside its other fields.
fn id_in(line: &str) -> Option<Value> {
    const KEY: &str = "\"id\"";
    let (mut depth, mut is_text, mut is_escaped) = (0_u32, false, false);
    for (at, one) in line.char_indices() {
        if is_text {
            is_text = is_escaped || one != '"';
            is_escaped = one == '\\' && !is_escaped;
            continue;
        }
        match one {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '"' => {
                let after = line
                    .get(at..)
                    .and_then(|rest| rest.strip_prefix(KEY))
                    .filter(|_| depth == 1);
                if let Some(value) = after.and_then(|after| after.trim_start().strip_prefix(':')) {
                    let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
                    return values.next()?.ok();
                }
                is_text = true;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"ask","arguments":{"id":1,"question":"X"}},"id":7}"#;

    #[test]
    fn half_characters_are_mended_and_so_are_bytes_that_are_no_text() {
        let line = mended(CALL.replace('X', r"cut \ud83d").as_bytes(), &mut true).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["params"]["arguments"]["question"], "cut \u{fffd}");
        let bytes = [br#"{"jsonrpc":"2.0","method":""#.as_slice(), &[0xff], b"\"}"].concat();
        let line = mended(&bytes, &mut true).unwrap();
        assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"method\":\"\u{fffd}\"}");
    }

    #[tokio::test]
    async fn every_line_that_is_no_request_is_answered_under_its_id() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(server);
        let mut lines = Lines::new(input, output);
        let deep = format!("{{\"id\":\"deep\",\"params\":{}", "[".repeat(1_000));
        let text = CALL.replace(r#"{"id":1,"question":"X"}"#, r#""text""#);
        let ping = r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#;
        let odd = |id: &str| ping.replace('8', id);
        let early = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let old = ping.replace(r#""jsonrpc":"2.0","#, "");
        let batch = format!("[{ping}]");
        let (null, half) = (odd("null"), odd("1.5"));
        let nameless = CALL.replace(r#""name":"ask","#, "");
        // The last line is not ended.
        let bad = CALL.replace("\"X\"", "");
        let all = [
            early, &bad, &deep, "garbage", "", &text, &nameless, &old, &batch, &null, &half, ping,
        ];
        let all = all.join("\n");
        client.write_all(all.as_bytes()).await.unwrap();
        client.shutdown().await.unwrap();
        let received = lines.receive().await.unwrap();
        assert_eq!(serde_json::to_value(received).unwrap()["id"], 8);
        assert!(lines.receive().await.is_none());
        lines.close().await.unwrap();
        drop(lines);
        let mut said = String::new();
        client.read_to_string(&mut said).await.unwrap();
        let answers: Vec<Value> = said
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let told: Vec<Value> = answers
            .iter()
            .map(|answer| json!([answer["id"], answer["error"]["code"]]))
            .collect();
        assert_eq!(
            json!(told),
            json!([
                [7, -32700],
                ["deep", -32700],
                [null, -32700],
                [7, -32602],
                [7, -32602],
                [8, -32600],
                [null, -32600],
                [null, -32600],
                [null, -32600]
            ])
        );
        assert!(answers.iter().all(|answer| answer.get("id").is_some()), "{said}");
    }

    #[test]
    fn a_client_that_begins_in_another_order_or_says_little_of_itself_is_served() {
        let mut has_begun = false;
        let early = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(mended(early, &mut has_begun).unwrap(), "");
        let bare = br#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
        let line = mended(bare, &mut has_begun).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["params"]["protocolVersion"], OLDEST);
        assert!(message["params"]["clientInfo"]["name"].is_string(), "{line}");
        assert_eq!(mended(early, &mut has_begun).unwrap().as_bytes(), early);
        // What it says itself stands.
        let whole = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
        assert_eq!(mended(whole.as_bytes(), &mut has_begun).unwrap(), whole);
    }
}
