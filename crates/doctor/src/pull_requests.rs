//! The client of pull requests, where work lands by them.

use model::settings::Settings;
use runtime::Place;

use crate::{Area, Caller, Finding};

const AREA: Area = Area::Repository;

/// Checks that `gh` is there and logged in.
pub(super) fn look(caller: &Caller<'_>, place: &Place, settings: &Settings, found: &mut Vec<Finding>) {
    found.extend(
        runtime::pull_request_client(place, settings, &caller.options()).map(|looked| match looked {
            Ok(program) => Finding::fine(AREA, format!("{} makes pull requests", program.display())),
            Err(why) => Finding::wrong(
                AREA,
                format!("no pull request can be made: {why}"),
                "`gh auth status`, in a terminal, shows what is wrong",
            ),
        }),
    );
}
