//! `crew ticket …`, and the program when it is called `tk`: the queue by hand, in tk's words.

mod create;
mod edit;
mod help;
mod list;
mod make;
mod plugin;
mod query;
mod said;
mod standing;
mod status;

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use client::ticket_folder::{Author, Sought, Status, TicketFolder};
use mcp::Caller;
use model::TicketId;
use model::policy::route::{BY_DELEGATION, Refusal};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;
use crate::wait::wait;
use client::error::Doing as _;
use runtime::Place;

/// The queue by hand, with tk's commands: create, ls, ready, show, dep … (`crew ticket help`)
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Ticket {
    /// A command of tk's, and what it takes.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "TK COMMAND"
    )]
    words: Vec<OsString>,
}

impl Ticket {
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit> {
        tell(context, &self.words, Whose::Repository)
    }
}

/// The program that is called `tk`.
pub(crate) fn tk(words: &[OsString]) -> ExitCode {
    let done = Context::read(None, false).and_then(|mut context| {
        let exit = tell(&mut context, words, Whose::Tk)?;
        context.out.flush()?;
        Ok(exit)
    });
    done.unwrap_or_else(|error| said::by_tk(&error)).into()
}

/// Whose folder is meant where `TICKETS_DIR` does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// The repository's, from wherever it is called.
    Repository,
    /// The nearest one.
    Tk,
}

/// One command of tk's: what it was given, and where its queue is.
struct Call<'a> {
    context: &'a mut Context,
    words: Vec<String>,
    whose: Whose,
    given: Option<PathBuf>,
    start: PathBuf,
    /// Why `start` is in no repository, where the folder of one is meant.
    outside: Option<Error>,
}

fn tell(context: &mut Context, words: &[OsString], whose: Whose) -> Result<Exit> {
    let mut text = Vec::new();
    for word in words {
        let Some(word) = word.to_str() else {
            return wrong("an argument is not UTF-8");
        };
        text.push(word.to_owned());
    }
    let is_super = text.first().is_some_and(|word| word == "super");
    let Some((command, rest)) = text[usize::from(is_super)..].split_first() else {
        let help = help::help(context, whose);
        context.out.write(&help)?;
        return Ok(Exit::Done);
    };
    let is_asked = |word: &str| is_help(word) || word == "help";
    let plugin = (!is_super && !is_asked(command)).then(|| plugin::find(context, command));
    let plugin = plugin.flatten();
    let is_help_of = rest.first().is_some_and(|word| is_help(word));
    if is_asked(command) || (plugin.is_none() && is_help_of) {
        let help = help::help(context, whose);
        context.out.write(&help)?;
        return Ok(Exit::Done);
    }
    let given = standing::given(context);
    let (start, outside) = match whose {
        Whose::Repository => root(context)?,
        Whose::Tk => (context.dir.clone(), None),
    };
    let mut call = Call {
        context,
        words: rest.to_vec(),
        whose,
        given,
        start,
        outside,
    };
    if let Some(plugin) = plugin {
        return call.become_plugin(&plugin);
    }
    match command.as_str() {
        "create" => call.create(),
        "status" => call.status(),
        "start" => call.set(Status::InProgress),
        "close" => call.set(Status::Closed),
        "reopen" => call.set(Status::Open),
        "dep" => call.dep(),
        "undep" => call.undep(),
        "link" => call.link(),
        "unlink" => call.unlink(),
        "ls" | "list" => call.ls(),
        "ready" => call.ready(),
        "blocked" => call.blocked(),
        "closed" => call.closed(),
        "show" => call.show(),
        "edit" => call.edit(),
        "add-note" => call.add_note(),
        "query" => call.query(),
        unknown if whose == Whose::Tk => {
            let help = help::help(call.context, whose);
            wrong(format!("Unknown command: {}\n{help}", ui::clean(unknown)))
        }
        unknown => {
            let near =
                model::settings::nearest(unknown, COMMANDS).map(|near| format!("did you mean {near}?"));
            let hint = near.unwrap_or_else(|| "`crew ticket help` lists the commands".to_owned());
            Err(Error::refused(
                format!("Unknown command: {}", ui::clean(unknown)),
                hint,
            ))
        }
    }
}

