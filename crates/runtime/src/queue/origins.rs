//! Origins: whether a person or git brought a ticket's file into the state in which it was seen.
//!
//! docs/design/ticket-files.md has the reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Observation, driver};
use git::{Movement, Oid, Repository, Traces};
use model::ticket::{FileStatus, Filing, Origin};
use tickets::{Change, Folder, Kind, Read};

use super::doubtful::{Content, Doubtful};
use super::identity::Identity;
use super::seen::{PIECE, Seen, observation};
use super::tracked;
use crate::clock::Stopwatch;
use crate::{Place, Reading, outputs};

/// The file in crew's folder with the traces that an engine saw last.
const FILE: &str = "git-traces";
/// For how long after git has moved the changes that are noticed are taken for its work.
pub(super) const AFTERMATH: Duration = Duration::from_secs(5);

/// The traces of git, and what they say about changes.
pub(crate) struct Origins {
    repository: Repository,
    root: PathBuf,
    file: PathBuf,
    runs_dir: PathBuf,
    folder: Identity,
    traces: Option<Traces>,
    moved: Option<Stopwatch>,
    /// Whether git had moved between the last engine and the first look of this one, or no engine was here.
    moved_before: Option<bool>,
    /// The commits that were made since git last moved, after the one that HEAD was at before.
    commits: Option<(Oid, Vec<Oid>)>,
    /// Whether an engine was here before this one.
    has_predecessor: bool,
    /// Whether this engine has looked at the files.
    has_started: bool,
    /// Whether an engine was here before, and its journal is gone.
    is_journal_lost: bool,
}

impl Origins {
    pub(super) fn new(place: &Place) -> Self {
        let file = place.crew_dir.join(FILE);
        let text = std::fs::read_to_string(&file).ok();
        Self {
            repository: place.repository.clone(),
            root: place.root.clone(),
            file,
            runs_dir: place.runs_dir.clone(),
            folder: Identity::new(place),
            has_predecessor: text.is_some(),
            traces: text.map(|text| Traces::of_text(&text)),
            moved: None,
            moved_before: None,
            commits: None,
            has_started: false,
            is_journal_lost: false,
        }
    }

    /// An engine begins with the files. Where none was here before, they are as they came with the
    /// repository.
    pub(super) fn start(&mut self, is_journal_new: bool) {
        // Later looks at everything come after this engine's own traces.
        if std::mem::replace(&mut self.has_started, true) {
            return;
        }
        // crew's whole folder may be gone with the journal. git has the refs of attempts still.
        self.is_journal_lost =
            is_journal_new && (self.has_predecessor || !self.tickets_with_attempts().is_empty());
    }

