//! A run that cannot be read: it is looked at again, until it can be or is lost.

use std::path::Path;
use std::time::Duration;

use engine::driver;
use model::RunId;
use model::ticket::Loss;
use process::Run;
use tokio::sync::mpsc::UnboundedSender;

use super::Subject;
use crate::dispatcher::Event;
use crate::executor::Executor;

/// What cannot be read of a run.
pub(super) enum Unread {
    /// It is lost, and this is its end.
    Lost(Box<driver::Event>),
    /// Nobody listens any more.
    Unheard,
}

/// The failures to read a run, which is read again after each.
pub(super) struct Failures<'a> {
    dir: &'a Path,
    id: &'a RunId,
    subject: &'a Subject,
    executor: &'a Executor,
    tell: &'a UnboundedSender<Event>,
    /// The last one that was told, in words.
    told: String,
}

impl<'a> Failures<'a> {
    pub(super) fn of(
        dir: &'a Path,
        id: &'a RunId,
        subject: &'a Subject,
        executor: &'a Executor,
        tell: &'a UnboundedSender<Event>,
    ) -> Self {
        Self {
            dir,
            id,
            subject,
            executor,
            tell,
            told: String::new(),
        }
    }

    /// Waits until the run may be read again, where that makes sense.
    pub(super) async fn meet(&mut self, error: process::Error) -> Result<(), Unread> {
        if let process::Error::NoRun { .. } = error {
            let why = "it was never started".to_owned();
            let lost = Loss::NotStarted { why };
            let lost = self.subject.lost(self.id, lost, "it was never started");
            return Err(Unread::Lost(Box::new(lost)));
        }
        if let process::Error::Damaged { .. } = error
            && is_swept(self.dir, self.executor).await
        {
            let lost = self.subject.lost(self.id, Loss::Vanished, &error.to_string());
            return Err(Unread::Lost(Box::new(lost)));
        }
        // While a process of the step may be alive, the step has not ended: the next step would work beside
        // it.
        let error = text::with_causes(&error);
        crate::log::watch_retried(self.id, &error);
        if self.told != error {
            tracing::warn!(
                "run {} cannot be watched, and is looked at again: {error}",
                self.id
            );
            self.told = error;
        }
        if self.tell.is_closed() {
            return Err(Unread::Unheard);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(())
    }
}

/// Ends what is left of a run whose record cannot be read; gives whether nothing is left. Without the run's
/// specification nobody knows what to look for, and that counts as nothing.
async fn is_swept(dir: &Path, executor: &Executor) -> bool {
    let run = Run::open(dir);
    let swept = executor.threads.end(move || run?.sweep().map(drop)).await;
    matches!(swept, Some(Ok(()) | Err(process::Error::Damaged { .. })))
}
