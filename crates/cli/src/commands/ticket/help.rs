//! The help of the queue's commands.

use super::{Whose, plugin};
use crate::context::Context;
use crate::ui;

impl Whose {
    /// What the program is called with.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Repository => "crew ticket",
            Self::Tk => "tk",
        }
    }
}

/// The help, with the plugins that there are.
pub(super) fn help(context: &Context, whose: Whose) -> String {
    let name = whose.name();
    let mut text = format!("{name} - minimal ticket system with dependency tracking\n\n");
    text.push_str(&format!("Usage: {name} <command> [args]\n\n{COMMANDS}"));
    let plugins = plugin::list(context);
    if !plugins.is_empty() {
        text.push_str("\nPlugins (tk-<cmd> or ticket-<cmd> in PATH):\n");
        for (command, about) in plugins {
            text.push_str(&format!("  {:<22} {}\n", ui::clean(&command), ui::clean(&about)));
        }
    }
    text.push_str(END);
    text
}

const COMMANDS: &str = "\
Commands:
  create <title> [options]    Create a ticket, print its id
      -d, --description TEXT    --design TEXT      --acceptance TEXT
      -t, --type TYPE           bug | feature | task | epic | chore [task]
      -p, --priority 0-4        0 comes first [2]
      -a, --assignee NAME       counts only when it names an agent
      --external-ref REF        --parent ID        --tags a,b
      --deps ID,ID              The tickets that must be done before
  start | close | reopen <id> Set the status
  status <id> <status>        Set the status: open, in_progress, closed
  dep <id> <on>               Make a ticket wait for another
  dep tree [--full] <id>      Show what it waits for
  dep cycle                   Find cycles
  undep <id> <on>             Take a dependency away
  link <id> <id> [id...]      Link tickets; unlink <id> <id>
  ls [--status=S] [-a X] [-T X]         List tickets
  ready | blocked [-a X] [-T X]         List what can be begun; what waits
  closed [--limit=N] [-a X] [-T X]      List what was closed last
  show <id>                   Show a ticket
      --json                    these and the listings, as one JSON document
  edit <id>                   Open it in $VISUAL or $EDITOR; without a terminal, say which file it is
  add-note <id> [text]        Add a note (or from standard input)
  query [filter]              Front matter as JSON lines: those that jq's select(filter) passes
  super <command> [args]      The command itself, where a plugin has its name
";

const END: &str = "
Plugins get TICKETS_DIR and TK_SCRIPT; `$TK_SCRIPT super <command>` calls a command itself.
The folder is $TICKETS_DIR, else the repository's .tickets (`tk`: the nearest). Ids may be shortened.
";
