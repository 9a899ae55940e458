//! Short names of commands: one that looks may be shortened to a beginning that is its alone. One that acts
//! is written out, so that a slip does nothing.

use std::ffi::OsString;

use clap::Command;

use crate::error::{Error, Result};

/// The commands that look.
const LOOKING: [&str; 19] = [
    "dashboard",
    "ps",
    "peek",
    "logs",
    "diff",
    "path",
    "inbox",
    "queue",
    "checks",
    "train",
    "explain",
    "history",
    "events",
    "summary",
    "cost",
    "diagram",
    "doctor",
    "config",
    "man",
];

/// The arguments of the program, the name of the command written out.
///
/// # Errors
/// The name is the beginning of several commands, or of one that acts.
pub(crate) fn written_out(mut arguments: Vec<OsString>, grammar: &Command) -> Result<Vec<OsString>> {
    let Some(at) = command_at(&arguments) else {
        return Ok(arguments);
    };
    let is_help = arguments[at] == "help";
    let at = if is_help { at + 1 } else { at };
    let Some(word) = arguments.get(at).and_then(|word| word.to_str()) else {
        return Ok(arguments);
    };
    let commands = || grammar.get_subcommands().filter(|command| !command.is_hide_set());
    let is_known = |command: &Command| {
        command.get_name() == word || command.get_all_aliases().any(|alias| alias == word)
    };
    if word.is_empty() || word == "help" || grammar.get_subcommands().any(is_known) {
        return Ok(arguments);
    }
    let names = commands().map(Command::get_name);
    let begun: Vec<&str> = names.filter(|name| name.starts_with(word)).collect();
    match begun.as_slice() {
        [] => match instead_of(word) {
            Some(instead) => Err(Error::usage(format!("crew has no command `{word}`"), instead)),
            None => Ok(arguments),
        },
        [name] if is_help || LOOKING.contains(name) => {
            arguments[at] = OsString::from(*name);
            Ok(arguments)
        }
        [name] => Err(Error::usage(
            format!("`{word}` is no command, and a command that acts is not shortened"),
            format!("if it is meant: crew {name}"),
        )),
        several => Err(Error::usage(
            format!("several commands begin with `{word}`"),
            format!("it could be {}", several.join(", ")),
        )),
    }
}

/// What does the thing that a name promises which other programs have and crew has not: the most similar name
/// would lead astray.
fn instead_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "status" | "stat" => "crew ps shows the agents, crew queue the tickets",
        "show" => "crew explain <ticket> says where it stands; crew ticket show <ticket> prints its file",
        "list" | "ls" => "crew queue lists the tickets at work, crew ticket ls all that are open",
        "add" | "new" | "create" => "crew ticket create makes a ticket",
        "start" | "up" => "crew run starts the engine",
        _ => return None,
    })
}

/// Where the name of the command stands: behind the options of the whole program.
fn command_at(arguments: &[OsString]) -> Option<usize> {
    let mut at = 1;
    loop {
        let word = arguments.get(at)?.to_string_lossy();
        at += match word.as_ref() {
            "-C" => 2,
            "--" => return None,
            option if option.starts_with('-') => 1,
            _ => return Some(at),
        };
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn a_command_that_looks_is_shortened_and_one_that_acts_is_not() {
        let grammar = Arguments::command();
        let written = |line: &str| {
            let words = line.split(' ').map(OsString::from).collect();
            written_out(words, &grammar).map(|words| {
                let words = words.iter().map(|word| word.to_string_lossy().into_owned());
                words.collect::<Vec<_>>().join(" ")
            })
        };
        for (line, whole) in [
            ("crew expl t-1", "crew explain t-1"),
            ("crew --json -C dir lo ada", "crew --json -C dir logs ada"),
            ("crew d", "crew d"),
            ("crew stop", "crew stop"),
            ("crew help st", "crew help stop"),
            ("crew frobnicate", "crew frobnicate"),
            ("crew sh", "crew sh"),
            ("crew -- expl", "crew -- expl"),
        ] {
            assert_eq!(written(line).unwrap(), whole);
        }
        for line in [
            "crew st",
            "crew cleanu ada",
            "crew cle",
            "crew retr t-1",
            "crew status",
            "crew add x",
        ] {
            assert!(written(line).is_err(), "{line}");
        }
    }
}
