//! The ticket folder: one thread reads and writes it, so that changes are reported in the order in which they
//! were true.

mod aside;
mod doubtful;
mod identity;
mod lost;
mod origins;
mod seen;
mod tracked;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use engine::driver;
use jiff::Timestamp;
use model::ticket::{FileStatus, Filing};
use model::{AgentName, TicketId, Time};
use tickets::{Folder, Hint, ProblemKind, Scan, Status, Watch};

use self::doubtful::Doubtful;
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

/// A note for a ticket's file.
pub(crate) struct Note {
    pub(crate) text: String,
    /// The agent in whose name it is written; none where it is crew's own.
    pub(crate) by: Option<AgentName>,
    /// When it was decided on.
    pub(crate) at: Time,
}

/// Called with what came of it.
pub(crate) type Reply = Box<dyn FnOnce(Result<(), Unwritten>) + Send>;

/// Why a file was not written; it is tried again.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// It is not there, and its folder is.
    Missing,
    /// It is the machine's moment, which nobody has to mend.
    Passing(String),
    /// Somebody has to mend it.
    Failed(String),
}

impl From<tickets::Error> for Unwritten {
    fn from(error: tickets::Error) -> Self {
        let why = text::with_causes(&error);
        if let tickets::Error::NotFound { .. } = &error {
            return Self::Missing;
        }
        let is_exhausted = matches!(&error, tickets::Error::Io { source, .. } if text::is_exhausted(source));
        if is_exhausted || matches!(&error, tickets::Error::Locked { .. }) {
            Self::Passing(why)
        } else {
            Self::Failed(why)
        }
    }
}

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
                    let written = conflicts.watching(&folder, &id, || write(&folder, &id, &filing));
                    named.insert(id.to_string());
                    if let Ok(name) = &written {
                        named.insert(name.to_string());
                        own.insert(name.to_string(), filing);
                    }
                    replies.push((reply, written.map(drop)));
                }
                Ask::Note(id, asked, reply) => {
                    let written = conflicts.watching(&folder, &id, || note(&folder, &id, &asked));
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

/// The edits that were kept as conflict copies because another write came into their ticket's file at the
/// same moment: a person is warned of each once, by an engine only.
struct ConflictCopies {
    tells: bool,
    /// Whether the write that a killed engine had begun was finished.
    is_finished: bool,
}

impl ConflictCopies {
    fn new(tells: bool) -> Self {
        Self {
            tells,
            is_finished: false,
        }
    }

    /// Finishes a write that a killed engine had begun, before the folder is read, and warns of every
    /// conflict copy that is there.
    fn finish_writes(&mut self, folder: &Folder) {
        if self.is_finished {
            return;
        }
        match folder.finish_interrupted_write() {
            Ok(kept) => {
                self.is_finished = true;
                self.tell(folder, &kept);
            }
            // The first write says so too, with the ticket that it is about.
            Err(error) => tracing::debug!(%error, "a write that was killed is ended later"),
        }
    }

    /// Writes, and warns of the conflict copies that this write made.
    fn watching<R>(&self, folder: &Folder, id: &TicketId, write: impl FnOnce() -> R) -> R {
        let kept = || -> Vec<String> {
            let id = tickets::Id::new(id.as_str()).ok().filter(|_| self.tells);
            id.map(|id| folder.conflict_copies_of(&id)).unwrap_or_default()
        };
        let before = kept();
        let written = write();
        let mut after = kept();
        after.retain(|name| !before.contains(name));
        self.tell(folder, &after);
        written
    }

    fn tell(&self, folder: &Folder, kept: &[String]) {
        for name in kept.iter().filter(|_| self.tells) {
            let file = folder.path().join(name);
            tracing::warn!(
                "{} was written at the same moment as something else in its ticket's file: take over what you need of it, \
                 and delete it",
                file.display()
            );
        }
    }
}

/// The name of the ticket's file in the folder: its id, or another where a file states to be this ticket.
pub(crate) fn resolve(folder: &Folder, id: &TicketId) -> Result<tickets::Id, Unwritten> {
    let id = tickets::Id::new(id.as_str())?;
    let file = folder.file(&id);
    let is_there = |path: &Path| {
        let failed = |error| {
            Unwritten::Failed(format!(
                "cannot look for {}: {}",
                path.display(),
                text::os_message(&error)
            ))
        };
        path.try_exists().map_err(failed)
    };
    if is_there(&file)? {
        Ok(id)
    } else if is_there(folder.path())? {
        renamed_file(folder, &id)?.ok_or(Unwritten::Missing)
    } else {
        let folder = folder.path().display();
        Err(Unwritten::Failed(format!(
            "the ticket folder {folder} is not there"
        )))
    }
}

/// The file under another name that states to be the ticket, and is as crew leaves a ticket at work; none
/// where several are.
fn renamed_file(folder: &Folder, id: &tickets::Id) -> Result<Option<tickets::Id>, Unwritten> {
    let states = |problem: &tickets::Problem| matches!(&problem.kind, ProblemKind::IdDiffers(stated) if stated == id.as_str());
    let mut found = folder.each()?.filter(|reading| {
        let read = reading.outcome.as_ref().ok();
        read.is_some_and(|read| read.status == Status::InProgress) && reading.problems().iter().any(states)
    });
    let first = found
        .next()
        .and_then(|reading| tickets::Id::new(&reading.name).ok());
    Ok(first.filter(|_| found.next().is_none()))
}

/// Adds a note, once: performed again after a crash, this finds the note of that moment with the same text,
/// whatever was written below it since. crew's own note is one line, so that it is known as crew's and a
/// person's text below it is not; an agent's is quoted below the agent's name.
fn note(folder: &Folder, id: &TicketId, note: &Note) -> Result<(), Unwritten> {
    let id = resolve(folder, id)?;
    let at = Timestamp::from_millisecond(note.at.0).unwrap_or_default();
    let text = match &note.by {
        Some(agent) => tickets::note_by_agent(agent.as_str(), &note.text),
        None => note.text.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let read = folder.read(&id)?;
    let wanted = tickets::Note { at, text };
    let is_it = |there: &tickets::Note| {
        let below = there.text.lines().nth(wanted.text.lines().count());
        let goes_on = note.by.is_some() && below.is_some_and(|line| line.starts_with('>'));
        there.begins_as(&wanted) && !goes_on
    };
    if read.notes.iter().any(is_it) {
        return Ok(());
    }
    Ok(folder.add_note(&id, &wanted.text, at)?)
}

/// Makes the ticket's file say this, and returns the file's name.
fn write(folder: &Folder, id: &TicketId, filing: &Filing) -> Result<tickets::Id, Unwritten> {
    let id = resolve(folder, id)?;
    let status = match filing.status {
        FileStatus::Open => Status::Open,
        FileStatus::InProgress => Status::InProgress,
        FileStatus::Closed => Status::Closed,
    };
    let note = filing.note.as_ref().map(|note| tickets::Note {
        at: Timestamp::from_millisecond(note.at.0).unwrap_or_default(),
        text: note.text.clone(),
    });
    let tags = |tags: &mut BTreeSet<String>| tags.clone_from(&filing.tags);
    folder.set_state(&id, Some(status), tags, note.as_ref())?;
    for dep in &filing.deps {
        let dep = tickets::Id::new(dep.as_str())?;
        match folder.dep(&id, &dep) {
            // Who deleted the part, or made it wait for the whole, has decided otherwise.
            Ok(_) | Err(tickets::Error::NotFound { .. } | tickets::Error::Cycle { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use engine::Observation;
    use model::ticket::Origin;

    use super::*;
    use crate::place::tests::place_in;

    #[test]
    fn a_lock_that_another_process_holds_passes() {
        let locked = tickets::Error::Locked {
            path: ".lock".into(),
            seconds: 30,
        };
        assert!(matches!(Unwritten::from(locked), Unwritten::Passing(_)));
    }

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

    #[test]
    fn a_note_that_is_added_again_after_a_crash_is_there_once() {
        let dir = tempfile::tempdir().unwrap();
        let text =
            "---\nid: k-1\nstatus: open\ndeps: []\nlinks: []\ntype: task\npriority: 2\n---\n# A ticket\n";
        std::fs::write(dir.path().join("k-1.md"), text).unwrap();
        let folder = Folder::at(dir.path()).unwrap();
        let (id, file) = (TicketId::new("k-1").unwrap(), tickets::Id::new("k-1").unwrap());
        let texts = || -> Vec<String> {
            let read = folder.read(&file).unwrap();
            read.notes.into_iter().map(|note| note.text).collect()
        };
        let decided = [
            (1_000, "BLOCKED: no key\n\nand no door"),
            (60_000, "BLOCKED: no lock"),
            (120_000, "BLOCKED: no key\n\nand no door"),
        ];
        let crews = |said: &str, at| Note {
            text: said.to_owned(),
            by: None,
            at: Time(at),
        };
        for (at, said) in decided {
            note(&folder, &id, &crews(said, at)).unwrap();
            // A person answers it before the engine that was killed is up again.
            folder.add_note(&file, "look again", Timestamp::now()).unwrap();
            note(&folder, &id, &crews(said, at)).unwrap();
        }
        let blocked = texts().into_iter().filter(|text| text.starts_with("BLOCKED"));
        let expected = [
            "BLOCKED: no key and no door",
            "BLOCKED: no lock",
            "BLOCKED: no key and no door",
        ];
        assert_eq!(blocked.collect::<Vec<_>>(), expected);
        let other = TicketId::new("k-2").unwrap();
        let noted = note(&folder, &other, &crews("its file is gone", 0));
        assert!(matches!(noted, Err(Unwritten::Missing)), "{noted:?}");
        std::fs::rename(dir.path(), dir.path().with_extension("away")).unwrap();
        let noted = note(&folder, &id, &crews("its folder is gone", 0));
        std::fs::rename(dir.path().with_extension("away"), dir.path()).unwrap();
        assert!(matches!(noted, Err(Unwritten::Failed(_))), "{noted:?}");
    }
    #[test]
    fn an_agents_note_is_there_once_in_its_name_and_is_no_part_of_its_task() {
        let dir = tempfile::tempdir().unwrap();
        let text =
            "---\nid: k-1\nstatus: open\ndeps: []\nlinks: []\ntype: task\npriority: 2\n---\n# A ticket\n";
        std::fs::write(dir.path().join("k-1.md"), text).unwrap();
        let folder = Folder::at(dir.path()).unwrap();
        let (id, file) = (TicketId::new("k-1").unwrap(), tickets::Id::new("k-1").unwrap());
        let task = || {
            crate::reading::Reading::of(&folder.read(&file).unwrap())
                .unwrap()
                .spec
                .digest
        };
        let before = task();
        for said in ["I see\n\n# no heading", "I see", "I see\n"] {
            let note_of_ann = Note {
                text: said.to_owned(),
                by: Some(AgentName::new("ann").unwrap()),
                at: Time(1_000),
            };
            note(&folder, &id, &note_of_ann).unwrap();
            note(&folder, &id, &note_of_ann).unwrap();
        }
        let notes: Vec<String> = folder
            .read(&file)
            .unwrap()
            .notes
            .into_iter()
            .map(|one| one.text)
            .collect();
        let first = "Note by the agent ann:\n> I see\n>\n> # no heading";
        assert_eq!(notes, [first, "Note by the agent ann:\n> I see"]);
        assert_eq!(task(), before);
    }
}
