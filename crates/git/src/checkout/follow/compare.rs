//! Comparing files of a checkout with the content of a commit, as git compares them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::checkout::Checkout;
use crate::checkout::follow::beside::INDEX;
use crate::checkout::follow::users_call::users_call;
use crate::error::{IoContext, Result};
use crate::repository::Repository;
use crate::types::change::Mode;
use crate::types::oid::Oid;
use crate::types::paths::{fields, lines_of, path_of};

/// The objects that files of the checkout would be, by the attributes of `commit`, in order.
pub(super) fn hash_files<'p>(
    repository: &Repository,
    checkout: &Checkout,
    commit: &Oid,
    paths: impl IntoIterator<Item = &'p Path>,
) -> Result<Vec<Oid>> {
    let lines = lines_of(paths);
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let said = users_call(repository, checkout, "hash-object")
        .attributes_from(commit.as_str())
        .arg("--stdin-paths")
        .input(&lines)?
        .ok()?;
    said.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(Oid::from_bytes)
        .collect()
}

/// Those of the files that git takes for the given content, by the attributes of `commit`, although a file on
/// its own would become other content: under `text=auto`, a file keeps its carriage returns where its entry
/// of the index has some. Each file has a number, by which it is returned.
pub(super) fn unmodified(
    repository: &Repository,
    checkout: &Checkout,
    commit: &Oid,
    files: &[(usize, &Path, Mode, &Oid)],
) -> Result<Vec<(usize, Oid)>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let folder = &checkout.git_dir;
    let index = tempfile::Builder::new()
        .prefix(&format!("{INDEX}-"))
        .tempfile_in(folder)
        .doing("write in", folder)?
        .into_temp_path();
    std::fs::remove_file(&index).doing("write", &index)?;
    let mut entries = Vec::new();
    for (_, path, mode, oid) in files {
        entries.extend(format!("{} {oid}\t", mode.octal()).bytes());
        entries.extend(path.as_os_str().as_bytes());
        entries.push(0);
    }
    let call = |subcommand| {
        users_call(repository, checkout, subcommand)
            .index(&index)
            .attributes_from(commit.as_str())
    };
    call("update-index")
        .args(["-z", "--index-info"])
        .input(&entries)?
        .ok()?;
    let listed = call("ls-files").args(["-m", "-z"]).output_limit(512 << 20).ok()?;
    let modified: Vec<&Path> = fields(&listed).map(path_of).collect();
    let same = files.iter().filter(|(_, path, ..)| !modified.contains(path));
    Ok(same
        .map(|(number, _, _, oid)| (*number, (*oid).clone()))
        .collect())
}
