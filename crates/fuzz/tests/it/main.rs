//! Every input in the corpus, including each that once broke a property, fulfils the property of its target.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod made_up;

use std::path::{Path, PathBuf};

/// The inputs that are kept for a target.
fn kept(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let paths = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut kept: Vec<_> = paths
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            (path, bytes)
        })
        .collect();
    kept.sort();
    kept
}

#[test]
fn kept_inputs_hold() {
    for target in fuzz::TARGETS {
        let kept = kept(target.name);
        assert!(!kept.is_empty(), "{} has no input", target.name);
        for (path, bytes) in kept {
            println!("{}", path.display());
            (target.check)(&bytes);
        }
    }
}
