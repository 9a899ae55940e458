//! Listening on loopback: one server for a port, and the connections that it serves.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::Ipv4Addr;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use client::error::Doing as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::fs::FlockOperation;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use crate::app::App;
use crate::edge::{Peer, Timed, Turns};
use crate::{pairing, serve};

/// The most bytes of the header of a request.
const HEADER: usize = 16 * 1024;
/// The longest time between two requests on a connection.
const IDLE: Duration = Duration::from_secs(75);
/// The name of the file of a port, before its number.
const MARK: &str = "serving-";
/// The most connections at once. One more ends the oldest on which nothing was asked yet; where there is
/// none, it waits until one ends.
const CONNECTIONS: usize = 128;
/// The wait after the system had no connection to give, as when no more files can be open.
const PAUSE: Duration = Duration::from_millis(100);

/// A port of loopback that is listened on. Other processes find out by its file who does.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    port: u16,
    _mark: File,
}

/// The reasons why a port is not listened on.
#[derive(Debug, thiserror::Error)]
pub enum Taken {
    /// Another server of crew has the port.
    #[error("another `crew web` has the port {port}")]
    ByCrew {
        /// The port.
        port: u16,
        /// The root of the repository that it shows; none while it starts.
        root: Option<PathBuf>,
    },
    /// Another program has the port.
    #[error("another program has the port {port}")]
    ByAnother {
        /// The port.
        port: u16,
    },
    /// It cannot be listened on.
    #[error(transparent)]
    Failed(#[from] client::Error),
}

impl Listener {
    /// Listens on a port of 127.0.0.1, for the page of a repository; on any free port where `port` is 0.
    ///
    /// # Errors
    /// Another server has the port, or it cannot be listened on.
    pub async fn bind(state_dir: &Path, port: u16, root: &Path) -> Result<Self, Taken> {
        pairing::make(state_dir)?;
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let bound = bound.and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
        let (port, listener) = match bound {
            Ok(bound) => bound,
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(match holder(state_dir, port) {
                    Some(root) => Taken::ByCrew { port, root },
                    None => Taken::ByAnother { port },
                });
            }
            Err(source) => {
                return Err(Taken::Failed(cannot(
                    source,
                    "listen on",
                    format!("127.0.0.1:{port}"),
                )));
            }
        };
        let path = mark_path(state_dir, port);
        let mut mark = pairing::open(&path)?;
        // Whoever had the port before has ended, and nobody else keeps the file for long.
        let marked = rustix::fs::flock(&mark, FlockOperation::LockExclusive).map_err(io::Error::from);
        let marked = marked.and_then(|()| {
            mark.set_len(0)?;
            mark.write_all(root.as_os_str().as_encoded_bytes())
        });
        marked.doing("write", path)?;
        Ok(Self {
            listener,
            port,
            _mark: mark,
        })
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Serves the page until the future is dropped, which ends all connections.
    pub async fn serve(self, app: App) -> Infallible {
        let router = serve::router(app);
        let mut connections = JoinSet::new();
        // Those on which nothing was asked yet, the oldest first.
        let mut silent: VecDeque<(Turns, AbortHandle)> = VecDeque::new();
        loop {
            let Ok((stream, address)) = self.listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            while connections.try_join_next().is_some() {}
            silent.retain(|(turns, task)| turns.is_unasked() && !task.is_finished());
            if connections.len() >= CONNECTIONS {
                // Connections that ask for nothing keep nobody out.
                if let Some((_, task)) = silent.pop_front() {
                    task.abort();
                }
                connections.join_next().await;
            }
            let turns = Turns::default();
            let served = serve_connection(stream, Peer(address.ip()), router.clone(), turns.clone());
            silent.push_back((turns, connections.spawn(served)));
        }
    }
}

/// A server of crew that has a port now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serving {
    /// The port.
    pub port: u16,
    /// The root of the repository that it shows.
    pub root: PathBuf,
}

impl Serving {
    /// All of a person's, by their ports.
    #[must_use]
    pub fn all(state_dir: &Path) -> Vec<Self> {
        let names = std::fs::read_dir(state_dir).into_iter().flatten().flatten();
        let ports = names.filter_map(|entry| entry.file_name().to_str()?.strip_prefix(MARK)?.parse().ok());
        let serving = ports.filter_map(|port| {
            let root = holder(state_dir, port)??;
            Some(Self { port, root })
        });
        let mut all: Vec<Self> = serving.collect();
        all.sort_by_key(|serving| serving.port);
        all
    }
}

/// Answers the requests of one connection.
async fn serve_connection(stream: TcpStream, peer: Peer, router: axum::Router, answering: Turns) {
    let service = TowerToHyperService::new(router);
    let answer = {
        let answering = answering.clone();
        service_fn(move |mut request: hyper::Request<Incoming>| {
            answering.begins();
            request.extensions_mut().insert(peer);
            let answered = service.call(request);
            let answering = answering.clone();
            async move {
                let answer = answered.await;
                answering.ends();
                answer
            }
        })
    };
    // A stream is written frame by frame.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .max_buf_size(HEADER)
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(Timed::new(stream, answering)), answer);
    // Whoever is at the other end has gone, or sends what is no request: nobody is to be told.
    let _ = connection.await;
}

/// The root of the repository whose server has a port, while it has it; the root is missing while the server
/// starts.
fn holder(state_dir: &Path, port: u16) -> Option<Option<PathBuf>> {
    let mut mark = File::open(mark_path(state_dir, port)).ok()?;
    if rustix::fs::flock(&mark, FlockOperation::NonBlockingLockShared).is_ok() {
        return None;
    }
    let mut root = Vec::new();
    mark.read_to_end(&mut root).ok()?;
    Some((!root.is_empty()).then(|| PathBuf::from(OsString::from_vec(root))))
}

fn mark_path(state_dir: &Path, port: u16) -> PathBuf {
    state_dir.join(format!("{MARK}{port}"))
}

fn cannot(source: io::Error, doing: &'static str, path: impl Into<PathBuf>) -> client::Error {
    client::Error::Io {
        doing,
        path: path.into(),
        source,
    }
}
