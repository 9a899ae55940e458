//! The log of the requests, in order of arrival, which tests check.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::route::Route;

/// One request and its answer.
#[derive(Clone, Debug, Serialize)]
pub struct Request {
    /// Its number, from 0, in the order of arrival.
    pub n: usize,
    /// The time of its arrival, in milliseconds since the start of the service.
    pub at_ms: u64,
    /// The HTTP method.
    pub method: String,
    /// The path with the query.
    pub path: String,
    /// The endpoint.
    pub route: Route,
    /// The client's session, if the client names it (`x-claude-code-session-id`).
    pub session: Option<String>,
    /// The number of the step that is due, from 0; `None` when none is.
    pub step: Option<usize>,
    /// The number of requests for this step so far, from 1; 0 when no step is due.
    pub ask: u32,
    /// The HTTP status of the answer; 0 until there is one.
    pub status: u16,
    /// What is wrong with the request or its script. A correct test has no problem.
    pub problem: Option<String>,
    /// How it ended; `None` until it has.
    pub end: Option<End>,
    /// The body; null when it was not JSON. It is not written to the file of the log, since it contains
    /// prompts of the client's vendor.
    #[serde(skip)]
    pub body: Value,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The whole answer was sent.
    Complete,
    /// The script closed the connection.
    Cut,
    /// The client closed the connection first.
    ClientGone,
}

/// The log of one service.
pub(crate) struct Log {
    begin: Instant,
    entries: Mutex<Entries>,
    changed: Condvar,
    file: Option<(PathBuf, Mutex<File>)>,
}

#[derive(Default)]
struct Entries {
    requests: Vec<Request>,
    /// The number of requests for each step, by its key.
    asks: BTreeMap<String, u32>,
}

impl Request {
    /// The texts of the user in the body, oldest first, without the results of tools.
    #[must_use]
    pub fn user_texts(&self) -> Vec<String> {
        let Some(wire) = self.route.wire() else {
            return Vec::new();
        };
        let turns = wire.read(&self.body).turns.into_iter();
        turns
            .filter(|turn| turn.speaker == crate::turn::Speaker::User)
            .map(|turn| turn.text)
            .collect()
    }
}

impl Log {
    pub(crate) fn new(path: Option<&Path>) -> Result<Self> {
        let file = path.map(|path| {
            let file = File::options().create(true).append(true).open(path);
            let file = file.map_err(|source| Error::Log {
                path: path.to_owned(),
                source,
            })?;
            Ok((path.to_owned(), Mutex::new(file)))
        });
        Ok(Self {
            begin: now(),
            entries: Mutex::default(),
            changed: Condvar::new(),
            file: file.transpose()?,
        })
    }

    /// Adds a request, and returns its number. Its `n` and `at_ms` are set here.
    pub(crate) fn add(&self, mut request: Request) -> usize {
        let mut entries = self.entries();
        request.n = entries.requests.len();
        request.at_ms = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        let n = request.n;
        entries.requests.push(request);
        self.changed.notify_all();
        n
    }

    /// Counts a request for a step, and returns the number of requests for it so far.
    pub(crate) fn count_ask(&self, key: &str) -> u32 {
        let mut entries = self.entries();
        let asks = entries.asks.entry(key.to_owned()).or_default();
        *asks += 1;
        *asks
    }

    /// Changes a request, and writes its new state to the file.
    pub(crate) fn update(&self, n: usize, change: impl FnOnce(&mut Request)) {
        let mut entries = self.entries();
        let Some(request) = entries.requests.get_mut(n) else {
            return;
        };
        change(request);
        // A request about which nothing is known yet is not worth a line.
        let is_known = request.step.is_some() || request.end.is_some();
        let line = is_known.then(|| json!(request));
        self.changed.notify_all();
        drop(entries);
        if let (Some((path, file)), Some(line)) = (&self.file, line) {
            let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Err(error) = writeln!(file, "{line}") {
                eprintln!("model-server: cannot write {}: {error}", path.display());
            }
        }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.entries().requests.clone()
    }

    /// Waits until `is_met` holds for the requests; `false` after `timeout`.
    pub(crate) fn wait(&self, timeout: Duration, mut is_met: impl FnMut(&[Request]) -> bool) -> bool {
        let deadline = now() + timeout;
        let mut entries = self.entries();
        loop {
            if is_met(&entries.requests) {
                return true;
            }
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(entries, left);
            entries = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        // A predicate of a test may panic while the lock is held; the requests stay readable.
        self.entries
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a wait needs a deadline, and the log has times"
)]
fn now() -> Instant {
    Instant::now()
}
