//! tk's commands, as a shell completes them behind `crew ticket`.

use clap::{Arg, Command};

/// The statuses that `status` and `ls` take.
const STATUSES: [&str; 3] = ["open", "in_progress", "closed"];

/// `crew ticket` with tk's commands, which the program itself reads word by word.
pub(super) fn grammar(ticket: &Command) -> Command {
    let about = ticket.get_about().cloned().unwrap_or_default();
    let status = || Arg::new("status").value_parser(STATUSES);
    let listed = |name: &'static str, about: &'static str| {
        command(name, about)
            .arg(option("assignee", Some('a'), "AGENT"))
            .arg(option("tag", Some('T'), "TAG"))
    };
    let commands = [
        command("create", "Create a ticket, print its id")
            .arg(Arg::new("title"))
            .arg(option("description", Some('d'), "TEXT"))
            .arg(option("design", None, "TEXT"))
            .arg(option("acceptance", None, "TEXT"))
            .arg(option("type", Some('t'), "TYPE").value_parser(["bug", "feature", "task", "epic", "chore"]))
            .arg(option("priority", Some('p'), "N").value_parser(["0", "1", "2", "3", "4"]))
            .arg(option("assignee", Some('a'), "AGENT"))
            .arg(option("external-ref", None, "REF"))
            .arg(option("parent", None, "TICKET"))
            .arg(option("tags", None, "TAGS"))
            .arg(option("deps", None, "TICKET").value_delimiter(',')),
        command("start", "Set the status to in_progress").arg(id("id")),
        command("close", "Set the status to closed").arg(id("id")),
        command("reopen", "Set the status to open").arg(id("id")),
        command("status", "Set the status").arg(id("id")).arg(status()),
        command("dep", "Make a ticket wait for another")
            .subcommand(
                command("tree", "Show what a ticket waits for")
                    .arg(Arg::new("full").long("full").num_args(0))
                    .arg(id("id")),
            )
            .subcommand(command("cycle", "Find cycles"))
            .arg(id("id"))
            .arg(id("on")),
        command("undep", "Take a dependency away")
            .arg(id("id"))
            .arg(id("on")),
        command("link", "Link tickets").arg(id("ids").num_args(2..)),
        command("unlink", "Unlink two tickets")
            .arg(id("id"))
            .arg(id("target")),
        listed("ls", "List tickets")
            .alias("list")
            .arg(option("status", None, "STATUS").value_parser(STATUSES)),
        listed("ready", "List what can be begun"),
        listed("blocked", "List what waits"),
        listed("closed", "List what was closed last").arg(option("limit", None, "N")),
        command("show", "Show a ticket").arg(id("id")),
        command("edit", "Open a ticket in the editor").arg(id("id")),
        command("add-note", "Add a note")
            .arg(id("id"))
            .arg(Arg::new("text")),
        command("query", "Print the front matter as JSON lines").arg(Arg::new("filter")),
        command("help", "Print the help"),
    ];
    command("ticket", "").about(about).subcommands(commands)
}

fn command(name: &'static str, about: &'static str) -> Command {
    Command::new(name)
        .about(about)
        .disable_help_flag(true)
        .disable_help_subcommand(true)
}

fn option(name: &'static str, short: Option<char>, value: &'static str) -> Arg {
    let option = Arg::new(name).long(name).value_name(value);
    match short {
        Some(short) => option.short(short),
        None => option,
    }
}

fn id(name: &'static str) -> Arg {
    Arg::new(name).value_name("TICKET")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::commands::ticket::COMMANDS;

    #[test]
    fn the_commands_that_are_completed_are_those_that_there_are() {
        let mut grammar = grammar(&Command::new("ticket"));
        let offered: BTreeSet<&str> = grammar.get_subcommands().map(Command::get_name).collect();
        let there: BTreeSet<&str> = COMMANDS.into_iter().chain(["help"]).collect();
        assert_eq!(offered, there);
        // clap's own rules: no option twice, no two arguments of one name.
        grammar.build();
    }
}
