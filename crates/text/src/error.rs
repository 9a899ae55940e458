//! Error messages for people: the words of an error and of its causes, without the system's error numbers.

use std::error::Error;
use std::io;
use std::sync::Arc;

/// The system's words for an error, without the number that only a program needs.
#[must_use]
pub fn system(error: &io::Error) -> String {
    without_number(&error.to_string()).to_owned()
}

/// A text without the ` (os error 2)` that it ends with, if it does.
#[must_use]
pub fn without_number(text: &str) -> &str {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    text.strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" (os error "))
        .filter(|(_, rest)| number(rest))
        .map_or(text, |(words, _)| words)
}

/// Whether the system has no more of something: room, descriptors, memory, processes.
#[must_use]
pub fn lacks(error: &io::Error) -> bool {
    use io::ErrorKind::{OutOfMemory, QuotaExceeded, ReadOnlyFilesystem, StorageFull, WouldBlock};
    // The standard library has no kind for `ENFILE` and `EMFILE`.
    let descriptors = [23, 24];
    let of_a_kind = matches!(
        error.kind(),
        StorageFull | QuotaExceeded | ReadOnlyFilesystem | OutOfMemory | WouldBlock
    );
    let number = error.raw_os_error();
    number.is_some_and(|number| of_a_kind || descriptors.contains(&number))
}

/// The words of each cause of an error, the nearest first. A cause is left out if the words before end with
/// its own.
#[must_use]
pub fn causes(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut before = words_of(error);
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = words_of(cause);
        if !before.ends_with(&words) {
            causes.push(words.clone());
            before = words;
        }
        next = cause.source();
    }
    causes
}

/// An error and its causes in one line.
#[must_use]
pub fn whole(error: &(dyn Error + 'static)) -> String {
    let mut line = words_of(error);
    for cause in causes(error) {
        line.push_str(": ");
        line.push_str(&cause);
    }
    line
}

/// The words of one error. Only the system's own errors lose a number at the end: others may end with a name,
/// and a name may be anything.
fn words_of(error: &(dyn Error + 'static)) -> String {
    let of_the_system = error
        .downcast_ref::<io::Error>()
        .or_else(|| error.downcast_ref::<Arc<io::Error>>().map(AsRef::as_ref));
    of_the_system.map_or_else(|| error.to_string(), system)
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
            whole(&error),
            "cannot read x (os error 2): No such file or directory"
        );
        assert_eq!(causes(&error), ["No such file or directory"]);
        assert_eq!(system(&missing()), "No such file or directory");
        assert_eq!(system(&io::Error::other("odd")), "odd");
    }

    #[test]
    fn a_lack_is_the_systems_and_not_a_programs() {
        let (again, nomem, nfile, mfile, nospc, rofs, dquot) = (11, 12, 23, 24, 28, 30, 122);
        for number in [again, nomem, nfile, mfile, nospc, rofs, dquot] {
            assert!(lacks(&io::Error::from_raw_os_error(number)), "{number}");
        }
        let (noent, acces) = (2, 13);
        for number in [noent, acces] {
            assert!(!lacks(&io::Error::from_raw_os_error(number)), "{number}");
        }
        assert!(!lacks(&io::ErrorKind::WouldBlock.into()));
    }

    #[test]
    fn a_cause_whose_words_stand_there_already_is_left_out() {
        let error = Cannot("it says: No such file or directory", missing());
        assert_eq!(whole(&error), "it says: No such file or directory");
    }

    #[test]
    fn only_a_number_at_the_end_is_one() {
        assert_eq!(without_number("a (os error 28)"), "a");
        for text in ["a (os error )", "a (os error x)", "a (os error 2) b", "a", ""] {
            assert_eq!(without_number(text), text);
        }
    }
}
