//! Elixir: mix.

use super::files::Files;
use super::{Detected, Runner};

pub(super) fn find(files: &Files<'_>) -> Vec<Detected> {
    const MANIFEST: &str = "mix.exs";
    if !files.has(MANIFEST) {
        return Vec::new();
    }
    let found = Detected::new(Runner::Mix, MANIFEST, "mix test").needs("mix");
    vec![found.setup(["mix deps.get"]).keep_ignored(&["deps", "_build"])]
}
