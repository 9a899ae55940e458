//! Waiting: the threads on which a command waits for things.

use std::{io, panic};

use tokio::runtime::Runtime;

use crate::error::{Error, Result};

/// Runs a command that waits for things.
pub(crate) fn wait<T>(command: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = runtime().map_err(|source| {
        Error::from(client::Error::Io {
            doing: "start the threads of",
            path: "crew".into(),
            source,
        })
    })?;
    let exit = runtime.block_on(command);
    // Whatever still blocks, such as a read of the terminal, is not waited for.
    runtime.shutdown_background();
    exit
}

/// Where the system has no thread for the workers, tokio panics; a person gets an error instead, as for
/// anything else that is lacking.
fn runtime() -> io::Result<Runtime> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let built = panic::catch_unwind(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(2).enable_all().build()
    });
    panic::set_hook(hook);
    built.unwrap_or_else(|why| {
        let why = why.downcast_ref::<String>();
        Err(io::Error::other(
            why.map_or("no thread can be started", String::as_str).to_owned(),
        ))
    })
}
