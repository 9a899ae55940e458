//! The help of the whole program: its commands in groups.

use std::collections::BTreeMap;
use std::io;

use clap::Command;

use crate::ui;
use crate::ui::Terminal;

/// The groups, in the order in which they are shown, and the commands of each.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Every day",
        &[
            "init", "demo", "run", "stop", "ticket", "inbox", "notify", "answer", "retry", "approve",
            "reject", "waive", "drop", "merge", "revert", "doctor", "clean",
        ],
    ),
    (
        "People and agents",
        &[
            "spawn",
            "assign",
            "delegate",
            "say",
            "mode",
            "wake",
            "bait",
            "kill",
            "reap",
            "cleanup",
            "commit-to",
            "rewind",
        ],
    ),
    (
        "Looking",
        &[
            "dashboard",
            "web",
            "ps",
            "queue",
            "peek",
            "logs",
            "diff",
            "path",
            "explain",
            "checks",
            "train",
            "history",
            "events",
            "summary",
            "cost",
        ],
    ),
    (
        "For developers",
        &["config", "diagram", "tool", "mcp", "completions", "man", "help"],
    ),
];

/// The most columns of a line, as for the help of a command.
const WIDEST: usize = 100;

/// The grammar, with the help that shows its commands in groups.
pub(crate) fn grouped(grammar: Command) -> Command {
    let env: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let columns = Terminal::of(&io::stdout(), &env).columns;
    let width = columns.unwrap_or(WIDEST).min(WIDEST);
    let header = *grammar.get_styles().get_header();
    let groups: String = GROUPS
        .iter()
        .map(|(name, commands)| {
            let rows: String = commands
                .iter()
                .filter_map(|command| row(&grammar, command, width))
                .collect();
            format!("{header}{name}:{header:#}\n{rows}\n")
        })
        .collect();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}"
    );
    grammar.help_template(template)
}

/// A command with what it does; none where there is no such command.
fn row(grammar: &Command, name: &str, width: usize) -> Option<String> {
    let all = GROUPS.iter().flat_map(|(_, commands)| commands.iter());
    let room = all.map(|name| name.len()).max().unwrap_or(0);
    let about = match name {
        "help" => "Print this, or the help of a command".to_owned(),
        name => {
            let command = grammar.find_subcommand(name)?;
            let alias = command.get_visible_aliases().next();
            let alias = alias.map(|alias| format!(" [alias: {alias}]"));
            let about = command.get_about().map(ToString::to_string);
            about.unwrap_or_default() + &alias.unwrap_or_default()
        }
    };
    let literal = *grammar.get_styles().get_literal();
    let lines = ui::wrap_line(&format!("  {name:<room$}  {about}"), Some(width), room + 4);
    let text = lines.join("\n");
    let rest = text.strip_prefix("  ")?.strip_prefix(name)?;
    Some(format!("  {literal}{name}{literal:#}{rest}\n"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn each_command_is_in_one_group() {
        for command in Arguments::command()
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
        {
            let all = GROUPS.iter().flat_map(|(_, commands)| commands.iter());
            let found = all.filter(|name| **name == command.get_name()).count();
            assert_eq!(found, 1, "{}", command.get_name());
        }
    }
}
