//! A plain HTTP/1.1 client with one request a connection, which shows every byte.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use model_server::Server;
use serde_json::{Value, json};

/// An answer, complete or not.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// Whether the body is complete.
    pub(crate) whole: bool,
}

/// Sends a request, and returns the connection to read from.
pub(crate) fn send(server: &Server, method: &str, path: &str, body: &str) -> TcpStream {
    let address = server.url().trim_start_matches("http://").to_owned();
    let mut connection = TcpStream::connect(&address).unwrap();
    let length = body.len();
    write!(
        connection,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nx-claude-code-session-id: s-1\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    connection
}

/// Sends a request and reads its whole answer.
pub(crate) fn ask(server: &Server, method: &str, path: &str, body: &str) -> Answer {
    let mut text = Vec::new();
    // A cut connection may also be reset.
    let _ = send(server, method, path, body).read_to_end(&mut text);
    let text = String::from_utf8(text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let chunked = head.contains("transfer-encoding: chunked");
    Answer {
        status: status.unwrap_or_default(),
        head: head.to_owned(),
        body: if chunked { unchunked(body) } else { body.to_owned() },
        whole: !chunked || body.ends_with("0\r\n\r\n"),
    }
}

/// Requests a turn of the model.
pub(crate) fn turn(server: &Server, messages: &Value) -> Answer {
    ask(server, "POST", "/v1/messages?beta=true", &request(messages))
}

/// The body of such a request.
pub(crate) fn request(messages: &Value) -> String {
    let tools = json!([{ "name": "Bash", "input_schema": { "properties": { "command": {} } } }]);
    json!({ "model": "m", "stream": true, "messages": messages, "tools": tools }).to_string()
}

fn unchunked(body: &str) -> String {
    let mut text = String::new();
    let mut rest = body;
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        let Some(chunk) = after.get(..size) else { break };
        text.push_str(chunk);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    text
}

impl Answer {
    /// The data of the stream's events.
    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}
