//! The ticket folder: one thread reads and writes it, so that changes are reported in the order in which they
//! were true.

mod aside;
mod conflict_copies;
mod doubtful;
mod file;
mod identity;
mod lost;
mod origins;
mod seen;
mod tracked;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use engine::driver;
use jiff::Timestamp;
use model::TicketId;
use model::ticket::Filing;
use tickets::{Folder, Hint, Scan, Watch};

use self::conflict_copies::ConflictCopies;
use self::doubtful::Doubtful;
pub(crate) use self::file::{Note, Unwritten, resolve};
use self::lost::Lost;
use self::origins::Origins;
pub use self::origins::origin_of;
use self::seen::Seen;
use crate::{Place, Result};

/// How often a change is looked at again that may be git's own work.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A request to the thread.
pub(crate) enum Ask {
    /// Look for changes.
    Look,
    /// Look for changes in these files.
    LookAt(BTreeSet<String>),
    /// Look at everything again, as if for the first time: for a core that knows no file yet. Changes that
    /// are seen from then on are reported with this number. `is_journal_new`: the journal has begun with this
    /// engine.
    LookAnew { number: u64, is_journal_new: bool },
    /// Make a file say this.
    File(TicketId, Filing, Reply),
    /// Add a note.
    Note(TicketId, Note, Reply),
    /// End.
    End,
}

/// Called with what came of it.
pub(crate) type Reply = Box<dyn FnOnce(Result<(), Unwritten>) + Send>;

/// The thread's handle: it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Queue {
    asks: Sender<Ask>,
}

impl Queue {
    /// Starts the thread. `tells`: a person is warned of edits that were kept as conflict copies. `saw` is
    /// called on the thread, with observations under the number of the last [`Ask::LookAnew`].
    pub(crate) fn open(
        place: &Place,
        tells: bool,
        saw: impl Fn(driver::Event) + Send + 'static,
    ) -> Result<Self> {
        let (dir, mut origins) = (&place.tickets_dir, Origins::new(place));
        let folder = Folder::at(dir)?;
        let (asks, asked) = channel();
        let told = asks.clone();
        // A full or closed channel does not matter here: the channel is unbounded, and a thread that is gone
        // needs no hint.
        let mut watch = Watch::new(&folder, move |hint| {
            drop(told.send(match hint {
                Hint::Files(names) => Ask::LookAt(names),
                Hint::Anything => Ask::Look,
            }));
        })
        .ok();
        let mut scan = Scan::new(folder);
        let spawned = std::thread::Builder::new()
            .name("tickets".to_owned())
            .spawn(move || {
                serve(
                    &mut scan,
                    (watch.as_mut(), &mut origins),
                    ConflictCopies::new(tells),
                    &asked,
                    &saw,
                );
            });
        spawned.map_err(|source| crate::Error::Io {
            doing: "start the thread for",
            path: dir.to_owned(),
            source,
        })?;
        Ok(Self { asks })
    }

    pub(crate) fn ask(&self, ask: Ask) {
        drop(self.asks.send(ask));
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.ask(Ask::End);
    }
}

