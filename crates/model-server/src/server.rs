//! The server: a port on loopback, and a thread that serves it until the server is dropped.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::runtime;
use tokio::sync::oneshot;

use crate::error::{Error, Result};
use crate::log::{Log, Request};
use crate::respond::respond;

/// A running service. It ends when it is dropped, with all its connections.
///
/// It has a thread and a runtime of its own: a test needs no runtime, and a test that blocks does not stop
/// the service.
pub struct Server {
    address: SocketAddr,
    log: Arc<Log>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts on a free port.
    ///
    /// # Errors
    ///
    /// [`Error::Listen`] when there is no loopback interface, [`Error::Thread`].
    pub fn start() -> Result<Self> {
        Self::start_at(0, None)
    }

    /// Starts on a port, 0 for a free one, and appends the state of each request to `log` as a line of JSON
    /// whenever it changes.
    ///
    /// # Errors
    ///
    /// [`Error::Listen`] when the port is taken, [`Error::Log`], [`Error::Thread`].
    pub fn start_at(port: u16, log: Option<&Path>) -> Result<Self> {
        let listen = |source| Error::Listen { port, source };
        let log = Arc::new(Log::new(log)?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| Error::Thread { source })?;
        let (stop, stopped) = oneshot::channel();
        let own_log = Arc::clone(&log);
        let serve = move || {
            runtime.block_on(async move {
                tokio::select! {
                    () = serve(listener, own_log) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = thread::Builder::new()
            .name("model-server".to_owned())
            .spawn(serve)
            .map_err(|source| Error::Thread { source })?;
        Ok(Self {
            address,
            log,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The URL, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in the order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.log.requests()
    }

    /// The problems of requests and scripts so far. A correct test has none.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let requests = self.log.requests().into_iter();
        requests
            .filter_map(|request| {
                Some(format!(
                    "{} {}: {}",
                    request.method, request.path, request.problem?
                ))
            })
            .collect()
    }

    /// Waits until `is_met` holds for the requests; `false` after `timeout`.
    ///
    /// `is_met` is called after every change, with the log locked, so it must not call the server.
    #[must_use]
    pub fn wait(&self, timeout: Duration, is_met: impl FnMut(&[Request]) -> bool) -> bool {
        self.log.wait(timeout, is_met)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(listener: TcpListener, log: Arc<Log>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("model-server: cannot listen: {error}");
            return;
        }
    };
    loop {
        // A connection that fails here concerns only its client.
        let Ok((connection, _)) = listener.accept().await else {
            continue;
        };
        let log = Arc::clone(&log);
        let service = service_fn(move |request| respond(Arc::clone(&log), request));
        tokio::spawn(async move {
            // A client that closes the connection and a script that cuts it are no errors, and stand in the
            // log.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(connection), service)
                .await;
        });
    }
}
