//! The queue as a folder of Markdown files, the one that `tk` keeps.
//!
//! Invariants:
//! * A file is changed only by replacing the line of the key that is set, or by appending a note; every other byte stays.
//! * A write happens under the folder's lock, on what the file holds at that moment, and becomes visible whole.
//! * One bad file is one [`Problem`]; it never fails a reading of the folder.
//! * Nothing here prints, reads the clock or reads the environment.

mod beneath;
mod body;
mod clean;
mod displaced;
mod document;
mod error;
mod folder;
mod graph;
mod id;
mod lock;
mod operate;
mod problem;
mod query;
mod render;
mod scan;
mod ticket;
mod tree;
mod watch;
mod write;
mod yaml;

pub use body::Note;
pub use clean::{clean, clean_line};
pub use document::Document;
pub use error::Error;
pub use folder::{Folder, Reading, Readings, Stamp};
pub use graph::{BlockReason, Blocker, Graph};
pub use id::{Id, prefix, random};
pub use lock::Lock;
pub use operate::{Dependency, Filter, Linked, New, blocked, closed, list, ready};
pub use problem::{Problem, ProblemKind};
pub use query::render_query;
pub use render::{
    render_blocked, render_closed, render_cycles, render_dep, render_link, render_list, render_note,
    render_ready, render_show, render_status, render_undep, render_unlink,
};
pub use scan::{Change, Kind, Read, Scan};
pub use ticket::{Status, Text, Ticket};
pub use tree::render_tree;
pub use watch::{Hint, Watch};
pub use yaml::Value;
