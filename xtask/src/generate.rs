//! The files that are generated, committed, and checked by generating them again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Outcome, program, reference};

/// A file or folder, and the program of ours that makes it.
struct Generator {
    /// Relative to the root.
    output: Output,
    /// Where cargo puts it, beside this program.
    program: &'static str,
    /// What it is given. For a folder, the folder to write into is appended.
    arguments: &'static [&'static str],
}

#[derive(Clone, Copy)]
enum Output {
    /// What the command prints.
    File(&'static str),
    /// The files with this extension that the command writes into a folder.
    Folder(&'static str, &'static str),
}

const CREW: &str = "crew";
const DIAGRAMS: &str = "examples/diagrams";
/// Builds both as a build of every test does: after one there is nothing to build.
const BUILD: [&str; 6] = [
    "build",
    "--quiet",
    "--locked",
    "--workspace",
    "--bin=crew",
    "--example=diagrams",
];

/// The schema of what `--json` prints.
const DOCUMENTS: &str = "docs/json.schema.json";
/// The page about it: written by hand, but for its tables.
const PAGE: &str = "docs/json.md";

const GENERATORS: &[Generator] = &[
    Generator {
        output: Output::File("docs/crew.schema.json"),
        program: CREW,
        arguments: &["config", "--schema"],
    },
    Generator {
        output: Output::File(DOCUMENTS),
        program: CREW,
        arguments: &["config", "--schema", "documents"],
    },
    Generator {
        output: Output::Folder("docs/man", "1"),
        program: CREW,
        arguments: &["man", "--into"],
    },
    Generator {
        output: Output::File("docs/completions/crew.bash"),
        program: CREW,
        arguments: &["completions", "bash"],
    },
    Generator {
        output: Output::File("docs/completions/_crew"),
        program: CREW,
        arguments: &["completions", "zsh"],
    },
    Generator {
        output: Output::File("docs/completions/crew.fish"),
        program: CREW,
        arguments: &["completions", "fish"],
    },
    Generator {
        output: Output::Folder("docs/machines", "md"),
        program: DIAGRAMS,
        arguments: &[],
    },
];

/// Files by their path relative to the root.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Writes what is generated, and removes what no longer is.
pub(crate) fn write(root: &Path) -> Outcome {
    let wanted = generate(root)?;
    let committed = committed(root)?;
    let differing = differing(&wanted, &committed);
    for path in &differing {
        let target = root.join(path);
        let failed = |error| format!("{}: {error}", path.display());
        match wanted.get(path) {
            Some(bytes) => {
                fs::create_dir_all(target.parent().unwrap_or(root)).map_err(failed)?;
                fs::write(&target, bytes).map_err(failed)?;
                println!("wrote {}", path.display());
            }
            None => {
                fs::remove_file(&target).map_err(failed)?;
                println!("removed {}", path.display());
            }
        }
    }
    if differing.is_empty() {
        println!("{} generated files, all up to date", wanted.len());
    }
    Ok(())
}

/// Fails where what is committed differs from what is generated.
pub(crate) fn check(root: &Path) -> Outcome {
    let wanted = generate(root)?;
    let differing = differing(&wanted, &committed(root)?);
    if differing.is_empty() {
        println!("{} generated files, all up to date", wanted.len());
        return Ok(());
    }
    let mut why = String::from("generated files differ from what is committed:\n");
    for path in differing {
        let how = if wanted.contains_key(&path) {
            ""
        } else {
            " (no longer generated)"
        };
        why.push_str(&format!("  {}{how}\n", path.display()));
    }
    why.push_str("run `cargo xtask generate` and commit the result");
    Err(why)
}

/// What the generators make now.
fn generate(root: &Path) -> Result<Files, String> {
    program::run(root, "cargo", &BUILD)?;
    let built = built()?;
    let mut files = Files::new();
    for generator in GENERATORS {
        let program = built.join(generator.program);
        let program = program.to_string_lossy();
        let mut arguments: Vec<String> = generator.arguments.iter().map(ToString::to_string).collect();
        match generator.output {
            Output::File(path) => {
                let text = program::output(root, &program, &arguments)?;
                files.insert(PathBuf::from(path), text.into_bytes());
            }
            Output::Folder(path, extension) => {
                let fresh = root.join("target").join("xtask").join(path);
                let failed = |error| format!("{}: {error}", fresh.display());
                if fresh.exists() {
                    fs::remove_dir_all(&fresh).map_err(failed)?;
                }
                fs::create_dir_all(&fresh).map_err(failed)?;
                arguments.push(fresh.to_string_lossy().into_owned());
                program::output(root, &program, &arguments)?;
                let written = read_folder(&fresh, extension)?;
                if written.is_empty() {
                    return Err(format!("`{program} {}` wrote nothing", arguments.join(" ")));
                }
                files.extend(
                    written
                        .into_iter()
                        .map(|(name, bytes)| (Path::new(path).join(name), bytes)),
                );
            }
        }
    }
    let failed = |error| format!("{PAGE}: {error}");
    let page = fs::read_to_string(root.join(PAGE)).map_err(failed)?;
    let schema = files.get(Path::new(DOCUMENTS)).map_or(&[][..], Vec::as_slice);
    let page = reference::fill(&page, schema)?;
    files.insert(PathBuf::from(PAGE), page.into_bytes());
    Ok(files)
}

/// Where cargo puts what it builds: this program's own folder.
fn built() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("where this program stands: {error}"))?;
    Ok(own.parent().map(Path::to_path_buf).unwrap_or_default())
}

