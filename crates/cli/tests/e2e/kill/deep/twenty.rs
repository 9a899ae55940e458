//! Twenty tickets, four agents, twenty SIGKILLs.

use crate::kill::faults;

#[test]
fn killed_twenty_times_everything_lands_exactly_once() {
    faults::killed(20, 20);
}
