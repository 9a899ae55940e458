//! Conflict markers: files that hold both sides of a merge that nobody resolved.

use std::path::PathBuf;

use crate::repository::Repository;
use crate::types::change::Change;
use crate::types::oid::Oid;

/// The most files that are looked at.
const FILES: usize = 1000;

impl Repository {
    /// The changed files that hold conflict markers and did not before. A file that is large or no text is
    /// passed over.
    pub fn conflict_markers(&self, changes: &[Change]) -> Vec<PathBuf> {
        let is_marked = |oid: &Oid| {
            let objects = self.objects_of([oid]);
            objects.is_some_and(|found| found.iter().any(|(_, content)| has_markers(content)))
        };
        let marked = changes.iter().take(FILES).filter(|change| {
            change.new.as_ref().is_some_and(|(_, oid)| is_marked(oid))
                && !change.old.as_ref().is_some_and(|(_, oid)| is_marked(oid))
        });
        marked.map(|change| change.path.clone()).collect()
    }
}

/// Whether the lines that git writes around and between two sides stand there in their order.
fn has_markers(content: &[u8]) -> bool {
    let mut lines = content.split(|byte| *byte == b'\n');
    let mut has = |is: fn(&[u8]) -> bool| lines.any(is);
    has(|line| line.starts_with(b"<<<<<<< "))
        && has(|line| line.strip_suffix(b"\r").unwrap_or(line) == b"=======")
        && has(|line| line.starts_with(b">>>>>>> "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_three_lines_in_their_order() {
        assert!(has_markers(b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n"));
        assert!(has_markers(
            b"<<<<<<< HEAD\r\nb\r\n=======\r\nc\r\n>>>>>>> other\r\n"
        ));
        assert!(!has_markers(b"Title\n=======\n"));
        assert!(!has_markers(b">>>>>>> a\n=======\n<<<<<<< b\n"));
        assert!(!has_markers(b" <<<<<<< HEAD\n=======\n>>>>>>> other\n"));
    }
}
