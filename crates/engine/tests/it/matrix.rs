//! Tables of decisions, as snapshots show them.

use std::fmt::{Display, Write as _};

use crate::scene::Scene;

/// A paragraph a state, with what was decided there.
pub(crate) fn matrix<D: Display>(
    states: Vec<(&'static str, Scene)>,
    mut decide: impl FnMut(&mut Scene) -> D,
) -> String {
    let mut text = String::new();
    for (label, mut scene) in states {
        writeln!(text, "{label}: {}", scene.state("t-1")).unwrap();
        indent(&mut text, &decide(&mut scene).to_string());
    }
    text
}

/// A paragraph a row, each decided from the same scene.
pub(crate) fn table<L: Display, R, D: Display>(
    scene: &Scene,
    rows: impl IntoIterator<Item = (L, R)>,
    mut decide: impl FnMut(&mut Scene, R) -> D,
) -> String {
    let mut text = String::new();
    for (label, row) in rows {
        writeln!(text, "{label}").unwrap();
        let decided = decide(&mut scene.clone(), row).to_string();
        indent(&mut text, &decided);
    }
    text
}

fn indent(text: &mut String, decided: &str) {
    for line in decided.lines() {
        writeln!(text, "    {line}").unwrap();
    }
}