    /// Looks at the traces of git. `is_first`: every file is looked at then, and a git that is at work is
    /// waited for.
    #[expect(
        clippy::disallowed_methods,
        reason = "of the end of another git nobody is told"
    )]
    pub(super) fn look(&mut self, is_first: bool) {
        if is_first {
            let waited = Stopwatch::start();
            while self.is_git_at_work() && waited.elapsed() < AFTERMATH {
                std::thread::sleep(super::LOOK_AGAIN);
            }
        }
        self.folder.look();
        let is_new_here = self.traces.is_none();
        self.look_at_traces();
        if is_first && self.moved_before.is_none() {
            self.moved_before = Some(is_new_here || self.moved.take().is_some());
        }
    }

    fn look_at_traces(&mut self) {
        let now = self.repository.traces();
        if self.traces.as_ref() == Some(&now) {
            return;
        }
        self.note(now.clone());
        // Without the file, the next engine takes everything that git has for its work.
        if let Err(error) = std::fs::write(&self.file, now.to_text()) {
            tracing::debug!(%error, "the traces of git are not kept");
        }
    }

    /// Notes the present traces, and the movement that they show.
    fn note(&mut self, now: Traces) {
        let movement = match &self.traces {
            Some(before) => self.repository.movement(before, &now),
            None => Movement::Nothing,
        };
        match movement {
            Movement::Nothing => {}
            Movement::Commits { from, made } => {
                let (_, all) = self.commits.get_or_insert((from, Vec::new()));
                all.extend(made);
            }
            Movement::Moved => {
                self.moved = Some(Stopwatch::start());
                self.commits = None;
            }
        }
        self.traces = Some(now);
    }

    /// Whether git had moved before the first look.
    pub(super) fn had_moved(&self) -> bool {
        self.moved_before == Some(true) || self.has_moved()
    }

    /// Whether git has moved a moment ago.
    pub(super) fn has_moved(&self) -> bool {
        self.moved.is_some_and(|moved| moved.elapsed() < AFTERMATH)
    }

    /// Whether the ticket folder has replaced another one: nobody can see who took the files that are not in
    /// it.
    pub(super) fn is_folder_replaced(&self) -> bool {
        self.folder.is_replaced()
    }

    pub(super) fn is_git_at_work(&self) -> bool {
        self.repository.is_root_index_locked()
    }

    /// The files whose content somebody wrote and then committed.
    pub(super) fn committed(&self, blobs: &[(PathBuf, Oid)]) -> BTreeSet<PathBuf> {
        let Some((from, made)) = self.commits.as_ref().filter(|_| !blobs.is_empty()) else {
            return BTreeSet::new();
        };
        let found = self.repository.are_committed_only(blobs, from, made);
        found.into_iter().cloned().collect()
    }

    /// Those of the files, each by its name in the folder, that git tracks.
    pub(super) fn tracked(&self, folder: &Folder, names: &[&str]) -> BTreeSet<String> {
        let path = |name: &&str| self.path_in_repository(&folder.path().join(format!("{name}.md")));
        let paths: Vec<PathBuf> = names.iter().map(path).collect();
        let tracked = tracked::are_tracked(&self.repository, &paths).into_iter();
        let tracked = names.iter().zip(tracked).filter(|(_, is_tracked)| *is_tracked);
        tracked.map(|(name, _)| (*name).to_owned()).collect()
    }

    /// Reports the tracked files that are not there, at the first look at every file.
    pub(super) fn report_deleted<S: Fn(driver::Event)>(&self, folder: &Folder, to: &mut Seen<'_, S>) {
        let origin = match (self.had_moved(), self.is_folder_replaced()) {
            (true, _) => Origin::Git,
            (false, true) => Origin::Unknown,
            (false, false) => Origin::Person,
        };
        let in_repository = self.path_in_repository(folder.path());
        tracked::report(&self.repository, (folder, &in_repository), origin, to);
    }

    /// Those of the files, which git does not have as they are, whose status git may have written all the
    /// same: it has moved, and has that status for the file in HEAD or in the index. A person has edited the
    /// text since.
    pub(super) fn with_status_of_git(
        &self,
        has_moved: bool,
        files: Vec<(PathBuf, FileStatus)>,
    ) -> BTreeSet<PathBuf> {
        if !has_moved {
            return BTreeSet::new();
        }
        let paths: Vec<PathBuf> = files
            .iter()
            .map(|(file, _)| self.path_in_repository(file))
            .collect();
        let statuses = tracked::statuses(&self.repository, &paths).into_iter();
        let found = files.into_iter().zip(statuses);
        let found = found.filter(|((_, status), in_git)| in_git.contains(status));
        found.map(|((file, _), _)| file).collect()
    }

    /// How git knows each of the files.
    pub(super) fn contents(&self, files: Vec<PathBuf>) -> Vec<Content> {
        let known = self.repository.known_blobs(&files);
        let known = files.into_iter().zip(known);
        known
            .map(|(file, blob)| match blob {
                Some((blob, true)) => Content::Known(self.path_in_repository(&file), blob),
                Some((_, false)) => Content::New,
                None => Content::Unasked,
            })
            .collect()
    }

    /// Whether a git may be about to move HEAD, which has changed these files: it gives the index back first.
    pub(super) fn is_about_to_move(&self, paths: &[PathBuf]) -> bool {
        !self.has_moved() && self.repository.is_index_ahead(paths)
    }

    /// Takes changes, judges them, and passes them on. `first`: every file is looked at, and none waits.
    /// `own`: the files that crew has just written itself.
    pub(super) fn judging<'j, 's, S: Fn(driver::Event)>(
        &'j mut self,
        folder: &'j Folder,
        doubtful: &'j mut Doubtful,
        (first, own): (bool, &'j BTreeMap<String, Filing>),
        to: &'j mut Seen<'s, S>,
    ) -> Judging<'j, 's, S> {
        Judging {
            origins: self,
            folder,
            doubtful,
            first,
            own,
            to,
            changes: Vec::new(),
        }
    }

    /// The path of a file as the repository has it.
    pub(super) fn path_in_repository(&self, file: &Path) -> PathBuf {
        file.strip_prefix(&self.root).unwrap_or(file).to_owned()
    }

    /// The origin of a file that is in progress, where the journal is lost: the folders of its runs, and the
    /// refs of its attempts, show that an agent had it.
    fn of_lost_journal(&self, seen: &Observation, worked_on: &BTreeSet<model::TicketId>) -> Option<Origin> {
        match seen {
            Observation::Read {
                ticket,
                status: FileStatus::InProgress,
                ..
            } if self.is_journal_lost => Some(match worked_on.contains(ticket) {
                true => Origin::LostEngine,
                false => Origin::Unknown,
            }),
            Observation::Read { .. } | Observation::Unreadable { .. } | Observation::Gone { .. } => None,
        }
    }

    /// The tickets that an agent has had, as far as that can be seen without a journal.
    fn tickets_worked_on(&self) -> BTreeSet<model::TicketId> {
        let folders = crate::folders(&self.runs_dir).unwrap_or_default();
        let with_runs = folders.iter().filter_map(|dir| outputs::ticket_of(dir));
        let mut found = self.tickets_with_attempts();
        found.extend(with_runs);
        found
    }

    /// The tickets whose attempt has left its base in git, as each does that has not come to its end.
    fn tickets_with_attempts(&self) -> BTreeSet<model::TicketId> {
        let pins = self.repository.pins().unwrap_or_default();
        let tickets = pins.into_iter().map(|pin| model::TicketId::new(pin.ticket));
        tickets.filter_map(Result::ok).collect()
    }
}

