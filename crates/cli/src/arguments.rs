//! The command line: what may be said, and which file answers it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::commands;
use crate::context::{Context, Program};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::wait::wait;
use crate::{help_groups, short, ui};
use runtime::{CHECK_MARK, SET_UP_MARK};

/// A foreman for coding agents: takes tickets, gives each to an agent in its own workspace, checks what comes
/// back and lands it.
#[derive(Debug, Parser)]
#[command(name = "crew", version, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Work in this folder instead of the current one.
    #[arg(short = 'C', value_name = "DIR", value_hint = clap::ValueHint::DirPath, global = true)]
    dir: Option<PathBuf>,
    /// Print one JSON document (see docs/json.md); where a command follows, one line per event.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(commands::init::Init),
    Demo(commands::demo::Demo),
    Run(commands::run::Run),
    Stop(commands::stop::Stop),
    Spawn(commands::spawn::Spawn),
    Assign(commands::assign::Assign),
    Delegate(commands::delegate::Delegate),
    #[command(visible_alias = "d")]
    Dashboard(commands::dashboard::Dashboard),
    Ps(commands::ps::Ps),
    Web(commands::web::Web),
    Peek(commands::peek::Peek),
    Logs(commands::logs::Logs),
    Path(commands::path::Path),
    Diff(commands::diff::Diff),
    Kill(commands::kill::Kill),
    Cleanup(commands::cleanup::Cleanup),
    Clean(commands::clean::Clean),
    Merge(commands::merge::Merge),
    Retry(commands::retry::Retry),
    Drop(commands::drop::Drop),
    Revert(commands::revert::Revert),
    Waive(commands::waive::Waive),
    Approve(commands::approve::Approve),
    Reject(commands::reject::Reject),
    CommitTo(commands::commit_to::CommitTo),
    Inbox(commands::inbox::Inbox),
    Notify(commands::notify::Notify),
    Answer(commands::answer::Answer),
    Wake(commands::wake::Wake),
    Say(commands::say::Say),
    Mode(commands::mode::Mode),
    Bait(commands::bait::Bait),
    Reap(commands::reap::Reap),
    Rewind(commands::rewind::Rewind),
    Queue(commands::queue::Queue),
    Checks(commands::checks::Checks),
    Train(commands::train::Train),
    Explain(commands::explain::Explain),
    History(commands::history::History),
    Events(commands::events::Events),
    Summary(commands::summary::Summary),
    Cost(commands::cost::Cost),
    Diagram(commands::diagram::Diagram),
    Ticket(commands::ticket::Ticket),
    Tool(commands::tool::Tool),
    Mcp(commands::mcp::Mcp),
    Doctor(commands::doctor::Doctor),
    Config(commands::config::Config),
    Completions(commands::completions::Completions),
    Man(commands::man::Man),
    Shim(commands::shim::Shim),
}

/// The commands whose words are a text for somebody.
const OF_TEXT: [&str; 5] = ["say", "answer", "reject", "drop", "waive"];

/// The arguments, of which one that begins with a dash and has blanks is a text and no option:
/// `- mind the gap` is an item of a list. What follows it is text, too.
fn with_texts(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_of_text = |word: &OsString| OF_TEXT.iter().any(|name| word == name);
    let Some(command) = arguments.iter().position(is_of_text) else {
        return arguments;
    };
    let is_text = |word: &OsString| {
        let word = word.to_string_lossy();
        word.starts_with('-') && word.contains(char::is_whitespace)
    };
    let text = arguments.iter().skip(command).position(is_text);
    if let Some(at) = text.map(|at| command + at)
        && !arguments.iter().take(at).any(|word| word == "--")
    {
        arguments.insert(at, "--".into());
    }
    arguments
}

/// The whole program, but for the shim and `tk`.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let arguments = match short::written_out(arguments, &Arguments::command()) {
        Ok(arguments) => arguments,
        Err(error) => {
            ui::show_problem(&error);
            return error.exit().into();
        }
    };
    let mut grammar = help_groups::grouped(Arguments::command());
    let parsed = grammar
        .try_get_matches_from_mut(with_texts(arguments))
        .and_then(|matches| {
            Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut grammar))
        });
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => {
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            };
            // Nobody can be told that the stream is gone.
            let _ = error.print();
            return exit.into();
        }
    };
    let exit = answer(arguments).unwrap_or_else(|error| {
        ui::show_problem(&error);
        error.exit()
    });
    exit.into()
}

