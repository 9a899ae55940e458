//! Writes the page of every machine into a folder: `cargo run -p model --example diagrams -- docs/machines`.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("name the folder to write to"));
    };
    fs::create_dir_all(&folder)?;
    for name in model::diagram::NAMES {
        if let Some(page) = model::diagram::document(name) {
            fs::write(folder.join(format!("{name}.md")), page)?;
        }
    }
    fs::write(folder.join("README.md"), model::diagram::index())
}
