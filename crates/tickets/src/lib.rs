//! The queue of tickets: a folder of Markdown files, in the format of `tk`.
//!
//! Invariants:
//! * A change of a file replaces the lines of the key that is set, or appends a note; every other byte stays.
//! * A write happens under the folder's lock, is based on the content at that moment, and is atomic.
//! * A bad file is a [`Problem`] of its own, and never makes reading the folder fail.
//! * Nothing here prints, reads the clock or reads the environment.

mod body;
mod clean;
mod commitment;
mod create;
mod criteria;
mod document;
mod edit;
mod error;
mod folder;
mod front_matter;
mod graph;
mod id;
mod index;
mod list;
mod lock;
mod openat;
mod problem;
mod query;
mod recovery;
mod related;
mod render;
mod row;
mod scan;
mod stamp;
mod ticket;
mod tree;
mod value;
mod watch;
mod write;
mod yaml;

pub use body::{Note, note_by_agent};
pub use commitment::{Commitment, Run};
pub use create::New;
pub use document::Document;
pub use edit::{Dependency, Linked};
pub use error::{Error, SaidByTk};
pub use folder::{Folder, Reading, Readings, Sought};
pub use graph::{BlockReason, Blocker, Graph};
pub use id::{Id, prefix, random};
pub use list::{Filter, blocked, closed, list, ready};
pub use lock::Lock;
pub use problem::{Problem, ProblemKind};
pub use query::render_query;
pub use related::{Related, status_and_title};
pub use render::{
    render_blocked, render_closed, render_cycles, render_dep, render_link, render_list, render_note,
    render_ready, render_show, render_status, render_undep, render_unlink,
};
pub use row::{Row, Rows};
pub use scan::{Change, Kind, Read, Scan};
pub use stamp::Stamp;
pub use ticket::{Status, Text, Ticket};
pub use tree::render_tree;
pub use watch::{Hint, Watch};
pub use yaml::{Field, Record, Value};
