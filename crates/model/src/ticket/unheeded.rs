//! Changes of a ticket's file on which nothing is decided, because they are no person's word.

use serde::{Deserialize, Serialize};

use super::FileStatus;
use crate::{TicketId, Time};

/// The origin of the present state of a ticket's file, as far as crew can see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A person, or an agent where nothing more than the text follows: git does not have this content, or the
    /// one file was deleted by itself while no agent was at work.
    #[default]
    Person,
    /// git: it has this content, or moved while the file vanished.
    Git,
    /// Not to be seen: git has this content and did not move, or several files vanished at once.
    Unknown,
    /// An engine whose journal is gone: the folder of one of its runs is still there.
    LostEngine,
    /// A person or an agent: agents were at work when the file was closed or went, and one of them may have
    /// done that.
    Agents,
}

/// A change of a ticket's file on which nothing is decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unheeded {
    /// The origin of the change. A person's: somebody has said that the ticket goes on without its file.
    pub origin: Origin,
    /// The status that the file states now; none if there is no file.
    pub says: Option<FileStatus>,
    /// Another file that states to be this ticket, or has its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed: Option<TicketId>,
    /// The time at which it was noticed.
    pub since: Time,
}

impl Unheeded {
    /// True if a person is asked about it. git's own work needs no answer.
    #[must_use]
    pub fn asks(&self) -> bool {
        match self.origin {
            Origin::Unknown | Origin::LostEngine | Origin::Agents => true,
            Origin::Git | Origin::Person => false,
        }
    }

    /// True if this is the same change as the other, whenever each was noticed.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (self.origin, self.says, &self.renamed) == (other.origin, other.says, &other.renamed)
    }

    /// The change, in words.
    #[must_use]
    pub fn words(&self) -> String {
        if let Some(renamed) = &self.renamed {
            return format!("its file is gone, and {renamed}.md seems to be it under another name");
        }
        match (self.origin, self.says) {
            (Origin::Git, Some(status)) => {
                format!(
                    "git has changed its file, which says {} now: nothing follows from that",
                    status.word()
                )
            }
            (Origin::Git, None) => {
                "git has taken its file away: crew goes on when it is back (`git stash pop`, or the branch that \
                 has it)"
                    .to_owned()
            }
            (Origin::Person, _) => "it goes on without its file, as a person has said".to_owned(),
            (Origin::Agents, Some(status)) => {
                format!(
                    "its file was set to {} while agents were at work, and crew cannot know whether a person wants that",
                    status.word()
                )
            }
            (Origin::Agents, None) => {
                "its file went while agents were at work, and crew cannot know whether a person wants that".to_owned()
            }
            (Origin::Unknown | Origin::LostEngine, Some(status)) => {
                format!(
                    "its file says {}, and crew cannot see whether a person wants that or git wrote it",
                    status.word()
                )
            }
            (Origin::Unknown | Origin::LostEngine, None) => {
                "its file is gone, and crew cannot see whether a person wants that or git took it".to_owned()
            }
        }
    }
}
