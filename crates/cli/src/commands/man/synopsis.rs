//! The synopsis of a page: each argument with the name of its value, which the generator of the pages leaves
//! out.

use clap::{Arg, Command};

/// The section, in roff.
pub(super) fn section(command: &Command) -> String {
    format!(".SH SYNOPSIS\n{}\n", line(command))
}

/// The section of a command's own commands, which have no page of their own.
pub(super) fn of_commands(command: &Command) -> String {
    let shown = command
        .get_subcommands()
        .filter(|one| !one.is_hide_set() && one.get_name() != "help");
    let mut text = ".SH COMMANDS\n".to_owned();
    for one in shown {
        let about = one.get_about().map(ToString::to_string).unwrap_or_default();
        text.push_str(&format!(".TP\n{}\n{}\n", line(one), escaped(&about)));
        let own = one
            .get_arguments()
            .filter(|arg| !arg.is_global_set() && !arg.is_hide_set() && arg.get_id() != "help");
        for arg in own {
            let word = if arg.is_positional() {
                positional(arg)
            } else {
                option(arg)
            };
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!(".br\n{word}: {}\n", escaped(&help)));
        }
    }
    text
}

fn line(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut line = format!("\\fB{}\\fR", escaped(name));
    let shown = || command.get_arguments().filter(|arg| !arg.is_hide_set());
    let options = shown().filter(|arg| !arg.is_positional());
    let positionals = command.get_positionals().filter(|arg| !arg.is_hide_set());
    for word in options.map(option).chain(positionals.map(positional)) {
        line.push(' ');
        line.push_str(&word);
    }
    if command.has_subcommands() {
        line.push_str(" [\\fICOMMAND\\fR]");
    }
    line
}

fn option(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = [short, long]
        .into_iter()
        .flatten()
        .map(|name| format!("\\fB{}\\fR", escaped(&name)))
        .collect();
    let value = match arg.get_action().takes_values() {
        true => format!(" {}", value(arg)),
        false => String::new(),
    };
    let word = format!("{}{value}", names.join("|"));
    if arg.is_required_set() {
        word
    } else {
        format!("[{word}]")
    }
}

fn positional(arg: &Arg) -> String {
    let many = arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    let more = if many { "..." } else { "" };
    let word = format!("{}{more}", value(arg));
    if arg.is_required_set() {
        word
    } else {
        format!("[{word}]")
    }
}

/// The name of the value, as the options have it.
fn value(arg: &Arg) -> String {
    let named = arg.get_value_names().unwrap_or_default();
    let names: Vec<String> = match named.is_empty() {
        true => vec![arg.get_id().as_str().to_uppercase()],
        false => named.iter().map(ToString::to_string).collect(),
    };
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("\\fI<{}>\\fR", escaped(name)))
        .collect();
    names.join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('-', "\\-")
}
