//! Blocking work: it waits for the disk, or for a process, on a thread of its own.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use tokio::sync::oneshot;

/// Something to be done on a thread.
type Work = Box<dyn FnOnce() + Send>;

/// For how long a thread without work stays: longer than a look at a run that is looked at again.
const STAYS: Duration = Duration::from_secs(10);

/// So many threads without work stay at most.
const MOST_IDLE: usize = 64;

/// The threads without work, the last one to have had some last: it gets the next, so that the others end.
type Idle = Arc<Mutex<Vec<(ThreadId, Sender<Work>)>>>;

/// Threads for blocking work. The system may have no thread to give: work that begins something gets an error
/// then, and work that ends something has a thread in reserve.
#[derive(Debug)]
pub(crate) struct Threads {
    /// To the thread that was made before anything could run short.
    reserve: Sender<Work>,
    /// Looks at many runs come all the time, and most of the cost of one would be that of its thread.
    idle: Idle,
    /// As large as each is to be; none: as large as usual.
    stack: Option<usize>,
}

impl Threads {
    /// Makes the one in reserve.
    ///
    /// # Errors
    /// The system has none to give.
    pub(crate) fn new() -> io::Result<Self> {
        let (reserve, works) = channel::<Work>();
        let serve = move || {
            while let Ok(work) = works.recv() {
                // Work that panics sends no result; the work behind it is served too.
                drop(catch_unwind(AssertUnwindSafe(work)));
            }
        };
        std::thread::Builder::new()
            .name("reserve".to_owned())
            .spawn(serve)?;
        let idle = Idle::default();
        Ok(Self {
            reserve,
            idle,
            stack: None,
        })
    }

    /// Does it on a thread, and gives what came of it; none when it panicked.
    ///
    /// # Errors
    /// There is no thread to be had: nothing was done.
    pub(crate) async fn begin<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Option<T>> {
        let (work, told) = telling(work);
        self.spawn(&Arc::new(Mutex::new(Some(work))))?;
        Ok(told.await.ok())
    }

    /// Does work that must be done whatever the system lacks: a stop, or reading the end of a run. The work
    /// takes no longer than some seconds. Returns its result; none when it panicked.
    pub(crate) async fn end<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (work, told) = telling(work);
        let work = Arc::new(Mutex::new(Some(work)));
        if self.spawn(&work).is_err() {
            drop(self.reserve.send(Box::new(move || take(&work))));
        }
        told.await.ok()
    }

    /// Does what may as well be done another time, should there be no thread for it.
    pub(crate) fn begin_if_free(&self, work: impl FnOnce() + Send + 'static) {
        if let Err(error) = self.spawn(&Arc::new(Mutex::new(Some(Box::new(work) as Work)))) {
            tracing::debug!(%error, "no thread for what can be done later");
        }
    }

    /// The work stays with the caller where there is no thread for it.
    fn spawn(&self, work: &Arc<Mutex<Option<Work>>>) -> io::Result<()> {
        let work = Arc::clone(work);
        let mut work: Work = Box::new(move || take(&work));
        while let Some((_, idle)) = lock(&self.idle).pop() {
            match idle.send(work) {
                Ok(()) => return Ok(()),
                Err(unsent) => work = unsent.0,
            }
        }
        let idle = Arc::clone(&self.idle);
        let mut thread = std::thread::Builder::new().name("hand".to_owned());
        if let Some(stack) = self.stack {
            thread = thread.stack_size(stack);
        }
        thread.spawn(move || serve(work, &idle)).map(drop)
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does the work, and whatever else comes until the thread has had none for a while.
fn serve(first: Work, idle: &Idle) {
    let own = std::thread::current().id();
    let mut next = Some(first);
    while let Some(work) = next {
        // Work that panics sends no result.
        drop(catch_unwind(AssertUnwindSafe(work)));
        let (tell, works) = channel();
        {
            let mut idle = lock(idle);
            if idle.len() >= MOST_IDLE {
                return;
            }
            idle.push((own, tell));
        }
        next = works.recv_timeout(STAYS).ok().or_else(|| {
            let mut idle = lock(idle);
            let place = idle.iter().position(|(id, _)| *id == own);
            match place {
                Some(place) => {
                    idle.remove(place);
                    None
                }
                // Somebody is about to send it some.
                None => {
                    drop(idle);
                    works.recv().ok()
                }
            }
        });
    }
}

fn take(work: &Mutex<Option<Work>>) {
    let work = lock(work).take();
    if let Some(work) = work {
        work();
    }
}

/// The same, telling what came of it. Nobody may wait for it any more.
fn telling<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> (Work, oneshot::Receiver<T>) {
    let (tell, told) = oneshot::channel();
    (Box::new(move || drop(tell.send(work()))), told)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No machine has room for such a thread.
    fn none_to_be_had() -> Threads {
        Threads {
            stack: Some(1 << 60),
            ..Threads::new().unwrap()
        }
    }

    #[tokio::test]
    async fn what_came_of_it_is_given_and_a_panic_is_none() {
        let threads = Threads::new().unwrap();
        assert_eq!(threads.begin(|| 7).await.unwrap(), Some(7));
        let panicked = threads.begin(|| -> u32 { panic!("on purpose") });
        assert_eq!(panicked.await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_thread_without_work_gets_the_next_and_a_panic_does_not_end_it() {
        let threads = Threads::new().unwrap();
        let id = || std::thread::current().id();
        let first = threads.begin(id).await.unwrap();
        until_idle(&threads).await;
        let panicked = threads.begin(|| -> u32 { panic!("on purpose") });
        assert_eq!(panicked.await.unwrap(), None);
        until_idle(&threads).await;
        assert_eq!(threads.begin(id).await.unwrap(), first);
    }

    /// The result of work comes before its thread has none.
    async fn until_idle(threads: &Threads) {
        while lock(&threads.idle).is_empty() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn without_a_thread_nothing_begins_and_everything_ends() {
        let threads = none_to_be_had();
        threads.begin(|| 7).await.unwrap_err();
        let panicked = threads.end(|| -> u32 { panic!("on purpose") });
        assert_eq!(panicked.await, None);
        let name = || std::thread::current().name().map(str::to_owned);
        assert_eq!(threads.end(name).await.flatten().as_deref(), Some("reserve"));
        assert_eq!(threads.end(|| 8).await, Some(8));
    }
}
