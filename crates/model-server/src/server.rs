//! The service: a port on loopback, and a thread that serves it until it is dropped.

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

use crate::log::Log;
use crate::respond::respond;
use crate::{Error, Request, Result};

/// A running service. Dropped, it ends, with all its connections.
///
/// It has a thread and a runtime of its own, so that a test needs none, and one that blocks does not stop it.
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
    /// There is no loopback, or no thread to be had.
    pub fn start() -> Result<Self> {
        Self::start_at(0, None)
    }

    /// Starts on a port, 0 for a free one, and appends to `log` a line of JSON for each thing that is noted of a
    /// request.
    ///
    /// # Errors
    ///
    /// The port is taken, the log cannot be written, or there is no thread to be had.
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
        let kept = Arc::clone(&log);
        let serve = move || {
            runtime.block_on(async move {
                tokio::select! {
                    () = serve(listener, kept) => {}
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

    /// Where it is, as clients want it: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything it was asked so far, in the order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.log.requests()
    }

    /// What was wrong with requests and scripts so far. A good test has none of it.
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

    /// Waits until the requests are as wanted; `false` when that takes longer than `patience`.
    ///
    /// `so` is asked after every change, with the log locked: it must not call the service.
    #[must_use]
    pub fn wait(&self, patience: Duration, so: impl FnMut(&[Request]) -> bool) -> bool {
        self.log.wait(patience, so)
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
        // A connection that fails before it is one concerns its client only.
        let Ok((connection, _)) = listener.accept().await else {
            continue;
        };
        let log = Arc::clone(&log);
        let service = service_fn(move |request| respond(Arc::clone(&log), request));
        tokio::spawn(async move {
            // Clients go away, and scripts cut: neither is an error here, and the log has both.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(connection), service)
                .await;
        });
    }
}
