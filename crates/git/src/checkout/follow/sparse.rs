//! Sparse checkouts: the new paths that stay out of one.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::checkout::Checkout;
use crate::checkout::follow::users_call::users_call;
use crate::error::Result;
use crate::repository::Repository;
use crate::types::paths::{fields, path_of};

/// Those of the paths that git would not write into the checkout, since the user keeps it sparse.
pub(super) fn outside<'p>(
    repository: &Repository,
    checkout: &Checkout,
    paths: impl Iterator<Item = &'p Path>,
) -> Result<BTreeSet<PathBuf>> {
    let mut outside: BTreeSet<PathBuf> = paths.map(Path::to_owned).collect();
    if outside.is_empty() {
        return Ok(outside);
    }
    let is_sparse = users_call(repository, checkout, "config")
        .args(["--type=bool", "--get", "core.sparseCheckout"])
        .run()?;
    if is_sparse.stdout.trim_ascii() != b"true" {
        return Ok(BTreeSet::new());
    }
    let mut asked = Vec::new();
    for path in &outside {
        asked.extend_from_slice(path.as_os_str().as_bytes());
        asked.push(0);
    }
    let inside = users_call(repository, checkout, "sparse-checkout")
        .args(["check-rules", "-z"])
        .input(&asked)?
        .ok()?;
    for path in fields(&inside) {
        outside.remove(path_of(path));
    }
    Ok(outside)
}
