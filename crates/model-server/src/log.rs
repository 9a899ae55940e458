//! What the service was asked, in order: what a test asserts on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use crate::{Error, Result, Route};

/// One request, and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Request {
    /// Its number, from 0, in the order of arrival.
    pub n: usize,
    /// When it came, in milliseconds since the service began.
    pub at_ms: u64,
    /// Its method.
    pub method: String,
    /// Its path, with the query.
    pub path: String,
    /// What it is for.
    pub route: Route,
    /// The client's session, where the client says it (`x-claude-code-session-id`).
    pub session: Option<String>,
    /// The step of the script that is due, from 0; `None` where none is.
    pub step: Option<usize>,
    /// How often this step has been asked for, from 1; 0 where no step is due.
    pub ask: u32,
    /// The HTTP status of the answer; 0 while it is not decided.
    pub status: u16,
    /// What is wrong with the request or its script. A good test has none.
    pub problem: Option<String>,
    /// How it ended; `None` while it has not.
    pub end: Option<End>,
    /// The body; null where there was no JSON. It is not written to the log's file: it holds what is the vendor's.
    #[serde(skip)]
    pub body: Value,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// All of the answer was sent.
    Complete,
    /// The script had the connection closed.
    Cut,
    /// The client went away before its end.
    ClientGone,
}

/// The log of one service.
pub(crate) struct Log {
    begin: Instant,
    kept: Mutex<Kept>,
    changed: Condvar,
    file: Option<(PathBuf, Mutex<File>)>,
}

#[derive(Default)]
struct Kept {
    requests: Vec<Request>,
    /// How often each step was asked for.
    asks: BTreeMap<String, u32>,
}

impl Request {
    /// The texts of the user in the body, oldest first; what tools gave back is not among them.
    #[must_use]
    pub fn user_texts(&self) -> Vec<String> {
        let Some(wire) = self.route.wire() else {
            return Vec::new();
        };
        let turns = wire.read(&self.body).turns.into_iter();
        turns
            .filter(|turn| turn.who == crate::cue::Who::User)
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
            kept: Mutex::default(),
            changed: Condvar::new(),
            file: file.transpose()?,
        })
    }

    /// A new request; what is told here about its number and time is not used.
    pub(crate) fn arrived(&self, mut request: Request) -> usize {
        let mut kept = self.kept();
        request.n = kept.requests.len();
        request.at_ms = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        let n = request.n;
        kept.requests.push(request);
        self.changed.notify_all();
        n
    }

    /// Counts that a step is asked for, and says how often it was by now.
    pub(crate) fn asked(&self, key: &str) -> u32 {
        let mut kept = self.kept();
        let asks = kept.asks.entry(key.to_owned()).or_default();
        *asks += 1;
        *asks
    }

    /// Notes something about a request, and writes it down as it then is.
    pub(crate) fn note(&self, n: usize, change: impl FnOnce(&mut Request)) {
        let mut kept = self.kept();
        let Some(request) = kept.requests.get_mut(n) else {
            return;
        };
        change(request);
        // That a request came, and nothing yet of what it is, is no news.
        let news = request.step.is_some() || request.end.is_some();
        let line = news.then(|| json!(request));
        self.changed.notify_all();
        drop(kept);
        if let (Some((path, file)), Some(line)) = (&self.file, line) {
            let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Err(error) = writeln!(file, "{line}") {
                eprintln!("model-server: cannot write {}: {error}", path.display());
            }
        }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.kept().requests.clone()
    }

    /// Waits until the requests are as wanted; `false` when that takes longer than `patience`.
    pub(crate) fn wait(&self, patience: Duration, mut so: impl FnMut(&[Request]) -> bool) -> bool {
        let deadline = now() + patience;
        let mut kept = self.kept();
        loop {
            if so(&kept.requests) {
                return true;
            }
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(kept, left);
            kept = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // A test's panic in its own predicate must not hide what was asked.
        self.kept
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a wait needs a deadline, and the log says when"
)]
fn now() -> Instant {
    Instant::now()
}
