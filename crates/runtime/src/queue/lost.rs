//! Lost files: those that were known before their folder went, and must be missed if it comes back without
//! them.

use std::collections::BTreeSet;

use engine::{Observation, driver};
use model::TicketId;
use model::ticket::Origin;
use tickets::{Folder, Scan};

use super::doubtful::Doubtful;
use super::origins::Origins;
use super::seen::Seen;

/// The names of the files.
#[derive(Default)]
pub(super) struct Lost(BTreeSet<String>);

impl Lost {
    /// Begins anew with a folder that is gone: every file in it is looked at once it is back.
    pub(super) fn forget_all(&mut self, scan: &mut Scan, doubtful: &mut Doubtful) {
        self.0.extend(scan.names().chain(doubtful.names()).cloned());
        *doubtful = Doubtful::default();
        *scan = Scan::new(scan.folder().clone());
    }

    /// Reports the files that have not come back with the folder.
    pub(super) fn report<S: Fn(driver::Event)>(
        self,
        folder: &Folder,
        origins: &Origins,
        to: &mut Seen<'_, S>,
    ) {
        let origin = match origins.has_moved() {
            true => Origin::Git,
            false => Origin::Unknown,
        };
        for name in self.0 {
            let file = folder.path().join(format!("{name}.md"));
            if let Ok(ticket) = TicketId::new(&name)
                && !file.exists()
            {
                to.push(Observation::Gone {
                    ticket,
                    origin,
                    is_tracked: false,
                });
            }
        }
    }
}
