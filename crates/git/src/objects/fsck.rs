//! `git fsck`: whether the repository's objects are whole.

use std::time::Duration;

use crate::error::Result;
use crate::repository::Repository;

/// fsck reads every object, which takes long in a large repository.
const DEADLINE: Duration = Duration::from_secs(3_600);

impl Repository {
    /// The faults that `git fsck --strict` finds in objects and refs, a line for each, in git's words. An
    /// object to which nothing points is no fault.
    ///
    /// # Errors
    /// [`Error::Failed`](crate::Error::Failed) when it ends with an error and says nothing;
    /// [`Error::Deadline`](crate::Error::Deadline).
    pub fn fsck(&self) -> Result<Vec<String>> {
        let call = self
            .call("fsck")
            .args(["--strict", "--no-dangling", "--no-progress"]);
        let said = call.deadline(DEADLINE).run()?;
        let out = String::from_utf8_lossy(&said.stdout).into_owned();
        let lines: Vec<String> = out
            .lines()
            .chain(said.stderr.lines())
            .filter(|line| !line.trim().is_empty() && !line.starts_with("notice:"))
            .map(str::to_owned)
            .collect();
        if lines.is_empty() && said.code != Some(0) {
            return Err(said.failed());
        }
        Ok(lines)
    }
}
