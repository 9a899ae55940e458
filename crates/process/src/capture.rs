//! Captured output: a stream of any length, kept in a file of bounded size.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;

use crate::record::Captured;

/// Bytes kept from the end of a stream that outgrew its cap: a client prints its result last.
pub(crate) const END: usize = 256 * 1024;

/// Writes a stream's beginning as it comes, and its end when it is over.
pub(crate) struct Capture {
    file: File,
    /// Bytes to keep from the beginning.
    cap: u64,
    /// Bytes printed.
    seen: u64,
    /// Of these, bytes in the file.
    kept: u64,
    /// The file's last byte, to know whether a line is open.
    last: u8,
    /// The last `END` bytes after the beginning.
    end: VecDeque<u8>,
}

impl Capture {
    pub(crate) fn new(file: File, cap: u64) -> Self {
        Self {
            file,
            cap,
            seen: 0,
            kept: 0,
            last: b'\n',
            end: VecDeque::new(),
        }
    }

    /// Bytes printed so far.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        let room = usize::try_from(self.cap.saturating_sub(self.kept)).unwrap_or(usize::MAX);
        // Once something was left out, all that follows belongs to the end: the file has one gap at most.
        let room = if self.end.is_empty() {
            room.min(bytes.len())
        } else {
            0
        };
        let written = self.append(&bytes[..room]);
        let rest = &bytes[written..];
        self.end.extend(&rest[rest.len().saturating_sub(END)..]);
        self.end.drain(..self.end.len().saturating_sub(END));
    }

    /// Writes as much as the disk takes, and leaves out the rest: a full disk must not stop the program.
    fn append(&mut self, bytes: &[u8]) -> usize {
        self.append_waiting(bytes, &mut || false)
    }

    /// Does the same; when the disk is full, calls `wait`, which gives whether there may be room now.
    fn append_waiting(&mut self, mut bytes: &[u8], wait: &mut dyn FnMut() -> bool) -> usize {
        let all = bytes.len();
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(count @ 1..) => {
                    self.kept += count as u64;
                    self.last = bytes[count - 1];
                    bytes = &bytes[count..];
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if text::is_exhausted(&error) && wait() => {}
                Ok(0) | Err(_) => break,
            }
        }
        all - bytes.len()
    }

    /// Writes the end, and before it a notice if something was left out. A program prints its result last, so
    /// a full disk is waited for, as long as `wait` gives that there may be room now.
    pub(crate) fn finish(mut self, wait: &mut dyn FnMut() -> bool) -> Captured {
        let mut end: Vec<u8> = std::mem::take(&mut self.end).into();
        let missing = self.seen - self.kept - end.len() as u64;
        if missing > 0 {
            // The end begins with a whole line, so that nobody takes half of one for a message of the
            // program's.
            let whole = end
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(end.len(), |newline| newline + 1);
            end.drain(..whole);
            let dropped = self.seen - self.kept - end.len() as u64;
            let open = if self.last == b'\n' { "" } else { "\n" };
            let notice = format!("{open}[crew: {dropped} bytes of output left out here]\n");
            let before = self.kept;
            self.append_waiting(notice.as_bytes(), wait);
            self.kept = before;
        }
        self.append_waiting(&end, wait);
        Captured {
            bytes: self.seen,
            dropped: self.seen - self.kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(cap: u64, pieces: &[&[u8]]) -> (Captured, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut capture = Capture::new(File::create(&path).unwrap(), cap);
        for piece in pieces {
            capture.feed(piece);
        }
        (capture.finish(&mut || false), std::fs::read(path).unwrap())
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        assert_eq!(
            capture(10, &[b"one\n", b"two\n"]),
            (Captured { bytes: 8, dropped: 0 }, b"one\ntwo\n".to_vec())
        );
        // The cap is passed, yet beginning and end meet: nothing is missing.
        assert_eq!(capture(3, &[b"one\n", b"two\n"]).1, b"one\ntwo\n");
    }

    #[test]
    fn of_what_does_not_fit_the_end_is_kept_from_a_line_on() {
        let filler = vec![b'x'; END];
        let (captured, file) = capture(4, &[b"head", &filler, b"half\nDONE\n"]);
        assert_eq!(captured.bytes, 4 + END as u64 + 10);
        let text = String::from_utf8(file).unwrap();
        assert_eq!(
            text,
            format!("head\n[crew: {} bytes of output left out here]\nDONE\n", END + 5)
        );
        assert_eq!(captured.dropped, END as u64 + 5);
    }

    #[test]
    fn a_line_longer_than_the_end_leaves_no_half_line_behind() {
        let filler = vec![b'x'; 3 * END];
        let (captured, file) = capture(1, &[b"a\n", &filler]);
        assert_eq!(captured.dropped, 3 * END as u64 + 1);
        assert!(file.len() < 100, "{}", file.len());
    }
}
