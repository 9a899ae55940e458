//! Target `settings`: a settings file is read as a whole, or refused at a position inside it; printed
//! settings read back the same.

use model::settings::{Diagnostic, Settings};

use crate::shown;

pub(crate) fn check(bytes: &[u8]) {
    match Settings::parse_bytes(bytes, "crew.toml") {
        Ok(settings) => {
            let printed = toml::to_string_pretty(&settings)
                .unwrap_or_else(|error| panic!("settings can be printed: {error}"));
            let again = Settings::parse(&printed, "crew.toml")
                .unwrap_or_else(|problems| panic!("{printed}\n{problems:#?}"));
            assert_eq!(again, settings, "{printed}");
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a problem");
            for problem in &problems {
                check_position(&String::from_utf8_lossy(bytes), problem);
                shown::harmless(&problem.to_string());
                assert!(!problem.message.is_empty(), "{problem:?}");
            }
        }
    }
}

/// Panics unless the position of a problem is in the text or at its end.
fn check_position(text: &str, problem: &Diagnostic) {
    let lines: Vec<&str> = text.split('\n').collect();
    let line = lines
        .get(problem.line.wrapping_sub(1))
        .unwrap_or_else(|| panic!("line {} of {}", problem.line, lines.len()));
    let columns = line.chars().count() + 1;
    assert!(
        (1..=columns).contains(&problem.column),
        "column {} of {columns}: {problem}",
        problem.column
    );
}
