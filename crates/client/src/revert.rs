//! A revert: a ticket of its own that takes back what another has landed.

use model::TicketId;
use model::settings::Settings;
use runtime::{Place, RevertObstacle};
use tickets::{Id, New, Status};

use crate::commits::landed_as;
use crate::error::{Error, Result};
use crate::repository::lift;
use crate::ticket_folder::{Sought, TicketFolder};

/// A revert that was put into the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revert {
    /// The ticket that takes the merge back.
    pub id: String,
    /// The merge.
    pub merge: model::Oid,
}

/// Puts a ticket into the queue that takes back what this one has landed. Nothing of it is on the target
/// before it has passed the checks like any other work.
///
/// # Errors
/// The ticket has not landed; nothing of it is there any more, or later work builds on it; its file cannot be
/// written.
pub fn put(place: &Place, settings: &Settings, ticket: &TicketId) -> Result<Revert> {
    let Some(merge) = landed_as(place, settings, ticket) else {
        return Err(Error::refused(
            format!(
                "{ticket} has not landed on {}, so there is nothing to take back",
                settings.project.target
            ),
            "`crew queue` lists what has landed",
        ));
    };
    let obstacle = runtime::revert_obstacle(place, &settings.project.target, merge.as_str());
    if let Some(why) = obstacle.map_err(|error| lift(place, error))? {
        return Err(Error::refused(
            format!("{ticket} cannot be taken back: {why}"),
            match why {
                RevertObstacle::NeverNew { merge } => {
                    let merge = merge.short();
                    format!(
                        "`git diff {merge}^1...{merge}^2` shows its work, `git log --first-parent {merge}^1` what landed \
                         before it: `crew revert` takes back the ticket that brought the changes"
                    )
                }
                RevertObstacle::NothingLeft { merge } => {
                    let merge = merge.short();
                    format!(
                        "`git show --first-parent {merge}` shows what it added: that is taken back already"
                    )
                }
                RevertObstacle::NoMerge { .. } | RevertObstacle::BuiltUpon { .. } => {
                    format!("crew ticket create \"Take {ticket} back\" -d \"…\"")
                }
            },
        ));
    }
    let folder = tickets::Folder::at(&place.tickets_dir)?;
    if let Some(same) = under_way(&folder, &merge)? {
        return Err(Error::refused(
            format!("{same} takes {ticket} back already"),
            format!("`crew explain {same}` tells how far it is"),
        ));
    }
    let title = match folder.read(&Id::new(ticket.as_str())?) {
        Ok(read) => format!("Revert {ticket}: {}", text::sanitise::line(&read.title)),
        Err(_) => format!("Revert {ticket}"),
    };
    let new = New {
        title,
        description: Some(format!(
            "This takes back the merge {merge}, as which {ticket} has landed. crew makes the commit; if the checks \
             fail on it, mend that without bringing back what {ticket} did."
        )),
        kind: "chore".to_owned(),
        priority: 0,
        reverts: Some(merge.to_string()),
        ..New::default()
    };
    let queue = TicketFolder::find(&Sought::At(place.tickets_dir.clone()))?;
    let id = queue.create(new, None)?;
    Ok(Revert {
        id: id.trim_end().to_owned(),
        merge,
    })
}

/// The ticket that takes this merge back and is not over.
fn under_way(folder: &tickets::Folder, merge: &model::Oid) -> Result<Option<Id>> {
    let mut tickets = folder.each()?.filter_map(|reading| reading.outcome.ok());
    let same = tickets
        .find(|ticket| ticket.status != Status::Closed && ticket.reverts.as_deref() == Some(merge.as_str()));
    Ok(same.map(|ticket| ticket.id))
}
