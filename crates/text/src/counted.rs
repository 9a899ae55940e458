//! Counts in words.

use std::fmt::Display;

/// A number of things: `1 file`, `2 files`. `what`: the word for one of them.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(n: N, what: &str) -> String {
    if n == N::from(1) {
        return format!("{n} {what}");
    }
    let hisses = ["s", "x", "ch", "sh"].iter().any(|end| what.ends_with(end));
    format!("{n} {what}{}", if hisses { "es" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_thing_is_no_many() {
        assert_eq!(counted(0_usize, "file"), "0 files");
        assert_eq!(counted(1_u64, "file"), "1 file");
        assert_eq!(counted(2_u64, "file"), "2 files");
        assert_eq!(counted(1_usize, "process"), "1 process");
        assert_eq!(counted(3_usize, "process"), "3 processes");
    }
}
