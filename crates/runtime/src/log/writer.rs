//! The log writer: lines are queued by every thread of the engine, and one thread writes them to the file.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use git::Lock;

use super::file::LogFile;

/// Lines that may wait to be written. More are lost, and counted: the engine never waits for its log.
const MAX_WAITING: usize = 10_000;
/// How long the end of the engine waits for the last lines to be written.
const LAST_LINES: Duration = Duration::from_secs(2);

/// The log of the engines of one process, one after the other. Lines that come before the engine holds the
/// repository wait in memory, since only the holder may write the file.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// The lines between the engine and the writer.
#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<String>,
    lost: u64,
    /// The engine ends: the writer writes the lines that are there, and no other.
    is_ending: bool,
    has_ended: bool,
    /// The number of the thread that may write: an older one, which hung, writes nothing more.
    writer: u64,
}

impl Queue {
    /// Begins with a new thread that writes; its number.
    fn begin(&mut self) -> u64 {
        (self.is_ending, self.has_ended) = (false, false);
        self.writer += 1;
        self.writer
    }
}

impl Log {
    /// Where the log of the repository with this folder of crew's is.
    #[must_use]
    pub fn path(crew_dir: &Path) -> PathBuf {
        file_in(crew_dir).path()
    }

    /// Queues a line, which has no line break. Never blocks on the disk.
    pub fn push(&self, line: String) {
        let mut queue = self.queue();
        if queue.lines.len() < MAX_WAITING {
            queue.lines.push_back(line);
        } else {
            queue.lost += 1;
        }
        drop(queue);
        self.0.changed.notify_all();
    }

    /// Writes from now on, until the result is dropped. `lock` is held until then, so that no other engine
    /// writes the same file.
    pub(crate) fn open(&self, crew_dir: &Path, lock: Lock) -> Writer {
        let file = file_in(crew_dir);
        let path = file.path();
        let log = self.clone();
        let number = self.queue().begin();
        let thread = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || log.write_all(file, number));
        if let Err(error) = &thread {
            warn_unwritten(&path, error);
        }
        Writer {
            log: thread.is_ok().then(|| self.clone()),
            _lock: lock,
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes lines until the engine ends.
    fn write_all(&self, mut file: LogFile, number: u64) {
        let mut state = State::default();
        while let Some((lines, lost)) = self.next_lines(number) {
            state.lost += lost;
            for line in lines {
                if self.queue().writer != number {
                    return;
                }
                state.write(&mut file, line);
            }
        }
        let mut queue = self.queue();
        if queue.writer == number {
            queue.has_ended = true;
        }
        drop(queue);
        self.0.changed.notify_all();
    }

    /// Waits for lines; none when the engine has ended and all are written, or when another thread writes
    /// now.
    fn next_lines(&self, number: u64) -> Option<(VecDeque<String>, u64)> {
        let mut queue = self.queue();
        while queue.lines.is_empty() && queue.lost == 0 {
            if queue.is_ending || queue.writer != number {
                return None;
            }
            let waited = self.0.changed.wait(queue);
            queue = waited.unwrap_or_else(PoisonError::into_inner);
        }
        if queue.writer != number {
            return None;
        }
        Some((std::mem::take(&mut queue.lines), std::mem::take(&mut queue.lost)))
    }
}

/// How the writing goes.
#[derive(Debug, Default)]
struct State {
    /// Lines that are not in the file, and that no line of the file counts yet.
    lost: u64,
    /// Whether a person was warned, which is done once in an engine's life.
    has_warned: bool,
}

impl State {
    fn write(&mut self, file: &mut LogFile, mut line: String) {
        line.push('\n');
        match file.append(line.as_bytes()) {
            Ok(()) if self.lost > 0 => {
                let lost = std::mem::take(&mut self.lost);
                tracing::warn!(target: "log", state = "incomplete", lost);
            }
            Ok(()) => {}
            Err(error) => {
                self.lost += 1;
                if !std::mem::replace(&mut self.has_warned, true) {
                    warn_unwritten(&file.path(), &error);
                }
            }
        }
    }
}

fn file_in(crew_dir: &Path) -> LogFile {
    LogFile::in_folder(crew_dir.join("logs"))
}

fn warn_unwritten(path: &Path, error: &std::io::Error) {
    tracing::warn!(
        "the log {} cannot be written: {}\n  the engine works without it, and writes it again once that is possible",
        path.display(),
        text::os_message(error)
    );
}

/// A log that is being written. Dropped at the end of the engine, also when the engine panics; the drop waits
/// a moment until the last lines are written.
#[derive(Debug)]
pub(crate) struct Writer {
    /// None when there is no thread that writes.
    log: Option<Log>,
    _lock: Lock,
}

impl Drop for Writer {
    fn drop(&mut self) {
        let Some(log) = &self.log else { return };
        let mut queue = log.queue();
        queue.is_ending = true;
        log.0.changed.notify_all();
        let waited = log
            .0
            .changed
            .wait_timeout_while(queue, LAST_LINES, |queue| !queue.has_ended);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !queue.has_ended {
            queue.writer += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of a repository that nobody else holds.
    fn opened(log: &Log, folder: &Path) -> Writer {
        log.open(folder, Lock::take(&folder.join("lock")).unwrap())
    }

    #[test]
    fn lines_before_the_repository_is_held_and_the_last_lines_are_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::default();
        log.push("before".to_owned());
        assert!(!Log::path(folder.path()).exists());
        let writer = opened(&log, folder.path());
        log.push("last".to_owned());
        drop(writer);
        let text = std::fs::read_to_string(Log::path(folder.path())).unwrap();
        assert_eq!(text, "before\nlast\n");
        log.push("after".to_owned());
        assert_eq!(std::fs::read_to_string(Log::path(folder.path())).unwrap(), text);
    }

    #[test]
    fn the_last_lines_of_an_engine_that_panics_are_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (log, path) = (Log::default(), folder.path().to_owned());
        let engine = std::thread::spawn({
            let log = log.clone();
            move || {
                let _writer = opened(&log, &path);
                log.push("last".to_owned());
                panic!("on purpose");
            }
        });
        engine.join().unwrap_err();
        let text = std::fs::read_to_string(Log::path(folder.path())).unwrap();
        assert_eq!(text, "last\n");
    }

    #[test]
    fn lines_that_nobody_writes_take_a_bounded_amount_of_memory() {
        let log = Log::default();
        for number in 0..MAX_WAITING + 5 {
            log.push(number.to_string());
        }
        let queue = log.queue();
        assert_eq!((queue.lines.len(), queue.lost), (MAX_WAITING, 5));
    }

    #[test]
    fn a_log_that_cannot_be_written_keeps_no_engine_from_its_end() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("logs"), "no folder").unwrap();
        let log = Log::default();
        let writer = opened(&log, folder.path());
        for number in 0..100 {
            log.push(number.to_string());
        }
        drop(writer);
        let queue = log.queue();
        assert_eq!((queue.lines.len(), queue.has_ended), (0, true));
    }
}