/// Whether a file says what crew has written into it, and nobody has changed that since.
fn says(read: &Read, filing: &Filing) -> bool {
    let reading = Reading::of(&read.ticket);
    reading.is_some_and(|reading| {
        reading.status == filing.status && reading.tags == filing.tags_beside(&reading.spec.tags)
    })
}

/// The origin of a ticket's file as it is now, with this status, where no engine has looked at it: by the
/// traces that the last one left.
#[must_use]
pub fn origin_of(place: &Place, ticket: &model::TicketId, status: FileStatus) -> Origin {
    let mut origins = Origins::new(place);
    let file = place.tickets_dir.join(format!("{ticket}.md"));
    let known = origins.repository.known_blobs(std::slice::from_ref(&file)).pop();
    let is_new_here = origins.traces.is_none();
    origins.note(origins.repository.traces());
    let has_moved = is_new_here || origins.has_moved();
    let path = origins.path_in_repository(&file);
    let Some((blob, true)) = known.flatten() else {
        let in_git = tracked::statuses(&origins.repository, &[path]).concat();
        return match has_moved && in_git.contains(&status) {
            true => Origin::Git,
            false => Origin::Person,
        };
    };
    let blobs = [(path, blob)];
    match (origins.committed(&blobs).is_empty(), has_moved) {
        (false, _) => Origin::Person,
        (true, true) => Origin::Git,
        (true, false) => Origin::Unknown,
    }
}

/// Changes of one look on their way through the judgement.
pub(super) struct Judging<'j, 's, S> {
    origins: &'j mut Origins,
    folder: &'j Folder,
    doubtful: &'j mut Doubtful,
    first: bool,
    own: &'j BTreeMap<String, Filing>,
    to: &'j mut Seen<'s, S>,
    changes: Vec<Change>,
}

