//! Error messages for people: the message of an error and of its causes, without the system's error numbers.

use std::error::Error;
use std::io;
use std::sync::Arc;

/// The message of an I/O error, without the error number, which only programs need.
#[must_use]
pub fn os_message(error: &io::Error) -> String {
    without_os_code(&error.to_string()).to_owned()
}

/// The text without an ` (os error 2)` at its end.
fn without_os_code(text: &str) -> &str {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    text.strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" (os error "))
        .filter(|(_, rest)| number(rest))
        .map_or(text, |(words, _)| words)
}

/// Whether an error of the system means that a resource is exhausted: disk space, file descriptors, memory,
/// processes. A read-only disk counts too.
#[must_use]
pub fn is_exhausted(error: &io::Error) -> bool {
    use io::ErrorKind::{OutOfMemory, QuotaExceeded, ReadOnlyFilesystem, StorageFull, WouldBlock};
    // `ENFILE` and `EMFILE` have no `ErrorKind` of their own.
    let descriptors = [23, 24];
    let has_such_kind = matches!(
        error.kind(),
        StorageFull | QuotaExceeded | ReadOnlyFilesystem | OutOfMemory | WouldBlock
    );
    let number = error.raw_os_error();
    number.is_some_and(|number| has_such_kind || descriptors.contains(&number))
}

/// The messages of the causes of an error, the nearest first. A cause is left out if the message before it
/// ends with the same words.
#[must_use]
pub fn causes(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut before = message(error);
    let mut causes = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        let own = message(cause);
        if !before.ends_with(&own) {
            causes.push(own.clone());
            before = own;
        }
        next = cause.source();
    }
    causes
}

/// The message of an error and of its causes, in one line.
#[must_use]
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut line = message(error);
    for cause in causes(error) {
        line.push_str(": ");
        line.push_str(&cause);
    }
    line
}

/// The message of one error. The number is removed only from errors of the system: any other message may
/// end with a name, which can contain such a text.
fn message(error: &(dyn Error + 'static)) -> String {
    let io_error = error
        .downcast_ref::<io::Error>()
        .or_else(|| error.downcast_ref::<Arc<io::Error>>().map(AsRef::as_ref));
    io_error.map_or_else(|| error.to_string(), os_message)
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
    fn the_error_number_is_left_out_and_a_name_is_not_changed() {
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
    fn only_an_error_of_the_system_means_exhaustion() {
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
    fn a_cause_that_the_message_contains_is_not_repeated() {
        let error = Cannot("it says: No such file or directory", missing());
        assert_eq!(with_causes(&error), "it says: No such file or directory");
    }

    #[test]
    fn only_a_number_at_the_end_is_removed() {
        assert_eq!(without_os_code("a (os error 28)"), "a");
        for text in ["a (os error )", "a (os error x)", "a (os error 2) b", "a", ""] {
            assert_eq!(without_os_code(text), text);
        }
    }
}