/// The root of the repository; where there is none, the folder of the call, and the reason.
fn root(context: &Context) -> Result<(PathBuf, Option<Error>)> {
    // git is asked only where crew has not been: its dozen calls take longer than a listing.
    if let Some(root) = runtime::known_root(&context.dir) {
        return Ok((root, None));
    }
    match Place::find(&context.dir, &context.env) {
        Ok(place) => Ok((place.root, None)),
        // The tickets of this repository are the engine's; a ticket in another folder would be of no use to
        // anybody.
        Err(error @ runtime::Error::CrewDir { .. }) => Err(error.into()),
        Err(error) => Ok((context.dir.clone(), Some(error.into()))),
    }
}

/// Whether a word asks for help. tk has no such option, and no title begins with a dash.
fn is_help(word: &str) -> bool {
    matches!(word, "--help" | "-h")
}

/// tk's commands.
pub(crate) const COMMANDS: [&str; 17] = [
    "create", "status", "start", "close", "reopen", "dep", "undep", "link", "unlink", "ls", "ready",
    "blocked", "closed", "show", "edit", "add-note", "query",
];

/// A command line that tk would refuse too, with its exit code.
fn wrong<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::from(client::Error::Refused {
        what: what.into(),
        hint: None,
    }))
}

impl Call<'_> {
    fn folder(&self) -> Result<TicketFolder> {
        Ok(TicketFolder::find(&self.sought())?)
    }

    /// The folder that `TICKETS_DIR` names; else that of the repository, which the engine reads, and none
    /// above it; else the nearest one.
    fn sought(&self) -> Sought<'_> {
        match (&self.given, self.whose, &self.outside) {
            (Some(given), _, _) => Sought::At(self.start.join(given)),
            (None, Whose::Repository, None) => Sought::Of(&self.start),
            (None, Whose::Tk | Whose::Repository, _) => Sought::Nearest(&self.start),
        }
    }

    /// Takes `--json` out of the words, for a command that has a document.
    fn takes_json(&mut self) {
        let before = self.words.len();
        self.words.retain(|word| word != "--json");
        self.context.json |= self.words.len() < before;
    }

    /// The words, which must be exactly so many.
    fn exactly<const N: usize>(&self, usage: &str) -> Result<[&str; N]> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        words.try_into().or_else(|_| wrong(self.usage(usage)))
    }

    fn usage(&self, usage: &str) -> String {
        format!("Usage: {} {usage}", self.whose.name())
    }

    /// How `dep` is called.
    fn usage_of_dep(&self) -> String {
        let name = self.whose.name();
        format!(
            "dep <id> <dependency-id>\n       {name} dep tree <id>  - show dependency tree\n       {name} dep cycle      - find dependency cycles"
        )
    }

    fn dep(&mut self) -> Result<Exit> {
        match self.words.first().map(String::as_str) {
            Some("tree") => return self.tree(),
            Some("cycle") => {
                let text = self.folder()?.dependency_cycles()?;
                return self.print(&text);
            }
            Some(_) | None => {}
        }
        let folder = self.folder()?;
        let [id, on] = self.exactly(&self.usage_of_dep())?;
        self.expect_may_change(&folder, &[id])?;
        self.refuse_lock(&folder, id, on)?;
        let text = folder.add_dependency(id, on)?;
        self.print(&text)
    }

    /// Refuses a dependency that would never end because of who has delegated what: only the journal knows
    /// that, which an agent's process does not read. Where it cannot be read, `crew inbox` tells of the lock.
    fn refuse_lock(&self, folder: &TicketFolder, id: &str, on: &str) -> Result<()> {
        if self.whose == Whose::Tk || self.context.program().is_some() {
            return Ok(());
        }
        let Ok((place, settings)) = self.context.ready() else {
            return Ok(());
        };
        if folder.path() != place.tickets_dir {
            return Ok(());
        }
        let [id, on] = [id, on].map(|id| folder.resolve(id));
        let (Ok(id), Ok(on)) = (TicketId::new(id?), TicketId::new(on?)) else {
            return Ok(());
        };
        let found = wait(async { Ok(client::dependency::cycle_with(&place, &settings, &id, &on).await?) });
        match found {
            // tk has words of its own for the others.
            Ok(Some(Refusal::Cycle { path, waiting, .. })) if !waiting.is_empty() => {
                let path: Vec<&str> = path.iter().map(TicketId::as_str).collect();
                let what = format!("{id} would wait for itself: {}", path.join(" → "));
                Err(Error::refused(what, BY_DELEGATION))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn tree(&mut self) -> Result<Exit> {
        let full = self.words.iter().any(|word| word == "--full");
        let rest: Vec<&String> = self
            .words
            .iter()
            .skip(1)
            .filter(|word| *word != "--full")
            .collect();
        let [asked] = rest.as_slice() else {
            return wrong(self.usage("dep tree [--full] <id>"));
        };
        let text = self.folder()?.dependency_tree(asked, full)?;
        self.print(&text)
    }

    fn undep(&mut self) -> Result<Exit> {
        let folder = self.folder()?;
        let [id, on] = self.exactly("undep <id> <dependency-id>")?;
        self.expect_may_change(&folder, &[id])?;
        let text = folder.remove_dependency(id, on)?;
        self.print(&text)
    }

    fn link(&mut self) -> Result<Exit> {
        if self.words.len() < 2 {
            return wrong(self.usage("link <id> <id> [id...]"));
        }
        let folder = self.folder()?;
        let ids: Vec<&str> = self.words.iter().map(String::as_str).collect();
        self.expect_may_change(&folder, &ids)?;
        let text = folder.link(&self.words)?;
        self.print(&text)
    }

    fn unlink(&mut self) -> Result<Exit> {
        let folder = self.folder()?;
        let [a, b] = self.exactly("unlink <id> <target-id>")?;
        self.expect_may_change(&folder, &[a, b])?;
        let text = folder.unlink(a, b)?;
        self.print(&text)
    }

    fn show(&mut self) -> Result<Exit> {
        self.takes_json();
        let folder = self.folder()?;
        let [id] = self.exactly("show <id>")?;
        if self.context.json {
            let shown = folder.shown(id)?;
            self.context.out.json(&shown)?;
            return Ok(Exit::Done);
        }
        let text = folder.show(id, self.context.out.terminal.is)?;
        self.print(&text)
    }

    fn add_note(&mut self) -> Result<Exit> {
        let Some((asked, text)) = self.words.split_first() else {
            return wrong(self.usage("add-note <id> [note text]"));
        };
        let folder = self.folder()?;
        // The note is asked for only if there is such a ticket.
        let id = folder.resolve(asked)?;
        let text = if text.is_empty() {
            if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
                let hint = "put its text behind the id, or into the standard input";
                return Err(Error::refused("no note provided", hint));
            }
            let mut note = String::new();
            std::io::stdin()
                .read_to_string(&mut note)
                .doing("read the note from", Path::new("standard input"))?;
            note
        } else {
            text.join(" ")
        };
        if let Some(caller) = self.caller(&folder, &id) {
            let reply = caller.call("team_comment", serde_json::json!({ "text": text }));
            let reply = reply.map_err(|error| Error::refused(text::with_causes(&error), error.hint()))?;
            self.context.out.text(&reply.says)?;
            self.context.out.line("")?;
            return Ok(match reply.accepted {
                true => Exit::Done,
                false => Exit::Failed,
            });
        }
        let author = match (self.agent_at(&folder), self.context.hook()) {
            (Some(agent), _) => Author::Agent(agent),
            (None, Some(hook)) => Author::Hook(hook),
            (None, None) => Author::Person,
        };
        let text = folder.add_note(&id, &author, &text)?;
        self.print(&text)
    }

    /// The agent whose step this is, where it works on this ticket: its note goes through crew.
    fn caller(&self, folder: &TicketFolder, id: &str) -> Option<Caller> {
        self.agent_at(folder)?;
        let caller = Caller::of(&self.context.env).ok()?;
        let may_note = caller.tools().iter().any(|tool| tool.name == "team_comment");
        (may_note && caller.ticket() == id).then_some(caller)
    }

    /// Text that the tickets' crate made, harmless already.
    fn print(&mut self, text: &str) -> Result<Exit> {
        self.context.out.write(text)?;
        Ok(Exit::Done)
    }
}
