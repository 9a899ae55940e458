//! The output for people: everything that is printed goes through here, and is made harmless on its way.

mod out;
mod pager;
mod problem;
mod screen;
mod table;
mod talk;
mod wrap;

pub(crate) use client::clock::{in_words, local, local_date_time, local_time};
pub(crate) use client::disk_use::in_words as bytes;
pub(crate) use model::view::{branch, cost, left, span, tokens};
pub(crate) use out::{Out, Style, Terminal};
pub(crate) use pager::{page, page_table, show_with_man};
pub(crate) use problem::{show as show_problem, warn};
pub(crate) use screen::Screen;
#[cfg(test)]
pub(crate) use table::columns;
pub(crate) use table::{Cell, Table};
pub(crate) use talk::Talk;
pub(crate) use wrap::{wrap, wrap_line};

/// How many lines of what a check printed are shown: as a rule what failed first, its own summary, and how it
/// ended.
const MOST: usize = 12;

/// The lines of what a check printed that are shown: the last ones, and the first that name a failure.
pub(crate) fn excerpt(printed: &str) -> Vec<&str> {
    text::excerpt(printed, MOST)
}

/// One line of untrusted text, fit to be shown.
pub(crate) fn clean(text: &str) -> String {
    text::sanitise::line(text)
}