/// What stands where the generators write.
fn committed(root: &Path) -> Result<Files, String> {
    let mut files = Files::new();
    if let Ok(bytes) = fs::read(root.join(PAGE)) {
        files.insert(PathBuf::from(PAGE), bytes);
    }
    for generator in GENERATORS {
        match generator.output {
            Output::File(path) => {
                if let Ok(bytes) = fs::read(root.join(path)) {
                    files.insert(PathBuf::from(path), bytes);
                }
            }
            Output::Folder(path, extension) => {
                let there = read_folder(&root.join(path), extension)?;
                files.extend(
                    there
                        .into_iter()
                        .map(|(name, bytes)| (Path::new(path).join(name), bytes)),
                );
            }
        }
    }
    Ok(files)
}

/// The files of a folder with an extension, by name; none where there is no folder.
fn read_folder(folder: &Path, extension: &str) -> Result<Files, String> {
    let mut files = Files::new();
    if !folder.is_dir() {
        return Ok(files);
    }
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|found| found == extension)
            && let Some(name) = path.file_name()
        {
            files.insert(PathBuf::from(name), fs::read(&path).map_err(failed)?);
        }
    }
    Ok(files)
}

/// The paths that are missing, left over or have another content.
fn differing(wanted: &Files, there: &Files) -> Vec<PathBuf> {
    let paths: std::collections::BTreeSet<&PathBuf> = wanted.keys().chain(there.keys()).collect();
    paths
        .into_iter()
        .filter(|path| wanted.get(*path) != there.get(*path))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> Files {
        files
            .iter()
            .map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn a_difference_is_missing_left_over_or_changed() {
        let wanted = files(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let there = files(&[("a", "1"), ("b", "x"), ("d", "4")]);
        assert_eq!(differing(&wanted, &there), ["b", "c", "d"].map(PathBuf::from));
        assert_eq!(differing(&wanted, &wanted), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_folder_is_read_by_extension() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.md"), "1").unwrap();
        fs::write(folder.path().join("b.txt"), "2").unwrap();
        assert_eq!(read_folder(folder.path(), "md").unwrap(), files(&[("a.md", "1")]));
        assert_eq!(
            read_folder(&folder.path().join("none"), "md").unwrap(),
            Files::new()
        );
    }

    #[test]
    fn outputs_stay_in_the_documents_and_apart() {
        let mut seen = std::collections::BTreeSet::new();
        for generator in GENERATORS {
            let (Output::File(path) | Output::Folder(path, _)) = generator.output;
            assert!(path.starts_with("docs/") && seen.insert(path), "{path}");
        }
    }
}
