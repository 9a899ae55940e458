//! What our crates may be built from: arrows, licences, features, the lock file, unsafe code.

use std::path::Path;

use crate::{arrows, features, guards, licence, metadata};

/// Checks all of it; on success, says in a line what was seen.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    if !root.join("Cargo.lock").is_file() {
        return Err("Cargo.lock is missing: it is committed, so that everybody builds the same".to_owned());
    }
    let packages = metadata::read(root)?;
    let mut found = arrows::forbidden(&packages);
    found.extend(features::on(&packages));
    found.extend(licence::refused(&packages));
    found.extend(guards::unguarded(root, &packages)?);
    if found.is_empty() {
        let ours = packages.iter().filter(|package| package.is_ours()).count();
        let theirs = packages.len() - ours;
        return Ok(format!(
            "{ours} crates of ours keep to their arrows; {theirs} of others, all licences accepted"
        ));
    }
    Err(found.join("\n"))
}