fn answer(arguments: Arguments) -> Result<Exit> {
    let mut context = Context::read(arguments.dir.as_deref(), arguments.json)?;
    if let Some(command) = &arguments.command
        && let Some(program) = context.program()
    {
        command.refuse_to(program)?;
    }
    let exit = match arguments.command {
        Some(command) => dispatch(&mut context, command).map_err(|error| match (error, context.place()) {
            (Error::Client(error), Ok(place)) => client::repository::locked_by(&place, error).into(),
            (error, _) => error,
        })?,
        None if context.program().is_none() && commands::dashboard::Dashboard::opens_alone(&context) => {
            wait(commands::dashboard::Dashboard::default().run(&mut context))?
        }
        None => {
            let help = help_groups::grouped(Arguments::command()).render_help();
            let text = if context.out.terminal.colour {
                help.ansi().to_string()
            } else {
                help.to_string()
            };
            context.out.write(&text)?;
            Exit::Done
        }
    };
    context.out.flush()?;
    Ok(exit)
}

impl Command {
    /// Refuses a command that decides something to a program of crew's: an agent could approve its own work,
    /// or end the work of others, also by a test that it has written, and the history would name a person.
    fn refuse_to(&self, program: Program) -> Result<()> {
        let Some(name) = self.of_people() else {
            return Ok(());
        };
        let (who, instead) = match program {
            Program::Agent => (
                "an agent of crew runs it here (CREW_WORKER is set)".to_owned(),
                format!(
                    "an agent asks: `QUESTION: please run crew {name} …`, alone on a line, ends its step"
                ),
            ),
            Program::SetUp => (
                format!("the set-up of a workspace runs it here ({SET_UP_MARK} is set)"),
                "take it out of `[workspace] setup`, and of what those commands call".to_owned(),
            ),
            Program::Check => (
                format!(
                    "a check of crew's runs it here ({CHECK_MARK} is set), whose code an agent may have written"
                ),
                format!(
                    "take it out of the check; one that tries crew in a repository of its own unsets {CHECK_MARK} for that"
                ),
            ),
        };
        Err(Error::usage(
            format!("`crew {name}` is for people, and {who}"),
            format!("{instead}\na person types `crew {name} …` in a terminal of their own"),
        ))
    }

    /// Whether it prints tables that may be longer than a terminal.
    fn prints_a_table(&self) -> bool {
        matches!(
            self,
            Command::Ps(_) | Command::Queue(_) | Command::History(_) | Command::Cost(_)
        )
    }

    /// The name of a command that acts in the name of a person; none of one that looks, or that an agent is
    /// to use.
    fn of_people(&self) -> Option<&'static str> {
        match self {
            Command::Init(_) => Some("init"),
            Command::Run(_) => Some("run"),
            Command::Stop(_) => Some("stop"),
            Command::Spawn(_) => Some("spawn"),
            Command::Assign(_) => Some("assign"),
            Command::Delegate(_) => Some("delegate"),
            // It has keys for the others.
            Command::Dashboard(_) => Some("dashboard"),
            Command::Kill(_) => Some("kill"),
            Command::Cleanup(_) => Some("cleanup"),
            Command::Clean(_) => Some("clean"),
            Command::Merge(_) => Some("merge"),
            Command::Retry(_) => Some("retry"),
            Command::Drop(_) => Some("drop"),
            Command::Revert(_) => Some("revert"),
            Command::Waive(_) => Some("waive"),
            Command::Approve(_) => Some("approve"),
            Command::Reject(_) => Some("reject"),
            Command::CommitTo(_) => Some("commit-to"),
            Command::Answer(_) => Some("answer"),
            // It runs a person's programs, and what it has told is told no more.
            Command::Notify(_) => Some("notify"),
            Command::Wake(_) => Some("wake"),
            Command::Say(_) => Some("say"),
            Command::Mode(_) => Some("mode"),
            Command::Bait(_) => Some("bait"),
            Command::Reap(_) => Some("reap"),
            Command::Rewind(_) => Some("rewind"),
            Command::Checks(checks) => checks.forgets().then_some("checks --forget"),
            Command::Doctor(doctor) => doctor.mends().then_some("doctor --fix"),
            Command::Web(web) => web.decides().then_some("web"),
            Command::Demo(_)
            | Command::Ps(_)
            | Command::Peek(_)
            | Command::Logs(_)
            | Command::Path(_)
            | Command::Diff(_)
            | Command::Inbox(_)
            | Command::Queue(_)
            | Command::Train(_)
            | Command::Explain(_)
            | Command::History(_)
            | Command::Events(_)
            | Command::Summary(_)
            | Command::Cost(_)
            | Command::Diagram(_)
            | Command::Ticket(_)
            | Command::Tool(_)
            | Command::Mcp(_)
            | Command::Config(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Shim(_) => None,
        }
    }
}

