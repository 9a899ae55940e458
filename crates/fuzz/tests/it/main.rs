//! Every input in the corpus, including each that once broke a property, fulfils the property of its target.

use std::path::Path;

#[test]
fn kept_inputs_hold() {
    for target in fuzz::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(target.name);
        let mut count = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            (target.check)(&std::fs::read(&path).unwrap());
            count += 1;
        }
        assert!(count > 0, "{} has no input", target.name);
    }
}
