//! The lines of a step that were meant for crew and could not be used.

/// The most lines that are kept of one kind: a program that makes a mistake once may make it in every line.
const MOST: usize = 20;
/// Stands for the lines beyond the most.
const MORE: &str = "and more that could not be used";

/// The lines of a step that could not be used, each in a message for the agent, and each once.
#[derive(Debug, Default)]
pub(crate) struct Unusable {
    lines: Vec<String>,
    commitments: Vec<String>,
}

impl Unusable {
    /// A line that is no valid directive or record.
    pub(crate) fn add_line(&mut self, text: String) {
        add(&mut self.lines, text);
    }

    /// A line of a commitment that is refused.
    pub(crate) fn add_commitment(&mut self, text: String) {
        add(&mut self.commitments, text);
    }

    /// A signal makes up for the lines before it. It does not make up for a commitment: the agent would take
    /// it for made.
    pub(crate) fn signal(&mut self) {
        self.lines.clear();
    }

    /// The refused commitments, and the other lines.
    pub(crate) fn into_parts(self) -> (Vec<String>, Vec<String>) {
        (self.commitments, self.lines)
    }
}

fn add(kept: &mut Vec<String>, text: String) {
    match kept.len() {
        _ if kept.contains(&text) => {}
        ..MOST => kept.push(text),
        MOST => kept.push(MORE.to_owned()),
        _ => {}
    }
}
