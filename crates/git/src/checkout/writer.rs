//! Writers: living gits of the user's that may write in a checkout.
//!
//! `git commit` holds no lock while its hooks and its editor run. A hook may have hidden the edits that are
//! not staged, as the pre-commit framework does: the file then looks as if nobody had edited it. And once the
//! branch has moved, git refuses to end the commit.

use crate::checkout::Checkout;
use crate::processes::{processes, real};
use crate::repository::Repository;
use crate::types::blocked::{Blocked, Obstacle};

/// The commands that write in a checkout or move its branch. One that another git has begun, an alias for
/// example, is a process of its own.
const WRITERS: &[&str] = &[
    "am",
    "apply",
    "checkout",
    "cherry-pick",
    "commit",
    "filter-branch",
    "hook",
    "merge",
    "mv",
    "pull",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "sparse-checkout",
    "stash",
    "switch",
];
/// The commands of `git stash` that only show something, and that people leave in a pager.
const SHOWN: &[&[u8]] = &[b"list", b"show"];

impl Repository {
    /// A git that may write in the checkout and is none of crew's own, as an obstacle. One that runs in a
    /// container, on another host or on a system without `/proc` is not visible.
    pub(crate) fn writer_in(&self, checkout: &Checkout) -> Option<Blocked> {
        let git_dir = real(&checkout.git_dir);
        processes().find_map(|process| {
            let command = writing(&process.git())?;
            let writes = !process.is_crews() && process.works_on(&git_dir);
            let process = process.id().filter(|_| writes)?;
            Some(Blocked {
                checkout: checkout.root.clone(),
                path: None,
                obstacle: Obstacle::Git { command, process },
            })
        })
    }
}

/// The command of a git that writes.
fn writing(words: &[Vec<u8>]) -> Option<&'static str> {
    let (command, arguments) = words.split_first()?;
    let command = WRITERS.iter().find(|writer| writer.as_bytes() == command)?;
    let shows = *command == "stash"
        && arguments
            .first()
            .is_some_and(|word| SHOWN.contains(&word.as_slice()));
    (!shows).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_that_only_shows_something_writes_nothing() {
        let of = |line: &str| {
            let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            writing(&words)
        };
        for line in [
            "status",
            "log -p",
            "diff",
            "show commit",
            "stash list",
            "stash show -p",
            "fetch",
            "",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        assert_eq!(writing(&[]), None, "a dead one");
        for (line, command) in [
            ("commit -m list", "commit"),
            ("stash", "stash"),
            ("stash push list", "stash"),
        ] {
            assert_eq!(of(line), Some(command), "{line}");
        }
    }
}