fn serve(
    scan: &mut Scan,
    (mut watch, origins): (Option<&mut Watch>, &mut Origins),
    mut conflicts: ConflictCopies,
    asked: &Receiver<Ask>,
    saw: &impl Fn(driver::Event),
) {
    let (mut first, mut look) = (true, 0);
    let mut is_folder_gone = false;
    let (mut doubtful, mut lost) = (Doubtful::default(), Lost::default());
    loop {
        // Many changes are one look: every look that waits is answered by this one.
        let mut asks = match doubtful.is_empty() {
            true => match asked.recv() {
                Ok(ask) => vec![ask],
                Err(_) => return,
            },
            false => match asked.recv_timeout(LOOK_AGAIN) {
                Ok(ask) => vec![ask],
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => return,
            },
        };
        asks.extend(asked.try_iter());
        if asks.is_empty() && scan.folder().path().is_dir() {
            let mut seen = Seen::new(look, saw);
            doubtful.report(&scan.folder().clone(), origins, &mut seen);
            seen.end(false);
            continue;
        }
        let mut replies = Vec::new();
        let folder = scan.folder().clone();
        // A file that crew writes itself is looked at by its name: the work does not grow with the queue.
        let (mut all, mut named, mut own) = (first, BTreeSet::new(), BTreeMap::new());
        for ask in asks {
            match ask {
                Ask::Look => all = true,
                Ask::LookAt(names) => named.extend(names),
                Ask::LookAnew {
                    number,
                    is_journal_new,
                } => {
                    look = number;
                    *scan = Scan::new(folder.clone());
                    (first, all) = (true, true);
                    (doubtful, lost) = (Doubtful::default(), Lost::default());
                    origins.start(is_journal_new);
                }
                Ask::End => return,
                Ask::File(id, filing, reply) => {
                    let written = conflicts.watching(&folder, &id, || file::write(&folder, &id, &filing));
                    named.insert(id.to_string());
                    if let Ok(name) = &written {
                        named.insert(name.to_string());
                        own.insert(name.to_string(), filing);
                    }
                    replies.push((reply, written.map(drop)));
                }
                Ask::Note(id, asked, reply) => {
                    let written = conflicts.watching(&folder, &id, || file::note(&folder, &id, &asked));
                    replies.push((reply, written));
                    named.insert(id.to_string());
                }
            }
        }
        if let Some(watch) = watch.as_mut() {
            // A folder that was made anew is watched anew; where it cannot be, the tick looks.
            drop(watch.renew());
        }
        // A folder that is not there is no proof that its tickets were deleted: a branch may be switched
        // underneath.
        let was_gone = std::mem::replace(&mut is_folder_gone, !folder.path().is_dir());
        if is_folder_gone {
            if !was_gone {
                let folder = folder.path().display();
                tracing::warn!(
                    "the ticket folder {folder} is gone: what is known of it stands, and nothing is written into it"
                );
            }
            replies
                .into_iter()
                .for_each(|(reply, outcome): (Reply, _)| reply(outcome));
            if !doubtful.is_empty() {
                // These files went with their folder: when it is back, every file is looked at.
                lost.forget_all(scan, &mut doubtful);
                first = true;
            }
            continue;
        }
        conflicts.finish_writes(&folder);
        origins.look(first);
        let mut seen = Seen::new(look, saw);
        let mut judged = origins.judging(&folder, &mut doubtful, (first, &own), &mut seen);
        let looked = if all {
            scan.rescan_each(Timestamp::now(), |change| judged.push(change))
        } else {
            scan.rescan_files(&named, Timestamp::now())
                .map(|changes| changes.into_iter().for_each(|change| judged.push(change)))
        };
        judged.end();
        match looked {
            // It went while it was looked at: what was not found in it was not deleted.
            Ok(()) if !folder.path().is_dir() => {
                lost.forget_all(scan, &mut doubtful);
                first = true;
            }
            Ok(()) => {
                if first {
                    aside::report(&folder, &mut seen);
                    std::mem::take(&mut lost).report(&folder, origins, &mut seen);
                    // The first report of a file that is gone counts.
                    origins.report_deleted(&folder, &mut seen);
                }
                if first && origins.had_moved() {
                    saw(driver::Event::Input(engine::Input::GitMoved));
                }
                if first && origins.is_folder_replaced() {
                    saw(driver::Event::Input(engine::Input::FolderReplaced));
                }
                seen.end(first);
                first = false;
            }
            Err(error) => tracing::warn!("the ticket folder cannot be read: {}", text::with_causes(&error)),
        }
        for (reply, outcome) in replies {
            reply(outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::Observation;
    use model::Time;
    use model::ticket::{FileStatus, Origin};

    use super::*;
    use crate::place::tests::place_in;

    #[test]
    fn a_look_before_the_first_order_leaves_no_sign_of_an_earlier_engine() {
        let dir = tempfile::tempdir().unwrap();
        let place = place_in(dir.path());
        std::fs::create_dir_all(&place.tickets_dir).unwrap();
        std::fs::create_dir_all(&place.crew_dir).unwrap();
        let text =
            "---\nid: k-1\nstatus: in_progress\ndeps: []\nlinks: []\ntype: task\npriority: 2\n---\n# Mine\n";
        std::fs::write(place.tickets_dir.join("k-1.md"), text).unwrap();
        let (told, seen) = channel();
        let queue = Queue::open(&place, false, move |event| drop(told.send(event))).unwrap();
        let origin_in_look = |wanted: u64| {
            seen.iter().find_map(|event| {
                let driver::Event::Observed { look, seen, .. } = event else {
                    return None;
                };
                seen.into_iter().find_map(|one| match one {
                    Observation::Read { origin, .. } => Some(origin).filter(|_| look == wanted),
                    Observation::Unreadable { .. } | Observation::Gone { .. } => None,
                })
            })
        };
        // A hint of the watch may come before the dispatcher's order.
        queue.ask(Ask::Look);
        assert_eq!(origin_in_look(0), Some(Origin::Person));
        queue.ask(Ask::LookAnew {
            number: 1,
            is_journal_new: true,
        });
        assert_eq!(origin_in_look(1), Some(Origin::Person));
    }

    #[test]
    fn a_file_that_changes_while_a_git_is_at_work_is_judged_when_that_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let place = place_in(dir.path());
        std::fs::create_dir_all(&place.tickets_dir).unwrap();
        std::fs::create_dir_all(&place.crew_dir).unwrap();
        let write = |status: &str| {
            let text =
                format!("---\nid: k-1\nstatus: {status}\ndeps: []\nlinks: []\ntype: task\n---\n# Mine\n");
            std::fs::write(place.tickets_dir.join("k-1.md"), text).unwrap();
        };
        write("closed");
        let (told, seen) = channel();
        let queue = Queue::open(&place, false, move |event| drop(told.send(event))).unwrap();
        let next = || {
            seen.iter().find_map(|event| {
                let driver::Event::Observed { seen, .. } = event else {
                    return None;
                };
                seen.into_iter().find_map(|one| match one {
                    Observation::Read { status, origin, .. } => Some((status, origin)),
                    Observation::Unreadable { .. } | Observation::Gone { .. } => None,
                })
            })
        };
        queue.ask(Ask::LookAnew {
            number: 1,
            is_journal_new: true,
        });
        assert_eq!(next(), Some((FileStatus::Closed, Origin::Person)));
        let lock = dir.path().join(".git/index.lock");
        std::fs::write(&lock, "").unwrap();
        write("open");
        queue.ask(Ask::Look);
        let (looked, has_looked) = channel();
        let note = Note {
            text: "it is answered after the look".to_owned(),
            by: None,
            at: Time(0),
        };
        let other = TicketId::new("k-9").unwrap();
        queue.ask(Ask::Note(
            other,
            note,
            Box::new(move |_| looked.send(()).unwrap()),
        ));
        has_looked.recv().unwrap();
        // git writes it once more before it ends.
        write("in_progress");
        queue.ask(Ask::Look);
        std::fs::remove_file(&lock).unwrap();
        assert_eq!(next(), Some((FileStatus::InProgress, Origin::Person)));
    }
}
