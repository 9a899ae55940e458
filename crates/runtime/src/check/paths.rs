//! The paths of named checks, against the files of the target.

use git::Branch;
use model::settings::Settings;

use crate::{Place, Result};

/// The checks with paths that hold no file of the target, each with those paths: such a path is a slip, or
/// its files come later.
///
/// # Errors
/// The target cannot be read.
pub fn idle_paths(place: &Place, settings: &Settings) -> Result<Vec<(String, Vec<String>)>> {
    if settings.check.iter().all(|check| check.paths.is_empty()) {
        return Ok(Vec::new());
    }
    let repository = &place.repository;
    let commit = Branch::parse(&settings.project.target).and_then(|branch| repository.target(&branch))?;
    let files = repository.tree_files(&repository.tree_of(&commit)?.0)?;
    let files: Vec<_> = files
        .iter()
        .map(|file| String::from_utf8_lossy(&file.path))
        .collect();
    let idle = settings.check.iter().map(|check| {
        let paths = check.paths_without(&files.iter().map(AsRef::as_ref));
        (
            check.name.clone(),
            paths.into_iter().map(str::to_owned).collect::<Vec<_>>(),
        )
    });
    Ok(idle.filter(|(_, paths)| !paths.is_empty()).collect())
}
