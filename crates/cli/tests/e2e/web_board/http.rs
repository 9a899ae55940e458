//! A small HTTP client over a plain connection, and a served page.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::commands::following::Following;
use crate::commands::repo::{Repo, env};

/// A page that is served, with a device that is paired. `crew web` is ended when this is dropped.
pub(crate) struct Web {
    _served: Option<Following>,
    port: u16,
    token: String,
    repo: String,
}

/// An event of a stream.
#[derive(Debug, PartialEq)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) id: Option<String>,
    pub(super) data: Value,
}

/// A stream that is read.
pub(super) struct Stream(BufReader<Chunks>);

/// The body of an answer in chunks, without their sizes.
struct Chunks {
    from: BufReader<TcpStream>,
    /// Bytes left of the present chunk.
    left: usize,
}

impl Web {
    pub(super) fn start(repo: &Repo) -> Self {
        let served = Following::start(repo, &["web", "--port", "0", "--json"]);
        let told: Value = serde_json::from_str(&served.line()).unwrap();
        let name = repo.root.file_name().unwrap().to_str().unwrap();
        let mut web = Self::paired(told["pair"].as_str().unwrap(), name);
        web._served = Some(served);
        web
    }

    /// A device that is paired by a link with the page of a repository.
    pub(crate) fn paired(link: &str, repo: &str) -> Self {
        let (address, code) = link.split_once("/pair#").unwrap();
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        let mut web = Self {
            _served: None,
            port,
            token: String::new(),
            repo: repo.to_owned(),
        };
        let body = json!({ "code": code, "name": "a test" }).to_string();
        let head = format!(
            "POST /api/v1/pair HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n",
            body.len()
        );
        let (status, paired) = web.ask(&format!("{head}Host: 127.0.0.1:{port}\r\n\r\n{body}"));
        assert_eq!(status, 200, "{paired}");
        let paired: Value = serde_json::from_str(&paired).unwrap();
        paired["token"].as_str().unwrap().clone_into(&mut web.token);
        web
    }

    fn connect(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn ask(&self, request: &str) -> (u16, String) {
        let (status, is_chunked, mut from) = answered(self.connect(request));
        let mut body = String::new();
        match is_chunked {
            true => Chunks { from, left: 0 }.read_to_string(&mut body).unwrap(),
            false => from.read_to_string(&mut body).unwrap(),
        };
        (status, body)
    }

    fn get(&self, path: &str, headers: &str) -> String {
        let (port, token) = (self.port, &self.token);
        let head = format!(
            "GET /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        );
        format!("{head}{headers}\r\n")
    }

    /// The status and the text of an address.
    pub(super) fn text(&self, path: &str) -> (u16, String) {
        self.ask(&self.get(path, "Connection: close\r\n"))
    }

    /// What an address of the repository answers to a browser, which takes it compressed; unpacked.
    #[track_caller]
    pub(super) fn unpacked(&self, path: &str) -> Vec<u8> {
        let request = self.get(
            &format!("/r/{}{path}", self.repo),
            "Accept-Encoding: gzip\r\nConnection: close\r\n",
        );
        let (status, is_chunked, from) = answered(self.connect(&request));
        assert!(status == 200 && is_chunked, "{path}: {status}");
        let mut packed = Vec::new();
        Chunks { from, left: 0 }.read_to_end(&mut packed).unwrap();
        let mut gzip = env()
            .args(["gzip", "-dc"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = gzip.stdin.take().unwrap();
        let writes = std::thread::spawn(move || stdin.write_all(&packed));
        let unpacked = gzip.wait_with_output().unwrap();
        writes.join().unwrap().unwrap();
        assert!(unpacked.status.success(), "{path} does not come whole");
        unpacked.stdout
    }

    /// Does the first act of an entry of the inbox.
    #[track_caller]
    pub(crate) fn act(&self, item: &Value, text: &str) {
        let (port, token) = (self.port, &self.token);
        let verb = &item["acts"][0]["verb"];
        let body = json!({ "act": 0, "verb": verb, "text": text }).to_string();
        let path = format!(
            "/r/{}/inbox/{}/acts/01900000-0000-7000-8000-000000000001",
            self.repo,
            item["id"].as_str().unwrap()
        );
        let (status, answer) = self.ask(&format!(
            "PUT /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ));
        assert_eq!(status, 200, "{answer}");
    }

    /// The document of an address of the repository.
    #[track_caller]
    pub(crate) fn of_repo(&self, path: &str) -> Value {
        let (status, body) = self.text(&format!("/r/{}{path}", self.repo));
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error} in {body}"))
    }

    /// The status of an address of the repository.
    pub(super) fn status(&self, path: &str) -> u16 {
        self.text(&format!("/r/{}{path}", self.repo)).0
    }

    /// The stream, from the mark of an id on.
    pub(super) fn stream(&self, last: Option<&str>) -> Stream {
        let last = last
            .map(|id| format!("Last-Event-ID: {id}\r\n"))
            .unwrap_or_default();
        self.events("/stream", &last)
    }

    /// The output of a run as it comes, from its beginning on.
    pub(super) fn follow(&self, run: &str) -> Stream {
        self.events(&format!("/r/{}/runs/{run}/follow", self.repo), "")
    }

    fn events(&self, path: &str, headers: &str) -> Stream {
        let (status, is_chunked, from) = answered(self.connect(&self.get(path, headers)));
        assert!(status == 200 && is_chunked, "{status}");
        Stream(BufReader::new(Chunks { from, left: 0 }))
    }

    /// A connection that has asked for the stream and never reads.
    pub(super) fn stalled(&self) -> TcpStream {
        self.connect(&self.get("/stream", ""))
    }
}

/// The status of an answer, whether its body comes in chunks, and its body.
fn answered(stream: TcpStream) -> (u16, bool, BufReader<TcpStream>) {
    let mut from = BufReader::new(stream);
    let mut status = None;
    let mut is_chunked = false;
    loop {
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        let line = line.trim_end();
        if line.is_empty() {
            return (status.unwrap(), is_chunked, from);
        }
        match status {
            None => status = line.split(' ').nth(1).map(|status| status.parse().unwrap()),
            Some(_) => is_chunked |= line.eq_ignore_ascii_case("transfer-encoding: chunked"),
        }
    }
}

impl std::io::Read for Chunks {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.left == 0 {
            let mut size = String::new();
            self.from.read_line(&mut size)?;
            match size.trim_end() {
                "" if size.is_empty() => return Ok(0),
                "" => {}
                digits => match usize::from_str_radix(digits, 16).unwrap() {
                    0 => return Ok(0),
                    size => self.left = size,
                },
            }
        }
        let most = into.len().min(self.left);
        let read = self.from.read(&mut into[..most])?;
        self.left -= read;
        Ok(read)
    }
}

impl Stream {
    /// The next event; comments are passed over.
    #[track_caller]
    pub(super) fn event(&mut self) -> Event {
        let (mut name, mut id, mut data) = (String::new(), None, None);
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream has ended");
            match line.trim_end().split_once(": ") {
                Some(("event", text)) => text.clone_into(&mut name),
                Some(("id", text)) => id = Some(text.to_owned()),
                Some(("data", text)) => data = Some(serde_json::from_str(text).unwrap()),
                Some(_) => {}
                None => {
                    if let Some(data) = data.take() {
                        return Event { name, id, data };
                    }
                }
            }
        }
    }

    /// The events up to one of this name, with it.
    #[track_caller]
    pub(super) fn up_to(&mut self, name: &str) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            events.push(self.event());
            if events.last().is_some_and(|event| event.name == name) {
                return events;
            }
        }
    }
}
