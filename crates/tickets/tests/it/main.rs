//! Tests of the queue with real folders, threads and processes.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod bad_input;
mod commands;
mod concurrent;
mod index;
mod killed;
mod look;
mod many;

use std::path::PathBuf;

use tickets::{Folder, Id, New};

/// A folder of tickets, which is deleted when this is dropped.
pub(crate) struct Queue {
    pub(crate) folder: Folder,
    root: tempfile::TempDir,
}

impl Queue {
    pub(crate) fn new() -> Queue {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(".tickets");
        std::fs::create_dir(&path).unwrap();
        Queue {
            folder: Folder::at(&path).unwrap(),
            root,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().to_owned()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.folder.path().join(name), bytes).unwrap();
    }

    pub(crate) fn text(&self, id: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(format!("{id}.md"))).unwrap()
    }

    /// Creates a ticket with this id.
    pub(crate) fn ticket(&self, id: &str, new: &New) -> Id {
        let (prefix, rest) = id.split_once('-').unwrap();
        self.folder
            .create(new, prefix, at(0), || Ok(rest.to_owned()))
            .unwrap()
    }

    /// Writes a small ticket file by hand.
    pub(crate) fn plain(&self, id: &str, status: &str, deps: &str) -> Id {
        self.write(
            &format!("{id}.md"),
            format!("---\nid: {id}\nstatus: {status}\ndeps: [{deps}]\nlinks: []\ncreated: 2026-01-31T12:00:00Z\ntype: task\npriority: 2\n---\n# Ticket {id}\n\n"),
        );
        Id::new(id).unwrap()
    }
}

pub(crate) fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_769_860_800 + second).unwrap()
}

pub(crate) fn titled(title: &str) -> New {
    New {
        title: title.to_owned(),
        ..New::default()
    }
}

pub(crate) fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}
