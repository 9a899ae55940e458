//! The command line as a shell completes it: the whole grammar without what is hidden, and with the names
//! that there are.

use clap::{Arg, ArgAction, Command, CommandFactory as _, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use client::names::{Name, Names};

use super::{Line, names, tk};
use crate::arguments::Arguments;

/// Columns of what is said about a name.
const ABOUT: usize = 60;

/// The grammar without what is hidden, which a shell would complete all the same.
pub(super) fn shown() -> Command {
    let whole = Arguments::command();
    let shown = |command: &&Command| !command.is_hide_set();
    let commands = whole.get_subcommands().filter(shown);
    Command::new("crew")
        .version(env!("CARGO_PKG_VERSION"))
        .args(whole.get_arguments())
        .subcommands(commands)
}

/// The grammar for this line.
pub(super) fn of(line: &Line) -> Command {
    let shown = shown();
    let of_all: Vec<Arg> = shown.get_arguments().cloned().collect();
    let commands: Vec<Command> = shown.get_subcommands().cloned().collect();
    let pages: Vec<String> = commands
        .iter()
        .map(|command| command.get_name().to_owned())
        .collect();
    // The options of the whole program stand with each command, but for those of tk's, which has its own.
    let mut of_all: Vec<Arg> = of_all.into_iter().map(|arg| arg.global(false)).collect();
    of_all.push(flag("help", 'h', "Print help"));
    let with_options = |command: Command| command.disable_help_flag(true).args(of_all.clone());
    let commands = commands.into_iter().map(|command| match command.get_name() {
        "ticket" => tk::grammar(&command),
        "man" => with_options(command).mut_arg("command", |arg| arg.add(commands_of(&pages))),
        // Of two names of one command, the long one is offered.
        "dashboard" => with_options(command.visible_alias(None)).alias("d"),
        _ => with_options(command),
    });
    let commands: Vec<Command> = commands.collect();
    let crew = with_options(Command::new("crew")).arg(flag("version", 'V', "Print version"));
    completed(crew.subcommands(commands), line)
}

fn flag(name: &'static str, short: char, about: &'static str) -> Arg {
    let flag = Arg::new(name).long(name).short(short).help(about);
    flag.action(ArgAction::SetTrue)
}

fn commands_of(names: &[String]) -> ArgValueCandidates {
    let names = names.to_vec();
    ArgValueCandidates::new(move || names.iter().map(CompletionCandidate::new).collect())
}

/// The command, in which the arguments that name something offer its names.
fn completed(command: Command, line: &Line) -> Command {
    let command = command.mut_args(|arg| {
        let arg = match named_by(&arg) {
            Some(names) => arg.add(candidates(names, line)),
            // bash takes what it is given as it is; it offers files itself, and quotes their names.
            None if line.shell == Shell::Bash && arg.get_value_hint() != ValueHint::Unknown => {
                arg.value_hint(ValueHint::Other)
            }
            None => arg,
        };
        // Options are offered once a dash is typed, and where nothing else can come.
        let is_option = !arg.is_positional();
        match is_option && line.is_empty {
            true => arg.hide(true),
            false => arg,
        }
    });
    command.mut_subcommands(|command| completed(command, line))
}

/// The names that an argument takes, by what its value is called in the help.
fn named_by(arg: &Arg) -> Option<fn(&Names) -> Vec<&Name>> {
    if arg.get_id() == "harness" {
        return Some(|names| names.harnesses.iter().collect());
    }
    let value = arg.get_value_names()?.first()?.as_str();
    let is = |wanted: &str| value.split('|').any(|word| word == wanted);
    match (is("AGENT"), is("TICKET")) {
        (true, true) => Some(|names| names.agents.iter().chain(&names.tickets).collect()),
        (true, false) => Some(|names| names.agents.iter().collect()),
        (false, true) => Some(|names| names.tickets.iter().collect()),
        (false, false) => None,
    }
}

fn candidates(of: fn(&Names) -> Vec<&Name>, line: &Line) -> ArgValueCandidates {
    let folder = line.folder.clone();
    ArgValueCandidates::new(move || {
        let names = names(folder.as_deref()).unwrap_or_default();
        let plain = of(&names).into_iter().filter(|name| is_plain(&name.name));
        plain.map(candidate).collect()
    })
}

fn candidate(name: &Name) -> CompletionCandidate {
    let about = text::sanitise::fit(&name.about, ABOUT);
    let about = Some(about).filter(|about| !about.is_empty());
    CompletionCandidate::new(&name.name).help(about.map(Into::into))
}

/// Whether no shell reads the word as anything but itself, and no program as an option.
fn is_plain(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+@%,/".contains(&byte);
    !word.is_empty() && !word.starts_with('-') && word.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_would_read_is_not_offered() {
        for word in ["ada", "t-1", "my_agent.2", "a-1-c1"] {
            assert!(is_plain(word), "{word}");
        }
        for word in [
            "", "-x", "a b", "$(id)", "`id`", "a;b", "a\nb", "*", "~a", "a'b", "ä", "a=b", "!1", "#a",
            "{a,b}",
        ] {
            assert!(!is_plain(word), "{word}");
        }
    }
}
