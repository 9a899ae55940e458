//! A git that waits at one of its calls, so that a fault strikes exactly there. Only in a test that runs
//! alone.

use std::fs;
use std::path::PathBuf;

use crate::faults::mounts::inside;
use testkit::wait;
use testkit::world::make_executable;

/// A git before the real one, for every crew that is started from now on.
pub(crate) struct Gate {
    reached: PathBuf,
    open: PathBuf,
}

impl Gate {
    /// It waits at calls whose arguments match these words, a pattern of the shell's. A gate before this one
    /// is none any more.
    pub(crate) fn at(words: &str) -> Self {
        let bin = inside().join("bin");
        let (reached, open) = (bin.join("reached"), bin.join("open"));
        let git = bin.join("git");
        let words = words.replace(' ', "\\ ");
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in *{words}*)\n echo x >> {reached}; n=0; until [ -e {open} ]; do n=$((n+1)); [ $n -lt 60000 ] || exit 9; sleep 0.02; done ;;\nesac\n\
             PATH=${{PATH#{bin}:}} exec {real} \"$@\"\n",
            reached = reached.display(),
            open = open.display(),
            bin = bin.display(),
            real = real_git().display(),
        );
        let beside = bin.join("git.new");
        fs::write(&beside, text).unwrap();
        make_executable(&beside);
        for old in [&reached, &open] {
            fs::remove_file(old).ok();
        }
        fs::rename(&beside, &git).unwrap();
        Self { reached, open }
    }

    /// Waits until so many calls came to it.
    pub(crate) fn reached(&self, calls: usize) {
        wait::until("a git waits at the gate", || {
            let lines = fs::read_to_string(&self.reached).unwrap_or_default();
            (lines.lines().count() >= calls).then_some(())
        });
    }

    /// Lets them go on, and all that come.
    pub(crate) fn open(&self) {
        fs::write(&self.open, "").unwrap();
    }
}

/// The machine's git.
pub(crate) fn real_git() -> PathBuf {
    let path = testkit::world::path_variable();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join("git"));
    all.find(|git| git.exists() && !git.starts_with(inside()))
        .unwrap()
}
