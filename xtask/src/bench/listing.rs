//! How long listings of a long queue take.

use std::fs;

use super::now;
use super::place::Place;
use super::repository::{self, SMALL};

/// The tickets in the folder.
pub(crate) const TICKETS: usize = 5_000;
/// The listings.
const LISTINGS: [&str; 4] = ["ready", "blocked", "ls", "closed"];
/// The most milliseconds that one may take.
pub(crate) const GOAL: f64 = 10.0;

/// The times of a listing, in milliseconds.
pub(crate) struct Listed {
    pub(crate) listing: &'static str,
    /// Without an index: every file is read.
    pub(crate) first: Vec<f64>,
    /// With one, and no file that has changed.
    pub(crate) again: Vec<f64>,
}

/// Lists so many tickets: two in five are closed, and most wait for two others.
pub(crate) fn run(place: &Place, rounds: usize) -> Result<Vec<Listed>, String> {
    repository::make(place, "listing", SMALL)?;
    repository::set_up(place, "listing", "#!/bin/sh\n", "[agents]\ncount = 1")?;
    let dir = place.path("listing");
    let crew = |arguments: &[&str]| place.said_in(&dir, &place.crew, arguments);
    // This makes crew's folder, in which the index stands.
    crew(&["run", "--until-idle"])?;
    for n in 0..TICKETS {
        let status = if n % 5 < 2 { "closed" } else { "open" };
        let deps = match n {
            0..10 => String::new(),
            _ => format!("t-{:04}, t-{:04}", n / 2, n - 7),
        };
        let id = format!("t-{n:04}");
        let text = repository::ticket(&id, status, &deps);
        place.write(&format!("listing/.tickets/{id}.md"), &text)?;
    }
    let index = dir.join(".crew/tickets.index");
    let mut listed = Vec::new();
    for listing in LISTINGS {
        let (mut first, mut again) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            fs::remove_file(&index).ok();
            for times in [&mut first, &mut again] {
                let begun = now();
                crew(&["ticket", listing])?;
                times.push(begun.elapsed().as_secs_f64() * 1000.0);
            }
        }
        listed.push(Listed {
            listing,
            first,
            again,
        });
    }
    place.remove("listing")?;
    Ok(listed)
}
