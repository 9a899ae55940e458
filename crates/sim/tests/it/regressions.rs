//! Every case that once broke a promise breaks none now.

use std::path::Path;

use sim::Case;

#[test]
fn nothing_that_was_found_is_there_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let mut cases = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let case = Case::read(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        if let Err(failure) = case.run() {
            panic!("{}: {failure}", path.display());
        }
        cases += 1;
    }
    assert!(cases > 0, "{} holds no case", folder.display());
}
