//! What waits for the disk, or for a process, on a thread of its own.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

/// How long until a thread is asked for again.
const AGAIN: Duration = Duration::from_millis(500);

/// Does it on a thread, and gives what came of it; none when it panicked. Where the system has no thread to give, that is told and
/// waited for: tokio's own pool panics then, and who asked would never hear of it.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (tell, told) = oneshot::channel();
    let mut told_of = false;
    // Nobody may wait for it any more.
    let work = Arc::new(Mutex::new(Some(move || drop(tell.send(work())))));
    while let Err(error) = begin(&work) {
        if !std::mem::replace(&mut told_of, true) {
            tracing::warn!(%error, "no thread can be started; it is tried until there is one");
        }
        tokio::time::sleep(AGAIN).await;
    }
    told.await.ok()
}

fn begin(work: &Arc<Mutex<Option<impl FnOnce() + Send + 'static>>>) -> io::Result<()> {
    let work = Arc::clone(work);
    let thread = std::thread::Builder::new().name("hand".to_owned());
    let begun = thread.spawn(move || {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(work) = work {
            work();
        }
    });
    begun.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_came_of_it_is_given_and_a_panic_is_none() {
        assert_eq!(blocking(|| 7).await, Some(7));
        let panicked = blocking(|| -> u32 { panic!("on purpose") });
        assert_eq!(panicked.await, None);
    }
}
