//! `crew web` against hostile clients, over raw sockets: S1 to S11 of docs/design/web.md. Nothing here knows
//! how the server is made.

mod canaries;

use std::fmt;
use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::commands::repo::{Repo, env, until};
use testkit::wait::pause;

/// Every route that changes something: a device that may only look is refused on each.
const ACTS: [(&str, &str); 4] = [
    (
        "PUT",
        "/api/v1/r/repo/commands/019b8fd6-0000-7000-8000-000000000001",
    ),
    (
        "PUT",
        "/api/v1/r/repo/inbox/held:t-1/acts/019b8fd6-0000-7000-8000-000000000002",
    ),
    ("DELETE", "/api/v1/devices/00000000"),
    (
        "PUT",
        "/api/v1/r/repo/tickets/t-1/status/019b8fd6-0000-7000-8000-000000000003",
    ),
];

/// A page that is served. It does not outlive its test.
struct Served {
    child: Child,
    port: u16,
    /// The code of its link.
    code: String,
}

/// What came back on a connection.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Served {
    fn start(repo: &Repo, more: &[&str]) -> Self {
        let mut child = env()
            .args(repo.program(&repo.root))
            .args(["--json", "web"])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(repo.home().join("err")).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let said = || fs::read_to_string(repo.home().join("err")).unwrap();
        let told: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}{}", said()));
        let url = told["url"].as_str().unwrap();
        let port = url.strip_prefix("http://127.0.0.1:").unwrap();
        let port = port.strip_suffix('/').unwrap().parse().unwrap();
        let (page, code) = told["pair"].as_str().unwrap().split_once('#').unwrap();
        assert_eq!(page, format!("http://127.0.0.1:{port}/pair"));
        Self {
            child,
            port,
            code: code.to_owned(),
        }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// Sends bytes as they are, and reads until the server closes.
    fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        Answer::read(&mut stream)
    }

    /// A request of a program, with these lines in its header.
    fn ask(&self, method: &str, path: &str, lines: &[&str], body: &str) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !lines.iter().any(|line| line.to_lowercase().starts_with("host:")) {
            head += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        for line in lines {
            head += &format!("{line}\r\n");
        }
        if !body.is_empty() {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        self.send(format!("{head}\r\n{body}").as_bytes())
    }

    fn get(&self, path: &str, token: &str) -> Answer {
        self.ask("GET", path, &[&bearer(token)], "")
    }

    /// Sends JSON.
    fn put(&self, method: &str, path: &str, lines: &[&str], body: &Value) -> Answer {
        let lines = [lines, &["Content-Type: application/json"]].concat();
        self.ask(method, path, &lines, &body.to_string())
    }

    fn pair(&self, code: &str) -> Answer {
        self.put(
            "POST",
            "/api/v1/pair",
            &[],
            &json!({ "code": code, "name": "a test" }),
        )
    }

    /// The token of a device that is paired by the printed link.
    fn token(&self) -> String {
        self.paired(&self.code)["token"].as_str().unwrap().to_owned()
    }

    fn paired(&self, code: &str) -> Value {
        let answer = self.pair(code);
        assert_eq!(answer.status, 200, "{answer}");
        answer.json()
    }

    /// A stream of a device, once its first frame has come.
    fn stream(&self, token: &str) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        let head = format!(
            "GET /api/v1/stream HTTP/1.1\r\nConnection: close\r\nHost: localhost:{}\r\n{}\r\n\r\n",
            self.port,
            bearer(token)
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200 "), "{line}");
        while !line.starts_with("event:") {
            line.clear();
            assert_ne!(stream.read_line(&mut line).unwrap(), 0);
        }
        stream
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A server that refuses a request before it has read all of it resets the connection.
        match stream.read_to_end(&mut bytes) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Self {
            status: status.unwrap_or(0),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    #[track_caller]
    fn json(&self) -> Value {
        let from = self.body.find('{').unwrap();
        let to = self.body.rfind('}').unwrap();
        serde_json::from_str(&self.body[from..=to]).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}", self.head, self.body)
    }
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

fn state(repo: &Repo) -> PathBuf {
    repo.home().join(".local/state/crew/web")
}

/// A code of `crew web pair`.
fn code(repo: &Repo, more: &[&str]) -> String {
    let said = repo.crew(&[&["--json", "web", "pair"], more].concat()).ok();
    let pair = said.json()["pair"].as_str().unwrap().to_owned();
    pair.split_once('#').unwrap().1.to_owned()
}

#[test]
fn it_answers_on_loopback_and_for_its_own_names_only() {
    let repo = Repo::with_crew();
    let page = Served::start(&repo, &["--port", "0"]);
    let port = page.port;
    // Another address of the same machine.
    let elsewhere = TcpStream::connect(("127.0.0.2", port)).unwrap_err();
    assert_eq!(elsewhere.kind(), ErrorKind::ConnectionRefused);
    let asked = |target: &str, hosts: &[String]| {
        let hosts: String = hosts.iter().map(|host| format!("Host: {host}\r\n")).collect();
        let head = format!("GET {target} HTTP/1.1\r\nConnection: close\r\n{hosts}\r\n");
        page.send(head.as_bytes()).status
    };
    for target in ["/", "/api/v1/hello", "/a/dev/src/main.js", "/metrics", "/nothing"] {
        for own in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
            let status = asked(target, &[format!("{own}:{port}")]);
            assert!(![421, 403, 0].contains(&status), "{target} {own}: {status}");
        }
        for foreign in [
            format!("evil.example:{port}"),
            format!("127.0.0.1.evil.example:{port}"),
            format!("localhost.:{port}"),
            format!("127.0.0.1:{}", port.wrapping_add(1)),
            format!("127.0.0.1:{port}0"),
            format!("127.0.0.1@evil.example:{port}"),
            "127.0.0.1".to_owned(),
            String::new(),
        ] {
            assert_eq!(
                asked(target, std::slice::from_ref(&foreign)),
                421,
                "{target} {foreign}"
            );
        }
        let own = format!("127.0.0.1:{port}");
        assert_eq!(asked(target, &[]), 421, "{target}");
        assert_eq!(asked(target, &[own.clone(), own]), 421, "{target}");
    }
    // The target of a request may name a host itself.
    let own = format!("127.0.0.1:{port}");
    assert_eq!(
        asked(&format!("http://{own}/api/v1/hello"), std::slice::from_ref(&own)),
        200
    );
    assert_eq!(asked("http://evil.example/api/v1/hello", &[own]), 421);
    assert_eq!(
        asked(
            &format!("http://127.0.0.1:{port}/api/v1/hello"),
            &["evil.example".to_owned()]
        ),
        421
    );
    assert_eq!(page.send(b"GET / HTTP/1.0\r\n\r\n").status, 421);
}

#[test]
fn data_needs_the_token_of_a_device_in_its_header_and_nowhere_else() {
    let repo = Repo::with_crew();
    let page = Served::start(&repo, &["--port", "0"]);
    let token = page.token();
    assert_eq!(page.get("/api/v1/repos", &token).json()["repos"][0]["id"], "repo");
    for path in [
        "/api/v1/repos",
        "/api/v1/devices",
        "/api/v1/stream",
        "/api/v1/nothing",
        "/metrics",
        "/api",
    ] {
        assert_eq!(page.ask("GET", path, &[], "").status, 401, "{path}");
        let cookie = format!("Cookie: token={token}; crew={token}; authorization=Bearer {token}");
        assert_eq!(page.ask("GET", path, &[&cookie], "").status, 401, "{path}");
        let basic = format!("Authorization: Basic {token}");
        assert_eq!(page.ask("GET", path, &[&basic], "").status, 401, "{path}");
        for query in ["token", "access_token", "Token", "%74oken", "x=1&access_token"] {
            let path = format!("{path}?{query}={token}");
            assert_eq!(page.get(&path, &token).status, 400, "{path}");
        }
    }
    let twice = [bearer(&token), bearer(&token)];
    assert_eq!(
        page.ask("GET", "/api/v1/repos", &[&twice[0], &twice[1]], "")
            .status,
        401
    );
    assert_eq!(page.get("/api/v1/nothing", &token).status, 404);
    // Whoever knows no token learns no name.
    let hello = page.ask("GET", "/api/v1/hello", &[], "");
    let keys = hello
        .json()
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect::<Vec<_>>();
    assert_eq!(keys, ["api", "version"]);

    // Wrong ones are answered so often and no more; the right one always.
    let wrong = |nth: usize| page.get("/api/v1/repos", &format!("{nth:064x}")).status;
    let statuses: Vec<u16> = (0..11).map(wrong).collect();
    assert_eq!(statuses, [[401; 10].as_slice(), &[429]].concat());
    assert_eq!(page.get("/api/v1/repos", &token).status, 200);
}

#[test]
fn another_page_reads_and_changes_nothing() {
    let repo = Repo::with_crew();
    let page = Served::start(&repo, &["--port", "0"]);
    let token = bearer(&page.token());
    let own = format!("Origin: http://127.0.0.1:{}", page.port);
    let (act, look) = (ACTS[2].1, "/api/v1/repos");
    let asked = |method: &str, path: &str, lines: &[&str]| {
        let lines = [lines, &[token.as_str()]].concat();
        page.ask(method, path, &lines, "").status
    };
    for foreign in [
        "Origin: null",
        "Origin: http://evil.example",
        "Origin: http://127.0.0.1:3000",
        "Origin: http://localhost",
        "Sec-Fetch-Site: same-site",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: of-a-later-browser",
    ] {
        for path in [look, "/api/v1/hello", "/metrics", "/a/dev/src/main.js", "/"] {
            assert_eq!(asked("GET", path, &[foreign]), 403, "{path} {foreign}");
        }
        assert_eq!(asked("DELETE", act, &[foreign]), 403, "{foreign}");
        assert_eq!(asked("POST", "/api/v1/pair", &[foreign]), 403, "{foreign}");
        if foreign.starts_with("Sec") {
            assert_eq!(asked("DELETE", act, &[foreign, &own]), 403, "{foreign}");
            // A person follows a link to the page, and only to the page, and not in a frame.
            let link = [foreign, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"];
            assert_eq!(asked("GET", "/r/repo/t/t-1", &link), 200, "{foreign}");
            assert_eq!(asked("GET", look, &link), 403, "{foreign}");
            assert_eq!(asked("POST", "/r/repo/t/t-1", &link), 403, "{foreign}");
            let frame = [foreign, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"];
            assert_eq!(asked("GET", "/", &frame), 403, "{foreign}");
        }
    }
    // A browser names the page that changes something; a program names none.
    assert_eq!(asked("DELETE", act, &["Sec-Fetch-Site: same-origin"]), 403);
    assert_eq!(asked("DELETE", act, &["Sec-Fetch-Site: none"]), 403);
    assert_eq!(asked("DELETE", act, &["Sec-Fetch-Site: same-origin", &own]), 404);
    assert_eq!(asked("DELETE", act, &[&own]), 404);
    assert_eq!(asked("DELETE", act, &[]), 404);
    assert_eq!(asked("GET", look, &["Sec-Fetch-Site: same-origin"]), 200);
}

#[test]
fn bodies_are_json_and_short_and_no_method_stands_for_another() {
    let repo = Repo::with_crew();
    let page = Served::start(&repo, &["--port", "0"]);
    let token = bearer(&page.token());
    let (method, act) = ACTS[0];
    let asked = |kind: &str, body: &str| page.ask(method, act, &[&token, kind], body).status;
    for kind in [
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: multipart/form-data; boundary=x",
        "Content-Type: text/plain",
        "Content-Type: application/jsonp",
        "X-Nothing: 1",
    ] {
        assert_eq!(asked(kind, "{}"), 415, "{kind}");
        assert_eq!(
            page.ask("POST", "/api/v1/pair", &[kind], "code=1").status,
            415,
            "{kind}"
        );
    }
    assert_eq!(
        asked("Content-Type: application/json; charset=utf-8", "no json"),
        400
    );
    let large = " ".repeat((1 << 20) + 1);
    assert_eq!(asked("Content-Type: application/json", &large), 413);
    let chunked = format!(
        "{method} {act} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n{token}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n",
        page.port,
        large.len()
    );
    assert_eq!(page.send(chunked.as_bytes()).status, 413);

    for other in ["OPTIONS", "TRACE", "CONNECT", "PROPFIND"] {
        for path in ["/", "/api/v1/repos", act] {
            let preflight = [
                token.as_str(),
                "Access-Control-Request-Method: PUT",
                "Access-Control-Request-Private-Network: true",
            ];
            let answer = page.ask(other, path, &preflight, "");
            assert!([400, 405].contains(&answer.status), "{other} {path}: {answer}");
            assert!(!answer.head.contains("access-control"), "{answer}");
        }
    }
    let devices = || page.ask("GET", "/api/v1/devices", &[&token], "").json()["devices"].clone();
    let id = devices()[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/devices/{id}");
    for path in [path.clone(), format!("{path}?_method=DELETE")] {
        let answer = page.ask("GET", &path, &[&token, "X-HTTP-Method-Override: DELETE"], "");
        assert_eq!(answer.status, 405, "{answer}");
        let answer = page.ask("HEAD", &path, &[&token, "X-Method-Override: DELETE"], "");
        assert_eq!(answer.status, 405, "{answer}");
    }
    assert_eq!(devices().as_array().unwrap().len(), 1);
    assert_eq!(
        page.ask("POST", "/r/repo/", &["Content-Type: application/json"], "{}")
            .status,
        405
    );
}

#[test]
fn every_answer_has_its_headers_and_no_cookie() {
    let repo = Repo::with_crew();
    let page = Served::start(&repo, &["--port", "0"]);
    let token = page.token();
    for (path, status) in [
        ("/", 200),
        ("/r/repo/inbox", 200),
        ("/a/dev/src/main.js", 200),
        ("/a/dev/src/none.js", 404),
        ("/api/v1/hello", 200),
        ("/api/v1/repos", 200),
        ("/api/v1/r/none/view", 404),
        ("/api/v1/nothing", 404),
    ] {
        let answer = page.get(path, &token);
        assert_eq!(answer.status, status, "{path}: {answer}");
        for (name, value) in [
            (
                "content-security-policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                 worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                 require-trusted-types-for 'script'; trusted-types crew",
            ),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
            ("crew-api", "1"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}: {answer}");
        }
        assert!(!answer.head.contains("set-cookie"), "{answer}");
        assert!(!answer.head.contains("access-control"), "{answer}");
        if status >= 400 {
            assert_eq!(
                answer.header("content-type"),
                Some("application/problem+json"),
                "{answer}"
            );
            assert_eq!(answer.json()["status"], status, "{answer}");
        }
    }
    // The page is text in which nothing of the address stands.
    let page = page.get("/r/%3Cscript%3Ealert(1)%3C/script%3E", &token);
    assert!(!page.body.contains("alert(1)"), "{page}");
    let zipped = |page: &Served, path: &str| page.ask("GET", path, &["Accept-Encoding: gzip"], "");
    let served = Served::start(&repo, &["--port", "0"]);
    assert_eq!(zipped(&served, "/").header("content-encoding"), Some("gzip"));
}

#[test]
fn a_code_pairs_once_within_ten_minutes_and_not_after_five_wrong_ones() {
    let repo = Repo::with_crew();
    let page = Served::start(&repo, &["--port", "0"]);
    let codes = state(&repo).join("codes");
    assert!(page.code.len() >= 32, "{}", page.code);
    assert!(!fs::read_to_string(&codes).unwrap().contains(&page.code));
    page.paired(&page.code);
    let again = page.pair(&page.code);
    assert_eq!(again.status, 403, "{again}");
    assert!(again.body.contains("crew web pair"), "{again}");

    // Its time is over.
    let late = code(&repo, &[]);
    let mut kept: Value = serde_json::from_slice(&fs::read(&codes).unwrap()).unwrap();
    let latest = kept.as_array_mut().unwrap().last_mut().unwrap();
    assert_eq!(latest["used"], false);
    assert!(latest["ends_ms"].as_i64().unwrap() > 0);
    latest["ends_ms"] = json!(1);
    fs::write(&codes, kept.to_string()).unwrap();
    assert_eq!(page.pair(&late).status, 403);

    let in_time = code(&repo, &[]);
    for nth in 0..4 {
        assert_eq!(page.pair(&format!("{nth:032x}")).status, 403);
    }
    page.paired(&in_time);
    let void = code(&repo, &[]);
    for nth in 0..5 {
        assert_eq!(page.pair(&format!("{nth:032x}")).status, 403);
    }
    assert_eq!(page.pair(&void).status, 403);
    // A code is no token, and a beginning of one is none.
    let fresh = code(&repo, &[]);
    assert_eq!(page.get("/api/v1/repos", &fresh).status, 401);
    assert_eq!(page.pair(&fresh[..31]).status, 403);
    assert_eq!(page.pair("").status, 403);
    page.paired(&fresh);
}

#[test]
fn a_token_outlives_the_server_and_ends_with_its_device() {
    let repo = Repo::with_crew();
    let page = Served::start(&repo, &["--port", "0"]);
    let token = page.token();
    assert!(token.len() >= 64, "{token}");
    let dir = state(&repo);
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    for file in fs::read_dir(&dir).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        let bytes = fs::read(&file).unwrap();
        assert!(
            !String::from_utf8_lossy(&bytes).contains(&token),
            "{}",
            file.display()
        );
    }

    drop(page);
    let page = Served::start(&repo, &["--port", "0"]);
    assert_eq!(page.get("/api/v1/repos", &token).status, 200);
    for near in [
        &token[1..],
        &token[..63],
        &format!("{token}0"),
        &token.to_uppercase(),
        "",
    ] {
        assert_eq!(page.get("/api/v1/repos", near).status, 401, "{near}");
    }

    // Revoked from a terminal: what it reads ends, and what it asks is refused.
    let other = page.paired(&code(&repo, &["--name", "the laptop"]));
    assert_eq!(other["device"]["name"], "the laptop");
    let other = other["token"].as_str().unwrap();
    let (mut ends, mut stays) = (page.stream(&token), page.stream(other));
    let said = repo.crew(&["--json", "web", "revoke", "a test"]).ok();
    assert_eq!(said.json()["revoked"]["name"], "a test", "{said}");
    let mut rest = Vec::new();
    ends.read_to_end(&mut rest).unwrap();
    assert_eq!(page.get("/api/v1/repos", &token).status, 401);
    assert_eq!(page.get("/api/v1/repos", other).status, 200);
    stays.get_ref().set_nonblocking(true).unwrap();
    let mut one = [0];
    loop {
        match stays.read(&mut one) {
            Ok(read) => assert_eq!(read, 1, "the stream of another device has ended"),
            Err(error) => break assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }

    // Not used for more than ninety days.
    let devices = dir.join("devices");
    let mut kept: Value = serde_json::from_slice(&fs::read(&devices).unwrap()).unwrap();
    let used = kept[0]["used_ms"].as_i64().unwrap();
    kept[0]["used_ms"] = json!(used - 91 * 24 * 60 * 60 * 1000);
    fs::write(&devices, kept.to_string()).unwrap();
    assert_eq!(page.get("/api/v1/repos", other).status, 401);
    let said = repo.crew(&["web", "devices"]).ok();
    assert!(said.out.contains("no device is paired"), "{said}");
}

#[test]
fn a_device_that_may_look_does_nothing_else() {
    let repo = Repo::with_crew();
    let page = Served::start(&repo, &["--port", "0", "--look"]);
    let paired = page.paired(&page.code);
    assert_eq!(paired["device"]["scope"], "look");
    let token = bearer(paired["token"].as_str().unwrap());
    for path in ["/api/v1/repos", "/api/v1/devices", "/api/v1/r/repo/view"] {
        assert_eq!(page.ask("GET", path, &[&token], "").status, 200, "{path}");
    }
    let body = json!({ "command": { "command": "spawn", "agent": "ada" } });
    for (method, path) in ACTS {
        let answer = page.put(method, path, &[&token], &body);
        assert_eq!(answer.status, 403, "{method} {path}: {answer}");
    }
    let said = repo.crew(&["ps", "--json"]).ok();
    assert_eq!(said.json()["agents"], json!([]));
}

#[test]
fn no_text_of_an_address_becomes_a_path() {
    let repo = Repo::with_crew();
    fs::write(repo.home().join("secret"), "a secret of the home").unwrap();
    let page = Served::start(&repo, &["--port", "0"]);
    let token = page.token();
    let ways = [
        "../../../../../../../../etc/passwd",
        "..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "....//....//etc/passwd",
        "..%5c..%5cetc%5cpasswd",
        "%2fetc%2fpasswd",
        "//etc/passwd",
        "src/..%2f..%2f..%2fCargo.toml",
        "src%2f..%2f..%2fCargo.toml",
        "package.json",
        "src/main.js%00.png",
        "-rf",
        "--help",
        "%0d%0aset-cookie:x",
    ];
    for way in ways {
        for base in [
            "/a/dev/",
            "/a/",
            "/",
            "/api/v1/r/",
            "/api/v1/r/repo/tickets/",
            "/api/v1/r/repo/runs/",
            "/api/v1/devices/",
        ] {
            let path = format!("{base}{way}");
            let answer = page.get(&path, &token);
            assert!(
                !answer.body.contains("root:") && !answer.body.contains("[package]"),
                "{path}: {answer}"
            );
            assert!(!answer.head.contains("set-cookie"), "{path}: {answer}");
            assert_ne!(answer.status, 500, "{path}: {answer}");
            if base == "/a/dev/" {
                assert_eq!(answer.status, 404, "{path}: {answer}");
            }
        }
        let path = format!("/api/v1/r/repo/runs/{way}/output");
        let answer = page.get(&path, &token);
        assert!(answer.status >= 400 && answer.status != 500, "{path}: {answer}");
    }
}

#[test]
fn who_sends_too_much_or_too_slowly_is_not_waited_for() {
    let repo = Repo::with_crew();
    let page = Served::start(&repo, &["--port", "0"]);
    let token = page.token();
    // A header that does not end.
    let long = format!("X-Long: {}", "a".repeat(20 << 10));
    let answer = page.ask("GET", "/", &[&long], "");
    assert!([431, 0].contains(&answer.status), "{answer}");

    // More streams of one device than it may have; those of another are its own.
    let mut streams: Vec<_> = (0..8).map(|_| page.stream(&token)).collect();
    let ninth = page.get("/api/v1/stream", &token);
    assert_eq!(ninth.status, 429, "{ninth}");
    let other = page.paired(&code(&repo, &[]))["token"]
        .as_str()
        .unwrap()
        .to_owned();
    drop(page.stream(&other));
    streams.pop();
    until("one stream less", || {
        let mut stream = page.connect();
        let head = format!(
            "GET /api/v1/stream HTTP/1.1\r\nConnection: close\r\nHost: localhost:{}\r\n{}\r\n\r\n",
            page.port,
            bearer(&token)
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line.contains(" 200 ").then_some(())
    });
    drop(streams);

    // More connections than there may be: the next one is answered when one has ended.
    let idle = |_| {
        let mut stream = page.connect();
        let head = format!(
            "GET /api/v1/hello HTTP/1.1\r\nHost: localhost:{}\r\n\r\n",
            page.port
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.read_exact(&mut [0; 12]).unwrap();
        stream
    };
    let mut held: Vec<TcpStream> = (0..128).map(idle).collect();
    let mut waits = page.connect();
    let head = format!(
        "GET /api/v1/hello HTTP/1.1\r\nHost: localhost:{}\r\n\r\n",
        page.port
    );
    waits.write_all(head.as_bytes()).unwrap();
    waits.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    assert!(waits.read_exact(&mut [0; 12]).is_err());
    held.pop();
    waits.set_read_timeout(None).unwrap();
    waits.read_exact(&mut [0; 12]).unwrap();
    drop(held);
    drop(waits);

    // Very many connections that begin a request and do not end it keep nobody out: the oldest of them end.
    let begun = |_| {
        let mut stream = page.connect();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
        stream
    };
    let mut half_open: Vec<TcpStream> = (0..257).map(begun).collect();
    assert_eq!(page.get("/api/v1/repos", &token).status, 200);
    let late = &mut half_open[200];
    late.set_nonblocking(true).unwrap();
    let ended = late.read(&mut [0]).map_err(|error| error.kind());
    assert_eq!(ended, Err(ErrorKind::WouldBlock), "it was not waited for");
    drop(half_open);

    // A header, and a body, of which a byte comes now and then.
    let head = format!("GET / HTTP/1.1\r\nHost: localhost:{}\r\nX-Slow: ", page.port);
    let (method, act) = ACTS[0];
    let body = format!(
        "{method} {act} HTTP/1.1\r\nHost: localhost:{}\r\n{}\r\nContent-Type: application/json\r\n\
         Content-Length: 100000\r\n\r\n",
        page.port,
        bearer(&token)
    );
    for begun in [head, body] {
        let mut stream = page.connect();
        stream.write_all(begun.as_bytes()).unwrap();
        stream.set_nonblocking(true).unwrap();
        until("a slow request is ended", || {
            pause(Duration::from_millis(200));
            let waits = |error: &std::io::Error| error.kind() == ErrorKind::WouldBlock;
            let goes_on = stream.write_all(b"a").as_ref().err().is_none_or(waits);
            let hears_nothing = stream.read(&mut [0; 4096]).as_ref().err().is_some_and(waits);
            (!goes_on || !hears_nothing).then_some(())
        });
    }
    assert_eq!(page.get("/api/v1/repos", &token).status, 200);
}

#[test]
fn a_port_that_is_taken_is_named_with_who_has_it() {
    let repo = Repo::with_crew();
    let first = Served::start(&repo, &["--port", "0"]);
    let port = first.port.to_string();
    let said = repo.crew(&["web", "--port", &port]).ok();
    assert!(said.out.contains("serves this repository already"), "{said}");
    let link = said
        .out
        .lines()
        .find_map(|line| line.split_once("/pair#"))
        .unwrap()
        .1
        .trim();
    first.paired(link);
    let said = repo.crew(&["--json", "web", "--port", &port]).ok();
    assert!(said.json()["pair"].as_str().unwrap().contains("/pair#"), "{said}");

    // Another repository of the same person.
    let other = repo.home().join("other");
    fs::create_dir(&other).unwrap();
    let git = |args: &[&str]| {
        let git = [
            "git",
            "-C",
            other.to_str().unwrap(),
            "-c",
            "user.name=u",
            "-c",
            "user.email=u@example.invalid",
        ];
        repo.run(&git.map(str::to_owned), args).ok();
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "first"]);
    let said = repo.crew_in(&other, &["web", "--port", &port]);
    assert_eq!(said.code, 1, "{said}");
    let root = repo.root.canonicalize().unwrap();
    assert!(said.err.contains(&root.display().to_string()), "{said}");
    assert!(said.err.contains("--port"), "{said}");
    // No repository at all.
    let said = repo.crew_in(repo.home().as_path(), &["web", "--port", "0"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(
        said.err.contains("not a git repository") || said.err.contains("no repository"),
        "{said}"
    );

    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let said = repo.crew(&["web", "--port", &port]);
    assert_eq!(said.code, 1, "{said}");
    assert!(
        said.err.contains("another program") && said.err.contains("--port"),
        "{said}"
    );
}

#[test]
fn it_ends_at_an_interrupt_and_shows_a_repository_in_which_crew_has_never_run() {
    let repo = Repo::new();
    let mut page = Served::start(&repo, &["--port", "0"]);
    let token = page.token();
    let view = page.get("/api/v1/r/repo/view", &token);
    assert_eq!(view.status, 200, "{view}");
    let pid = Pid::from_raw(i32::try_from(page.child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(page.child.wait().unwrap().code(), Some(130));
    // It has started no engine, and changed nothing.
    assert!(!repo.root.join(".crew").exists());
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}
