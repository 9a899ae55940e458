//! Where `unsafe` may stand: in `process`, each time with its reason, and nowhere else.

use std::fs;
use std::path::Path;

use crate::metadata::Package;
use crate::sources;

/// The one crate with system calls that no safe crate offers.
const MAY: &str = "process";
/// The lint's name, in two parts so that this file does not find itself.
const LINT: &str = concat!("unsafe", "_code");

/// The crates that could have unsafe code without being stopped by the compiler.
pub(crate) fn unguarded(root: &Path, packages: &[Package]) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let workspace = text(&root.join("Cargo.toml"))?;
    if !denies(&workspace, "[workspace.lints.rust]") {
        found.push(format!(
            "Cargo.toml: [workspace.lints.rust] must have `{LINT} = \"deny\"`"
        ));
    }
    for package in packages.iter().filter(|package| package.is_ours()) {
        let manifest = text(&package.manifest)?;
        if !inherits(&manifest) && !denies(&manifest, "[lints.rust]") {
            found.push(format!(
                "{}: its Cargo.toml must have [lints] with `workspace = true`",
                package.name
            ));
        }
        if package.name == MAY {
            continue;
        }
        let folder = package.manifest.parent().unwrap_or(root);
        for file in sources::below(folder)? {
            if text(&file)?.contains(LINT) {
                let file = file.strip_prefix(root).unwrap_or(&file);
                found.push(format!(
                    "{}: mentions `{LINT}`; only `{MAY}` may have unsafe code",
                    file.display()
                ));
            }
        }
    }
    Ok(found)
}

/// The lines of one table of a manifest.
fn table<'m>(manifest: &'m str, header: &str) -> impl Iterator<Item = &'m str> {
    let lines = manifest
        .lines()
        .map(str::trim)
        .skip_while(move |line| *line != header)
        .skip(1);
    lines.take_while(|line| !line.starts_with('['))
}

/// A line without its spaces and comment.
fn bare(line: &str) -> String {
    line.split('#')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect()
}

fn denies(manifest: &str, header: &str) -> bool {
    let levels = ["deny", "forbid"].map(|level| format!("{LINT}=\"{level}\""));
    table(manifest, header).any(|line| levels.contains(&bare(line)))
}

fn inherits(manifest: &str) -> bool {
    table(manifest, "[lints]").any(|line| bare(line) == "workspace=true")
        || manifest.lines().any(|line| bare(line) == "lints.workspace=true")
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: &Path, name: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            licence: None,
            source: None,
            manifest: folder.join(name).join("Cargo.toml"),
            default_features: Vec::new(),
            dependencies: Vec::new(),
        }
    }

    fn lay_out(root: &Path, name: &str, lints: &str, source: &str) -> Package {
        fs::create_dir_all(root.join(name).join("src/deep")).unwrap();
        fs::write(
            root.join(name).join("Cargo.toml"),
            format!("[package]\nname = \"{name}\"\n{lints}"),
        )
        .unwrap();
        fs::write(root.join(name).join("src/deep/lib.rs"), source).unwrap();
        package(root, name)
    }

    #[test]
    fn a_crate_must_inherit_the_lint_and_not_lift_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::write(
            root.join("Cargo.toml"),
            format!("[workspace.lints.rust]\n{LINT} = \"deny\" # why\n"),
        )
        .unwrap();
        let lift = format!("#![expect({LINT}, reason = \"…\")]");
        let packages = [
            lay_out(root, "good", "[lints]\nworkspace = true\n", ""),
            lay_out(root, "short", "lints.workspace = true\n", ""),
            lay_out(root, "own", &format!("[lints.rust]\n{LINT} = \"forbid\"\n"), ""),
            lay_out(root, "process", "[lints]\nworkspace = true\n", &lift),
        ];
        assert_eq!(unguarded(root, &packages).unwrap(), Vec::<String>::new());
        let bad = [
            lay_out(root, "free", "[lints]\n[dependencies]\nworkspace = true\n", ""),
            lay_out(root, "lifts", "[lints]\nworkspace = true\n", &lift),
        ];
        let found = unguarded(root, &bad).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("free: "), "{found:?}");
        assert!(found[1].starts_with("lifts/src/deep/lib.rs: "), "{found:?}");
        fs::write(
            root.join("Cargo.toml"),
            format!("[workspace.lints.rust]\n{LINT} = \"warn\"\n"),
        )
        .unwrap();
        assert!(unguarded(root, &packages).unwrap()[0].starts_with("Cargo.toml: "));
    }
}
