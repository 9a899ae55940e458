//! Repositories to measure on, and their queues.

use std::fmt::Write as _;
use std::fs;

use super::place::Place;

/// A repository of so many files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) name: &'static str,
    pub(crate) files: usize,
    /// The most that crew's drain may take, as a multiple of the script X's.
    pub(crate) goal: f64,
}

/// Both sizes.
pub(crate) const SIZES: [Size; 2] = [SMALL, MEDIUM];
/// A small one.
pub(crate) const SMALL: Size = Size {
    name: "small",
    files: 50,
    goal: 2.5,
};
/// A middling one.
pub(crate) const MEDIUM: Size = Size {
    name: "medium",
    files: 2000,
    goal: 1.3,
};

/// Makes a packed repository with one commit in the place's folder `name`: words in 40 lines a file, 20 files
/// a folder. The same for ever.
pub(crate) fn make(place: &Place, name: &str, size: Size) -> Result<(), String> {
    let mut random = Random(42);
    let words: Vec<String> = (0..500).map(|_| random.word()).collect();
    for i in 0..size.files {
        let mut text = String::new();
        for _ in 0..40 {
            let line: Vec<&str> = (0..8).map(|_| words[random.below(500)].as_str()).collect();
            writeln!(text, "{}", line.join(" ")).map_err(|error| error.to_string())?;
        }
        let (module, folder) = (i / 400, (i / 20) % 20);
        place.write(&format!("{name}/src/m{module:03}/d{folder:02}/f{i:05}.rs"), &text)?;
    }
    let dir = place.path(name);
    let dir = dir.to_str().ok_or("a temp folder whose name is no text")?;
    place.git(&["init", "-q", "-b", "main", dir])?;
    place.git(&["-C", dir, "config", "gc.auto", "0"])?;
    place.git(&["-C", dir, "config", "maintenance.auto", "false"])?;
    place.git(&["-C", dir, "add", "."])?;
    place.git(&["-C", dir, "commit", "-q", "-m", "first"])?;
    place.git(&["-C", dir, "gc", "-q"])?;
    Ok(())
}

/// Adds crew's settings to a repository and commits them: an agent that is a script, started with nothing to
/// check.
pub(crate) fn set_up(place: &Place, name: &str, agent: &str, settings: &str) -> Result<(), String> {
    let script = place.script(&format!("agent-{name}"), agent)?;
    let toml = format!(
        "{settings}\nharness = \"script\"\n[harness.script]\nkind = \"command\"\ncommand = [\"{}\"]\n",
        script.display()
    );
    place.write(&format!("{name}/crew.toml"), &toml)?;
    let dir = place.path(name);
    let dir = dir.to_str().ok_or("a temp folder whose name is no text")?;
    place.git(&["-C", dir, "add", "crew.toml"])?;
    place.git(&["-C", dir, "commit", "-q", "-m", "settings"])?;
    fs::create_dir_all(place.path(&format!("{name}/.tickets"))).map_err(|error| format!(".tickets: {error}"))
}

/// A ticket's file.
pub(crate) fn ticket(id: &str, status: &str, deps: &str) -> String {
    format!(
        "---\nid: {id}\nstatus: {status}\ndeps: [{deps}]\nlinks: []\ncreated: 2026-01-01T00:00:00Z\ntype: task\npriority: 2\n---\n# Write {id}\n\nOne file.\n"
    )
}

/// A sequence that looks random and is the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % n as u64).unwrap_or(0)
    }

    fn word(&mut self) -> String {
        let letters = 2 + self.below(8);
        (0..letters)
            .map(|_| char::from(b'a' + u8::try_from(self.below(26)).unwrap_or(0)))
            .collect()
    }
}
