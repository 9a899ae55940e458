//! The diff that a person looks at: what a ticket would change on the target, or has changed there.

use model::ticket::Ticket;
use model::{Oid, TicketId};

use crate::message::{Diff, DiffLine};
use crate::pane::Pane;

/// The most characters of a line that are kept.
const MAX_CHARS: usize = 2_000;

/// A diff that is looked at.
#[derive(Clone, Debug)]
pub(crate) struct Looked {
    /// The ticket.
    pub(crate) ticket: TicketId,
    /// The pane from which it was opened, and to which its end leads.
    pub(crate) back: Pane,
    /// What it shows, sanitised, or the reason why there is nothing; none while it is read.
    pub(crate) read: Option<Result<Diff, String>>,
    /// How the work stood when the reading began.
    stands: Stands,
}

/// How submitted work stands: its merge, and the tip on which a word of approval is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stands {
    merge: Option<Oid>,
    tip: Option<Oid>,
}

impl Stands {
    fn of(ticket: Option<&Ticket>) -> Self {
        Self {
            merge: ticket
                .and_then(Ticket::candidate)
                .map(|candidate| candidate.commit.clone()),
            tip: ticket.and_then(Ticket::tip_to_approve).cloned(),
        }
    }
}

impl Looked {
    /// Begins to read the diff of a ticket, which stands like this.
    pub(crate) fn begin(id: TicketId, ticket: Option<&Ticket>, back: Pane) -> Self {
        Self {
            ticket: id,
            back,
            read: None,
            stands: Stands::of(ticket),
        }
    }

    /// Takes what was read.
    pub(crate) fn take(&mut self, read: Result<Diff, String>) {
        let read = match read {
            Ok(diff) => Ok(Diff {
                lines: diff.lines.iter().map(clean).collect(),
                ..diff
            }),
            Err(why) => Err(text::sanitise::line(&why)),
        };
        self.read = Some(read);
    }

    /// The commit that has all that is shown.
    pub(crate) fn commit(&self) -> Option<&Oid> {
        match &self.read {
            Some(Ok(diff)) => diff.commit.as_ref(),
            Some(Err(_)) | None => None,
        }
    }

    /// Whether there is other work than that which is shown, as the ticket stands now.
    pub(crate) fn has_moved(&self, ticket: Option<&Ticket>) -> bool {
        self.stands != Stands::of(ticket)
    }
}

/// A line made fit to be shown. The blanks at its end stay.
fn clean(line: &DiffLine) -> DiffLine {
    let one = |text: &str| text::sanitise::text(text).replace('\n', " ");
    let mut text = one(&line.text);
    let mut blanks = one(&line.blanks);
    if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(end);
        text.push('…');
        blanks.clear();
    }
    // A file may have nothing but blanks.
    let end = blanks.char_indices().nth(MAX_CHARS);
    blanks.truncate(end.map_or(blanks.len(), |(end, _)| end));
    DiffLine {
        tone: line.tone,
        text,
        blanks,
    }
}
