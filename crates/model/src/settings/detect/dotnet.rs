//! .NET: `dotnet test`.

use super::files::{Files, quoted};
use super::{Detected, Runner};

pub(super) fn find(files: &Files<'_>) -> Vec<Detected> {
    let at_root = |endings: &[&str]| {
        files.all(|path| !path.contains('/') && endings.iter().any(|ending| path.ends_with(ending)))
    };
    let solutions = at_root(&[".sln", ".slnx"]);
    let projects = at_root(&[".csproj", ".fsproj", ".vbproj"]);
    let Some(seen_in) = solutions.first().or(projects.first()) else {
        return Vec::new();
    };
    // Without a name, a folder with more than one of these is an error.
    let command = match solutions.len() + projects.len() {
        1 => "dotnet test".to_owned(),
        _ => format!("dotnet test {}", quoted(seen_in)),
    };
    vec![Detected::new(Runner::Dotnet, *seen_in, command).needs("dotnet")]
}