/// Runs a command; the table that it printed on a terminal may be one for a pager.
fn dispatch(context: &mut Context, command: Command) -> Result<Exit> {
    if command.prints_a_table() && !context.json {
        context.out.hold();
    }
    let done = call(context, command);
    if let Some(table) = context.out.held() {
        ui::page_table(context, &table)?;
    }
    done
}

fn call(context: &mut Context, command: Command) -> Result<Exit> {
    match command {
        Command::Init(command) => wait(command.run(context)),
        Command::Completions(command) => command.run(context),
        Command::Man(command) => command.run(context),
        Command::Diagram(command) => command.run(context),
        Command::Config(command) => command.run(context),
        Command::Ticket(command) => command.run(context),
        Command::Tool(command) => command.run(context),
        Command::Mcp(command) => wait(command.run(context)),
        Command::Shim(command) => Ok(command.run()),
        Command::Demo(command) => wait(command.run(context)),
        Command::Run(command) => wait(command.run(context)),
        Command::Stop(command) => wait(command.run(context)),
        Command::Spawn(command) => wait(command.run(context)),
        Command::Assign(command) => wait(command.run(context)),
        Command::Delegate(command) => wait(command.run(context)),
        Command::Dashboard(command) => wait(command.run(context)),
        Command::Web(command) => wait(command.run(context)),
        Command::Ps(command) => wait(command.run(context)),
        Command::Peek(command) => wait(command.run(context)),
        Command::Logs(command) => wait(command.run(context)),
        Command::Path(command) => wait(command.run(context)),
        Command::Diff(command) => wait(command.run(context)),
        Command::Kill(command) => wait(command.run(context)),
        Command::Cleanup(command) => wait(command.run(context)),
        Command::Clean(command) => wait(command.run(context)),
        Command::Doctor(command) => wait(command.run(context)),
        Command::Merge(command) => wait(command.run(context)),
        Command::Retry(command) => wait(command.run(context)),
        Command::Drop(command) => wait(command.run(context)),
        Command::Revert(command) => wait(command.run(context)),
        Command::Waive(command) => wait(command.run(context)),
        Command::Approve(command) => wait(command.run(context)),
        Command::Reject(command) => wait(command.run(context)),
        Command::CommitTo(command) => wait(command.run(context)),
        Command::Inbox(command) => wait(command.run(context)),
        Command::Answer(command) => wait(command.run(context)),
        Command::Notify(command) => wait(command.run(context)),
        Command::Wake(command) => wait(command.run(context)),
        Command::Say(command) => wait(command.run(context)),
        Command::Mode(command) => wait(command.run(context)),
        Command::Bait(command) => wait(command.run(context)),
        Command::Reap(command) => wait(command.run(context)),
        Command::Rewind(command) => wait(command.run(context)),
        Command::Queue(command) => wait(command.run(context)),
        Command::Train(command) => wait(command.run(context)),
        Command::Explain(command) => wait(command.run(context)),
        Command::History(command) => wait(command.run(context)),
        Command::Events(command) => wait(command.run(context)),
        Command::Summary(command) => wait(command.run(context)),
        Command::Checks(command) => wait(command.run(context)),
        Command::Cost(command) => wait(command.run(context)),
    }
}
