//! The pull request of a ticket.

use model::{Moment, Oid, ticket};
use schemars::JsonSchema;
use serde::Serialize;

/// The pull request of a ticket.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PullRequest {
    /// The number at the host.
    number: u64,
    /// The address of its page.
    url: String,
    /// The commit that crew pushed last.
    head: Oid,
    /// The state in which it was seen last, in words; `null` while the ticket does not wait for it.
    says: Option<String>,
    /// The time of the next look at it; `null` while the ticket does not wait for that.
    look_at: Option<Moment>,
}

impl PullRequest {
    /// The document of a ticket's pull request; none where it has none.
    #[must_use]
    pub fn of(ticket: &ticket::Ticket) -> Option<Self> {
        let request = ticket.pull_request.as_deref()?;
        let proposal = ticket.proposal().map(|(_, proposal)| proposal);
        Some(Self {
            number: request.number,
            url: request.url.clone(),
            head: request.head.clone(),
            says: proposal.map(|proposal| text::sanitise::line(&proposal.words())),
            look_at: proposal.and_then(|proposal| proposal.due).map(Moment),
        })
    }
}
