//! What the program says of an error when it is called `tk`: in tk's own words, and where tk says it. What tk
//! has no words for has a hint below it.

use client::ticket_folder::SaidByTk;

use crate::error::Error;
use crate::exit::Exit;

/// Prints it, and returns how the program ends.
pub(super) fn by_tk(error: &Error) -> Exit {
    let words = match error {
        Error::Client(client::Error::Tickets(tickets)) => tickets.said_by_tk(),
        Error::Client(_) | Error::Closed | Error::Output(_) => None,
    };
    let said = match (error, words) {
        (Error::Closed, _) => return error.exit(),
        (_, Some(words)) => words,
        (Error::Client(client::Error::Refused { what, hint: None }), None) => {
            say(std::io::stderr(), what);
            return error.exit();
        }
        (Error::Client(_) | Error::Output(_), None) => {
            let hint = error.hint().map(|hint| format!("\n  hint: {hint}"));
            SaidByTk::Error(format!(
                "{}{}",
                text::with_causes(error),
                hint.unwrap_or_default()
            ))
        }
    };
    match said {
        SaidByTk::Printed(words) => say(std::io::stdout(), &words),
        SaidByTk::Error(words) => say(std::io::stderr(), &format!("Error: {words}")),
    }
    error.exit()
}

fn say(mut stream: impl std::io::Write, words: &str) {
    let clean = text::sanitise::text(words);
    // Nobody can be told that a stream is gone.
    let _ = writeln!(stream, "{}", clean.trim_end());
}