impl<S: Fn(driver::Event)> Judging<'_, '_, S> {
    pub(super) fn push(&mut self, change: Change) {
        self.changes.push(change);
        if self.changes.len() == PIECE {
            self.judge();
        }
    }

    pub(super) fn end(mut self) {
        self.judge();
    }

    fn judge(&mut self) {
        let changes = std::mem::take(&mut self.changes);
        let is_read = |change: &&Change| match &change.kind {
            Kind::Added(read) | Kind::Changed(read) => {
                let written = self.own.get(&change.name);
                written.is_none_or(|filing| !says(read, filing))
            }
            Kind::Removed | Kind::Unreadable | Kind::StillUnreadable => false,
        };
        let file = |change: &Change| self.folder.path().join(format!("{}.md", change.name));
        let files: Vec<PathBuf> = changes.iter().filter(is_read).map(&file).collect();
        let contents = self.origins.contents(files.clone());
        let contents: BTreeMap<PathBuf, Content> = files.into_iter().zip(contents).collect();
        // Since the files were hashed: git may have moved, and a person edited its file, just before that.
        self.origins.look_at_traces();
        let origins = &*self.origins;
        let has_moved = match self.first {
            true => origins.had_moved(),
            false => origins.has_moved(),
        };
        let edited = changes.iter().filter_map(|change| match &change.kind {
            Kind::Added(read) | Kind::Changed(read) => {
                let is_new = contents.get(&file(change)) == Some(&Content::New);
                let status = Reading::of(&read.ticket).filter(|_| is_new)?.status;
                Some((file(change), status))
            }
            Kind::Removed | Kind::Unreadable | Kind::StillUnreadable => None,
        });
        let with_status_of_git = origins.with_status_of_git(has_moved, edited.collect());
        let of_edited = |change: &Change| match with_status_of_git.contains(&file(change)) {
            true => Origin::Git,
            false => Origin::Person,
        };
        if self.first {
            let blobs: Vec<(PathBuf, Oid)> = contents.values().filter_map(Content::blob).collect();
            let committed = origins.committed(&blobs);
            let worked_on = match origins.is_journal_lost {
                true => origins.tickets_worked_on(),
                false => BTreeSet::new(),
            };
            for change in changes {
                let found = match contents.get(&file(&change)) {
                    None | Some(Content::New) => of_edited(&change),
                    Some(Content::Known(path, _)) if committed.contains(path) => Origin::Person,
                    Some(Content::Known(_, _)) if origins.had_moved() => Origin::Git,
                    Some(Content::Known(_, _) | Content::Unasked) => Origin::Unknown,
                };
                let Some(mut seen) = observation(change, self.folder, found) else {
                    continue;
                };
                if let Some(lost) = origins.of_lost_journal(&seen, &worked_on)
                    && let Observation::Read { origin, .. } = &mut seen
                {
                    *origin = lost;
                }
                self.to.push(seen);
            }
            return;
        }
        // A git that is at work may have written half of a file only, or is about to write it once more.
        let is_at_work = origins.is_git_at_work();
        for change in changes {
            let (name, path) = (change.name.clone(), file(&change));
            let text = match &change.kind {
                Kind::Added(read) | Kind::Changed(read) => Some(read.ticket.document.text().to_owned()),
                Kind::Removed | Kind::Unreadable | Kind::StillUnreadable => None,
            };
            let is_doubtful = match contents.get(&path) {
                None => change.kind == Kind::Removed,
                // It is judged as it was read, which is not what was hashed where it has changed since.
                Some(Content::New) => {
                    let now = std::fs::read(&path).unwrap_or_default();
                    is_at_work || text.as_ref().is_none_or(|text| text.as_bytes() != now)
                }
                Some(Content::Known(..) | Content::Unasked) => true,
            };
            let found = of_edited(&change);
            let Some(seen) = observation(change, self.folder, found) else {
                continue;
            };
            match is_doubtful {
                true => self.doubtful.put(name, (path, text), seen),
                false => {
                    self.doubtful.forget(&name);
                    self.to.push(seen);
                }
            }
        }
    }
}
