//! A cut: a place in the changes of a board, at which a page can go on.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The longest name of an epoch.
const EPOCH: usize = 32;

/// A place in the changes of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The board's life: another one after each start of the server, and with each new journal.
    pub(crate) epoch: Arc<str>,
    /// The last row of the journal that it includes; 0 before the first.
    pub(crate) seq: u64,
    /// The number of changes at that row which no row says: of files, locks and programs.
    pub(crate) n: u64,
}

/// The text is no cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a place in the stream is written as EPOCH.SEQ.N")]
pub(crate) struct NoCut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { epoch, seq, n } = self;
        write!(f, "{epoch}.{seq}.{n}")
    }
}

impl FromStr for Cut {
    type Err = NoCut;

    fn from_str(text: &str) -> Result<Self, NoCut> {
        let mut parts = text.split('.');
        let (Some(epoch), Some(seq), Some(n), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(NoCut);
        };
        let is_epoch = (1..=EPOCH).contains(&epoch.len()) && epoch.bytes().all(|b| b.is_ascii_alphanumeric());
        let number = |part: &str| match part.bytes().all(|b| b.is_ascii_digit()) {
            true => part.parse().map_err(|_no_number| NoCut),
            false => Err(NoCut),
        };
        if !is_epoch {
            return Err(NoCut);
        }
        Ok(Self {
            epoch: epoch.into(),
            seq: number(seq)?,
            n: number(n)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_read_as_it_is_written_and_nothing_else_is_one() {
        let cut = Cut {
            epoch: "4f".into(),
            seq: 12,
            n: 3,
        };
        assert_eq!(cut.to_string(), "4f.12.3");
        assert_eq!("4f.12.3".parse(), Ok(cut));
        for bad in [
            "",
            "4f",
            "4f.1",
            "4f.1.2.3",
            ".1.2",
            "4f.+1.2",
            "4f.-1.2",
            "4f.1.",
            "4f/../.1.2",
            "4f.99999999999999999999.1",
        ] {
            assert_eq!(bad.parse::<Cut>(), Err(NoCut), "{bad:?}");
        }
    }
}
