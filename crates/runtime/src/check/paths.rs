//! The paths of named checks, of reviews and of `hold_paths`, against the files of the target.

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
    let files = target_files(place, settings)?;
    let idle = settings.check.iter().map(|check| {
        let paths = check.paths_without(&files.iter().map(String::as_str));
        (
            check.name.clone(),
            paths.into_iter().map(str::to_owned).collect::<Vec<_>>(),
        )
    });
    Ok(idle.filter(|(_, paths)| !paths.is_empty()).collect())
}

/// The paths of `[review] when` that hold no file of the target.
///
/// # Errors
/// The target cannot be read.
pub fn idle_review_paths(place: &Place, settings: &Settings) -> Result<Vec<String>> {
    if settings.review.paths_without(&std::iter::empty()).is_empty() {
        return Ok(Vec::new());
    }
    let files = target_files(place, settings)?;
    let idle = settings.review.paths_without(&files.iter().map(String::as_str));
    Ok(idle.into_iter().map(str::to_owned).collect())
}

/// The `[land] hold_paths` that hold no file of the target. `crew.toml`, which is held always, is none of
/// them: git need not know it.
///
/// # Errors
/// The target cannot be read.
pub fn idle_hold_paths(place: &Place, settings: &Settings) -> Result<Vec<String>> {
    if settings.land.paths_without(&std::iter::empty()).is_empty() {
        return Ok(Vec::new());
    }
    let files = target_files(place, settings)?;
    let idle = settings.land.paths_without(&files.iter().map(String::as_str));
    Ok(idle.into_iter().map(str::to_owned).collect())
}

/// The paths of all files of the target.
fn target_files(place: &Place, settings: &Settings) -> Result<Vec<String>> {
    let repository = &place.repository;
    let commit = Branch::parse(&settings.project.target).and_then(|branch| repository.target(&branch))?;
    let files = repository.tree_files(&repository.tree_of(&commit)?.0)?;
    let path = |file: &git::TreeFile| String::from_utf8_lossy(&file.path).into_owned();
    Ok(files.iter().map(path).collect())
}
