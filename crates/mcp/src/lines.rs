//! The lines of the protocol, in which a client's slips are mended or answered.
//!
//! A request that is not answered holds its agent up for hours, as clients wait for tools that long. So a
//! line that cannot be read is answered with an error, under its id where it shows one. Some clients write
//! half of a character (a lone surrogate, where a text was cut), which is no JSON: it becomes the sign for an
//! unknown character.

use std::io;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
    BufReader, DuplexStream,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The most bytes of a line. A longer one is skipped, and answered.
const LONGEST: u64 = 16 << 20;
/// Bytes and answers that are under way between the two tasks.
const UNDER_WAY: (usize, usize) = (64 * 1024, 16);

type Answer = TxJsonRpcMessage<RoleServer>;

/// Both directions of a connection to a client.
pub(crate) struct Lines<W: AsyncWrite> {
    mended: AsyncRwTransport<RoleServer, DuplexStream, W>,
    refusals: mpsc::Receiver<Answer>,
    /// Refusals that are being written.
    writing: JoinSet<()>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Lines<W> {
    pub(crate) fn new(input: impl AsyncRead + Send + Unpin + 'static, output: W) -> Self {
        let (far, near) = tokio::io::duplex(UNDER_WAY.0);
        let (refuse, refusals) = mpsc::channel(UNDER_WAY.1);
        tokio::spawn(forward(BufReader::new(input), far, refuse));
        Self {
            mended: AsyncRwTransport::new_server(near, output),
            refusals,
            writing: JoinSet::new(),
        }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Lines<W> {
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
        self.mended.close().await
    }
}

/// Passes the client's lines on, until it closes them or nobody takes them.
async fn forward(
    mut input: impl AsyncBufRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    refuse: mpsc::Sender<Answer>,
) {
    let mut line = Vec::new();
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
            false => mended(&line),
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

/// A line that can be read, or the answer to one that cannot.
fn mended(line: &[u8]) -> Result<String, Box<Answer>> {
    let line = String::from_utf8_lossy(line);
    let line = line.trim_start_matches('\u{feff}').trim();
    if line.is_empty() {
        return Ok(String::new());
    }
    let (line, message) = match serde_json::from_str::<Value>(line) {
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
    Ok(line)
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
    use serde_json::json;

    use super::*;

    const CALL: &str = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"ask","arguments":{"id":1,"question":"X"}},"id":7}"#;

    #[test]
    fn half_characters_are_mended_and_so_are_bytes_that_are_no_text() {
        let line = mended(CALL.replace('X', r"cut \ud83d").as_bytes()).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["params"]["arguments"]["question"], "cut \u{fffd}");
        let bytes = [b"{\"a\":\"".as_slice(), &[0xff], b"\"}"].concat();
        assert_eq!(mended(&bytes).unwrap(), "{\"a\":\"\u{fffd}\"}");
    }

    #[tokio::test]
    async fn every_line_that_is_no_request_is_answered_under_its_id() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(server);
        let mut lines = Lines::new(input, output);
        let deep = format!("{{\"id\":\"deep\",\"params\":{}", "[".repeat(1_000));
        let text = CALL.replace(r#"{"id":1,"question":"X"}"#, r#""text""#);
        let ping = r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#;
        // The last line is not ended.
        let all = [&CALL.replace("\"X\"", ""), &deep, "garbage", "", &text, ping].join("\n");
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
            json!([[7, -32700], ["deep", -32700], [null, -32700], [7, -32602]])
        );
    }
}
