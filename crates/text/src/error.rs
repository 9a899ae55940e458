//! What an error says to a person: its words and those of its causes, without the system's numbers.

use std::error::Error;
use std::io;
use std::sync::Arc;

/// What the system says of an error, without the number that only a program needs.
#[must_use]
pub fn os_message(error: &io::Error) -> String {
    without_os_code(&error.to_string()).to_owned()
}

/// A text without the ` (os error 2)` that it ends with, if it does.
#[must_use]
pub fn without_os_code(text: &str) -> &str {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    text.strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" (os error "))
        .filter(|(_, rest)| number(rest))
        .map_or(text, |(words, _)| words)
}

/// Whether the system has no more of something: room, descriptors, memory, processes.
#[must_use]
pub fn is_exhausted(error: &io::Error) -> bool {
    use io::ErrorKind::{OutOfMemory, QuotaExceeded, ReadOnlyFilesystem, StorageFull, WouldBlock};
    // `ENFILE` and `EMFILE` are of no kind.
    let descriptors = [23, 24];
    let of_a_kind = matches!(
        error.kind(),
        StorageFull | QuotaExceeded | ReadOnlyFilesystem | OutOfMemory | WouldBlock
    );
    let number = error.raw_os_error();
    number.is_some_and(|number| of_a_kind || descriptors.contains(&number))
}

/// What each cause of an error says, the nearest first. One that only says again what the one before ends with is left out.
#[must_use]
pub fn causes(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut before = said(error);
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let says = said(cause);
        if !before.ends_with(&says) {
            causes.push(says.clone());
            before = says;
        }
        next = cause.source();
    }
    causes
}

/// An error and its causes in one line.
#[must_use]
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut line = said(error);
    for cause in causes(error) {
        line.push_str(": ");
        line.push_str(&cause);
    }
    line
}

/// The words of one error. Only the system's own lose what they end with: others may end with a name, which may be anything.
fn said(error: &(dyn Error + 'static)) -> String {
    let of_the_system = error
        .downcast_ref::<io::Error>()
        .or_else(|| error.downcast_ref::<Arc<io::Error>>().map(AsRef::as_ref));
    of_the_system.map_or_else(|| error.to_string(), os_message)
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Cannot(&'static str, Arc<io::Error>);

    impl fmt::Display for Cannot {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Cannot {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.1)
        }
    }

    fn missing() -> Arc<io::Error> {
        Arc::new(io::Error::from_raw_os_error(2))
    }

    #[test]
    fn the_systems_number_is_left_out_and_a_name_is_not_touched() {
        let error = Cannot("cannot read x (os error 2)", missing());
        assert_eq!(
            with_causes(&error),
            "cannot read x (os error 2): No such file or directory"
        );
        assert_eq!(causes(&error), ["No such file or directory"]);
        assert_eq!(os_message(&missing()), "No such file or directory");
        assert_eq!(os_message(&io::Error::other("odd")), "odd");
    }

    #[test]
    fn a_lack_is_the_systems_and_not_a_programs() {
        let (again, nomem, nfile, mfile, nospc, rofs, dquot) = (11, 12, 23, 24, 28, 30, 122);
        for number in [again, nomem, nfile, mfile, nospc, rofs, dquot] {
            assert!(is_exhausted(&io::Error::from_raw_os_error(number)), "{number}");
        }
        let (noent, acces) = (2, 13);
        for number in [noent, acces] {
            assert!(!is_exhausted(&io::Error::from_raw_os_error(number)), "{number}");
        }
        assert!(!is_exhausted(&io::ErrorKind::WouldBlock.into()));
    }

    #[test]
    fn a_cause_that_was_said_is_not_said_again() {
        let error = Cannot("it says: No such file or directory", missing());
        assert_eq!(with_causes(&error), "it says: No such file or directory");
    }

    #[test]
    fn only_a_number_at_the_end_is_one() {
        assert_eq!(without_os_code("a (os error 28)"), "a");
        for text in ["a (os error )", "a (os error x)", "a (os error 2) b", "a", ""] {
            assert_eq!(without_os_code(text), text);
        }
    }
}
