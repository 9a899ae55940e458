//! Reading the output of a run, from an offset on.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::files;
use crate::run::Run;

/// An output stream of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

impl Stream {
    /// The file's name in the run's directory.
    pub fn file(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::Err => "err",
        }
    }
}

/// A position in an output stream, from which a caller reads on in bounded pieces. Reading never waits:
/// without new output the piece is empty.
///
/// The offset counts bytes of the file, so it survives the reader: keep it, and a later engine goes on there.
/// A file is only ever appended to.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    file: Option<File>,
    offset: u64,
}

impl Tail {
    /// At `offset` of a stream, 0 for its beginning.
    pub fn new(run: &Run, stream: Stream, offset: u64) -> Self {
        Self {
            path: run.dir().join(stream.file()),
            file: None,
            offset,
        }
    }

    /// Where the next piece begins, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next bytes, at most `max`; empty when there are none yet. Errors: the file cannot be read.
    pub fn read(&mut self, max: usize) -> Result<Vec<u8>> {
        let bytes = self.peek(max)?;
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }

    /// The next text, from at most `max` bytes (but at least 4); invalid UTF-8 becomes U+FFFD. A character of
    /// which only a part is there is left for the next call.
    pub fn read_text(&mut self, max: usize) -> Result<String> {
        let bytes = self.peek(max.max(4))?;
        Ok(self.take(&bytes, bytes.len() - open_character(&bytes)))
    }

    /// The same for a stream that has ended: a character that is cut off at its end is given as U+FFFD.
    pub fn read_ended_text(&mut self, max: usize) -> Result<String> {
        let max = max.max(4);
        let bytes = self.peek(max)?;
        let open = if bytes.len() < max {
            0
        } else {
            open_character(&bytes)
        };
        Ok(self.take(&bytes, bytes.len() - open))
    }

    fn take(&mut self, bytes: &[u8], whole: usize) -> String {
        self.offset += whole as u64;
        String::from_utf8_lossy(&bytes[..whole]).into_owned()
    }

    fn peek(&mut self, max: usize) -> Result<Vec<u8>> {
        let mut read = || {
            let mut file = match self.file.take() {
                Some(file) => file,
                None => files::open(&self.path)?,
            };
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(self.offset))?;
            file.by_ref().take(max as u64).read_to_end(&mut bytes)?;
            io::Result::Ok((file, bytes))
        };
        match read() {
            Ok((file, bytes)) => {
                self.file = Some(file);
                Ok(bytes)
            }
            // The shim makes the file when it begins.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::file("read", &self.path)(error)),
        }
    }
}

/// How many bytes at the end are the beginning of a character that may still be completed.
fn open_character(bytes: &[u8]) -> usize {
    let window = bytes.len().min(3);
    for back in 1..=window {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if length > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::open_character;

    #[test]
    fn only_a_character_that_can_be_completed_waits() {
        assert_eq!(open_character(b"plain"), 0);
        assert_eq!(open_character("ü".as_bytes()), 0);
        assert_eq!(open_character(&"ü".as_bytes()[..1]), 1);
        assert_eq!(open_character(&"€".as_bytes()[..2]), 2);
        assert_eq!(open_character(&"😀".as_bytes()[..3]), 3);
        assert_eq!(open_character("😀".as_bytes()), 0);
        assert_eq!(open_character(b"\xff"), 0);
        assert_eq!(open_character(b"\x80\x80\x80"), 0);
        assert_eq!(open_character(b""), 0);
    }
}
