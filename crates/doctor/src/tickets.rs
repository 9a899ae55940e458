//! The queue's files.

use runtime::Place;
use tickets::Folder;

use crate::fix::Fix;
use crate::{Area, Finding};
use client::error::Error;

const AREA: Area = Area::Tickets;

pub(super) fn look(place: &Place, found: &mut Vec<Finding>) {
    let folder = match Folder::at(&place.tickets_dir) {
        Ok(folder) => folder,
        Err(_) if !place.settings_path.exists() => return,
        Err(_) if place.journal.exists() => {
            found.push(
                Finding::wrong(
                    AREA,
                    format!("{} is gone, and with it the queue", place.tickets_dir.display()),
                    "put it back (git checkout -- .tickets, if it is tracked); an empty folder would mean that every \
                     ticket was deleted, so crew makes none",
                ),
            );
            return;
        }
        Err(_) => {
            found.push(
                Finding::note(
                    AREA,
                    format!("{} is not there yet", place.tickets_dir.display()),
                    "crew doctor --fix, or `crew ticket create` with the first ticket",
                )
                .mended_by(Fix::MakeFolder(place.tickets_dir.clone())),
            );
            return;
        }
    };
    if let Ok(Some(known)) = place.other_tickets() {
        let given = place.tickets_dir.clone();
        found.push(Finding::error(
            AREA,
            &runtime::Error::OtherTickets { known, given }.into(),
        ));
    }
    match folder.conflict_copies() {
        Err(error) => found.push(Finding::error(AREA, &Error::Tickets(error))),
        Ok(kept) => found.extend(kept.into_iter().map(|name| {
            Finding::note(
                AREA,
                format!(
                    "{}: written at the same moment as something else in its ticket's file",
                    place.tickets_dir.join(name).display()
                ),
                "take over what you need of it, and delete it",
            )
        })),
    }
    match folder.load() {
        Err(error) => found.push(Finding::error(AREA, &Error::Tickets(error))),
        Ok(readings) => {
            let tickets = text::counted(readings.tickets().count(), "ticket");
            found.push(Finding::fine(AREA, format!("{tickets} can be read")));
            found.extend(readings.problems().map(|problem| {
                Finding::note(
                    AREA,
                    problem.to_string(),
                    "edit the file; crew uses it as soon as it can be read",
                )
            }));
        }
    }
}
