//! Observations that were made and not yet reported.

use engine::{Observation, driver};
use model::ticket::Origin;
use model::{TicketId, Time};
use tickets::{Change, Folder, Kind, ProblemKind, Read};

use crate::Reading;

/// How many files are told of at once at most.
pub(super) const PIECE: usize = 100;

/// Observations that were made and not yet reported. Many files are reported in several pieces, while the
/// look goes on: each piece is made durable at once, and no more than one is kept here.
pub(super) struct Seen<'s, S> {
    look: u64,
    /// Files that are not there any more: told last, when it is known that the folder still is.
    gone: Vec<Observation>,
    piece: Vec<Observation>,
    saw: &'s S,
}

impl<'s, S: Fn(driver::Event)> Seen<'s, S> {
    pub(super) fn new(look: u64, saw: &'s S) -> Self {
        Self {
            look,
            gone: Vec::new(),
            piece: Vec::new(),
            saw,
        }
    }

    pub(super) fn push(&mut self, seen: Observation) {
        if let Observation::Gone { .. } = seen {
            self.gone.push(seen);
            return;
        }
        if self.piece.len() == PIECE {
            let piece = std::mem::take(&mut self.piece);
            self.report(piece, false);
        }
        self.piece.push(seen);
    }

    /// The look is over. The last piece says whether that was all there is.
    pub(super) fn end(mut self, whole: bool) {
        self.piece.append(&mut self.gone);
        if whole || !self.piece.is_empty() {
            let piece = std::mem::take(&mut self.piece);
            self.report(piece, whole);
        }
    }

    fn report(&self, seen: Vec<Observation>, whole: bool) {
        let look = self.look;
        (self.saw)(driver::Event::Observed { look, seen, whole });
    }
}

/// A change of a file as an observation; none if its name cannot be a ticket's id.
pub(super) fn observation(change: Change, folder: &Folder, origin: Origin) -> Option<Observation> {
    let ticket = TicketId::new(&change.name).ok()?;
    let now = crate::clock::now();
    Some(match change.kind {
        Kind::Removed => Observation::Gone {
            ticket,
            origin,
            is_tracked: false,
        },
        Kind::Unreadable | Kind::StillUnreadable => Observation::Unreadable { ticket, at: now },
        Kind::Added(read) | Kind::Changed(read) => match Reading::of(&read.ticket) {
            None => Observation::Unreadable { ticket, at: now },
            Some(Reading {
                spec,
                status,
                tags,
                notes,
            }) => Observation::Read {
                ticket,
                spec,
                status,
                tags,
                notes,
                changed_at: Time(read.stable_since.as_millisecond()),
                origin,
                renamed: renamed(&read, folder),
            },
        },
    })
}

/// The ticket that the file states to be, where that is another and has no file.
fn renamed(read: &Read, folder: &Folder) -> Option<TicketId> {
    let stated = read.ticket.problems.iter().find_map(|problem| {
        if let ProblemKind::IdDiffers(id) = &problem.kind {
            Some(id)
        } else {
            None
        }
    })?;
    let id = tickets::Id::new(stated).ok()?;
    let has_file = folder.file(&id).try_exists().unwrap_or(true);
    TicketId::new(stated.as_str()).ok().filter(|_| !has_file)
}
