//! Lines of a byte stream, of bounded length.

use std::io::BufRead as _;

/// The bytes of a line that are kept. A longer line is cut, and only its beginning can be understood.
pub const LINE_LIMIT: usize = 64 * 1024;

/// Cuts a byte stream into lines.
#[derive(Debug)]
pub(crate) struct Lines {
    /// The line that is not finished.
    open: Vec<u8>,
    /// The bytes of a line that are kept.
    limit: usize,
    /// The number of bytes of the open line that were not kept.
    dropped: u64,
}

/// A whole line, without its newline.
pub(crate) struct Line<'a> {
    pub(crate) bytes: &'a [u8],
    /// The number of bytes at its end that were not kept, because the line is longer than the limit.
    pub(crate) dropped: u64,
    /// Whether its newline was read. The last line of a stream need not have one.
    pub(crate) is_closed: bool,
}

impl Line<'_> {
    /// Whether the line is longer than the limit.
    pub(crate) fn is_cut(&self) -> bool {
        self.dropped > 0
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::with_limit(LINE_LIMIT)
    }
}

impl Lines {
    /// With another limit than [`LINE_LIMIT`], in bytes, for a stream whose lines are whole documents.
    pub(crate) fn with_limit(limit: usize) -> Self {
        Self {
            open: Vec::new(),
            limit,
            dropped: 0,
        }
    }

    /// The beginning of the line that is not finished.
    pub(crate) fn open(&self) -> &[u8] {
        &self.open
    }

    /// Calls `line` for each line that these bytes finish.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut line: impl FnMut(Line<'_>)) {
        while let Some(end) = newline(bytes) {
            let (head, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.open.is_empty() && self.dropped == 0 && head.len() <= self.limit {
                line(Line {
                    bytes: head,
                    dropped: 0,
                    is_closed: true,
                });
            } else {
                self.keep(head);
                self.close(true, &mut line);
            }
        }
        self.keep(bytes);
    }

    /// Ends the stream, and calls `line` for a last line without a newline.
    pub(crate) fn finish(&mut self, mut line: impl FnMut(Line<'_>)) {
        if !self.open.is_empty() || self.dropped > 0 {
            self.close(false, &mut line);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = (self.limit - self.open.len()).min(bytes.len());
        self.open.extend_from_slice(&bytes[..room]);
        self.dropped += (bytes.len() - room) as u64;
    }

    fn close(&mut self, is_closed: bool, line: &mut impl FnMut(Line<'_>)) {
        line(Line {
            bytes: &self.open,
            dropped: self.dropped,
            is_closed,
        });
        self.open.clear();
        self.open.shrink_to(LINE_LIMIT);
        self.dropped = 0;
    }
}

/// The place of the first newline.
fn newline(bytes: &[u8]) -> Option<usize> {
    // The search of the standard library compares many bytes at a time.
    let mut rest = bytes;
    let read = rest.skip_until(b'\n').unwrap_or(0);
    let end = read.checked_sub(1)?;
    (bytes[end] == b'\n').then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pieces: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for piece in pieces {
            lines.feed(piece, |line| found.push((line.bytes.to_vec(), line.is_cut())));
        }
        lines.finish(|line| found.push((line.bytes.to_vec(), line.is_cut())));
        found
    }

    #[test]
    fn lines_come_whole_however_they_are_fed() {
        let whole = |line: &[u8]| (line.to_vec(), false);
        let expected = vec![whole(b"one"), whole(b""), whole(b"two"), whole(b"end")];
        assert_eq!(cut(&[b"one\n\ntwo\nend"]), expected);
        assert_eq!(cut(&[b"o", b"ne", b"\n", b"\nt", b"wo\ne", b"nd"]), expected);
        assert_eq!(cut(&[b"end\n"]), [whole(b"end")]);
        assert_eq!(cut(&[]), []);
    }

    #[test]
    fn a_line_too_long_is_cut_and_says_so() {
        let exact = vec![b'x'; LINE_LIMIT];
        assert_eq!(cut(&[&exact, b"\n"]), [(exact.clone(), false)]);
        let longer = [exact.as_slice(), b"y\nnext\n"].concat();
        let expected = [(exact.clone(), true), (b"next".to_vec(), false)];
        assert_eq!(cut(&[&longer]), expected);
        let (head, tail) = longer.split_at(10);
        assert_eq!(cut(&[head, tail]), expected);
    }

    #[test]
    fn memory_is_bounded() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..100 {
            lines.feed(&piece, |_| panic!("no line yet"));
        }
        assert!(lines.open.capacity() <= 2 * LINE_LIMIT);
    }
}
