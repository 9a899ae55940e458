//! What people see: everything that is printed goes through here, and is made harmless on its way.

mod out;
mod problem;
mod screen;
mod table;
mod wrap;

pub(crate) use model::view::{clock as clock_time, cost, span, tokens};
pub(crate) use out::{Out, Style, Terminal};
pub(crate) use problem::show as show_problem;
pub(crate) use screen::Screen;
#[cfg(test)]
pub(crate) use table::columns;
pub(crate) use table::{Cell, Table};
pub(crate) use wrap::wrap;

/// One line of untrusted text, fit to be shown.
pub(crate) fn clean(text: &str) -> String {
    harness::sanitise::line(text)
}
