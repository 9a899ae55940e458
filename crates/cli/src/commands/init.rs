//! `crew init`: makes a repository ready for a crew.

mod found;

use std::ffi::OsStr;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use clap::Args;
use model::settings::{self, Harness, HarnessKind, Proposal, Settings};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::interrupts::interrupts;
use crate::ui::{self, Style};
use client::documents;
use client::engine::{self, Engine};
use client::error::Doing as _;
use found::Found;
use model::target::{Verdict, install};
use model::ticket::CheckPlan;
use runtime::Place;

/// Make this repository ready: write crew.toml, make .tickets/, ignore crew's own folder
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    /// Run the set-up and the checks on the target at once, as the first `crew run` will. This happens in a
    /// terminal anyway.
    #[arg(long = "try")]
    tries: bool,
    /// The program that agents run on, with its arguments: `claude` for Claude Code, else any program, such
    /// as ./agent.sh or "codex exec --sandbox workspace-write -". Without it: claude, where it is installed.
    #[arg(long, value_name = "PROGRAM")]
    agent: Option<String>,
}

/// The variables that name the service and the account of Claude Code: those that are set here are named in
/// its table, so that the agents get the same settings as a person in a terminal.
const CLAUDE_ENV: [&str; 4] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
];

impl Init {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.place()?;
        if place.settings_path.exists() {
            return Err(Error::refused(
                format!("{} exists already", place.settings_path.display()),
                "edit it; `crew config` shows what it comes to",
            ));
        }
        // Another branch has the settings then, and its tickets would land on this one.
        if client::repository::has_settings_elsewhere(&place) {
            return Err(runtime::Error::NotInitialised {
                root: place.root.clone(),
                has_begun: true,
            }
            .into());
        }
        // The worktree in which a person says this is the one that they mean.
        let place = place.rooted_here(&context.dir)?;
        if !self.yes && !std::io::stdin().is_terminal() {
            return Err(Error::usage(
                "`crew init` asks before it writes, and there is no terminal to ask on",
                "crew init --yes",
            ));
        }
        if self.tries && context.json {
            return Err(Error::usage(
                "`crew init --try` shows the checks as they run, and --json has no place for that",
                "crew init --json, and then crew run",
            ));
        }
        let target = client::repository::checked_out_branch(&place)?;
        settings::branch_name(&target).map_err(|why| {
            Error::refused(
                format!("work cannot land on {target}: it {why}"),
                "switch to the branch that work is to land on",
            )
        })?;
        let found = Found::of(context, &place)?;
        let checks = found.checks();
        let harness = self.harness(context, &place)?;
        let empty = place.empty_submodules(&format!("refs/heads/{target}"));
        if !context.json {
            plan(
                context,
                &place,
                &target,
                &found,
                harness.as_ref().map(|(_, harness)| harness),
            )?;
            if !empty.is_empty() {
                let says = format!("  submodules      not here: {}", empty.join(", "));
                context
                    .out
                    .styled(&text::sanitise::output_line(&says), Style::Yellow)?;
                context.out.styled(
                    "  Agents and checks find these folders empty: git submodule update --init --recursive",
                    Style::Yellow,
                )?;
            }
        }
        // `crew run` would refuse to start.
        let unplaced = match checks.commands.is_empty() {
            true => None,
            false => place.check_slots_dir().err(),
        };
        if let Some(error) = unplaced.as_ref().filter(|_| !context.json) {
            let says = format!("  `crew run` will refuse to start: {}", text::with_causes(error));
            context.out.styled(&says, Style::Yellow)?;
        }
        if !self.yes && !context.out.confirm("Write crew.toml? [Y/n] ", true)? {
            context.out.line("nothing was written")?;
            return Ok(Exit::Failed);
        }
        write(&place, &target, &found.proposal(), harness.as_ref())?;
        if context.json {
            context.out.json(&documents::Init {
                settings: place.settings_path.to_string_lossy().into_owned(),
                target,
                runner: found.taken.as_ref().map(|taken| taken.runner),
                seen_in: found.taken.map(|taken| taken.seen_in),
                also_seen: found.also_seen.iter().map(|other| other.runner).collect(),
                missing: found.missing,
                setup: checks.setup,
                guarded: !checks.commands.is_empty(),
                checks: checks.commands,
                harness: harness.map(|(name, _)| name),
            })?;
            return Ok(Exit::Done);
        }
        context.out.styled("wrote crew.toml", Style::Green)?;
        let in_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let mut exit = Exit::Done;
        if (self.tries || in_terminal) && !checks.commands.is_empty() && unplaced.is_none() {
            exit = try_checks(context, &place, &target).await?;
        } else if self.tries && checks.commands.is_empty() {
            context.out.styled(
                "nothing was tried: there are no checks. Name them in crew.toml, as [checks] commands",
                Style::Yellow,
            )?;
        }
        context.out.line("next:")?;
        for program in &found.missing {
            context.out.line(&format!("  {}", install(program)))?;
        }
        if let Some(hint) = unplaced.and_then(|error| error.hint()) {
            context.out.line(&format!("  {hint}"))?;
        }
        if harness.is_none() {
            context
                .out
                .line("  name your agent's program in crew.toml, under [agents] and [harness.…]")?;
        }
        let file = from(&context.dir, &place.settings_path);
        let is_ignored = client::repository::is_ignored(&place, settings::FILE_NAME)?;
        let force = if is_ignored { "--force " } else { "" };
        context.out.line(&format!(
            "  git add {force}{file} && git commit -m 'Add crew.toml'"
        ))?;
        context.out.line("  crew ticket create 'What is to be done'")?;
        context.out.line("  crew run --until-idle")?;
        Ok(exit)
    }

    /// The harness that is to be named, with its table.
    fn harness(&self, context: &Context, place: &Place) -> Result<Option<(String, Harness)>> {
        let claude = HarnessKind::Claude.name();
        let path = context.env.get("PATH").map(OsStr::new);
        let Some(agent) = &self.agent else {
            let found = process::find_program(Path::new(claude), path, Path::new("/"));
            return Ok(found.is_ok().then(|| (claude.to_owned(), claude_code(context))));
        };
        if agent.chars().any(char::is_control) {
            return Err(Error::usage(
                "the agent's program cannot be empty or hold control characters",
                "such as --agent claude, or --agent ./agent.sh",
            ));
        }
        // As a shell would split it; a program is started without one.
        let Some(command) = shlex::split(agent) else {
            return Err(Error::usage(
                format!("a quote in --agent is not closed, or a \\ ends it: {agent}"),
                "write it as in a shell, such as --agent 'codex exec --sandbox workspace-write -'",
            ));
        };
        let Some(program) = command.first().filter(|program| !program.trim().is_empty()) else {
            return Err(Error::usage(
                "the agent's program cannot be empty or hold control characters",
                "such as --agent claude, or --agent ./agent.sh",
            ));
        };
        process::find_program(Path::new(program), path, &place.root).map_err(|not| {
            Error::refused(
                format!("agents cannot run on {program}: {}", not.why),
                "name a program on your PATH, or a path from the repository's root",
            )
        })?;
        let is_claude = Path::new(program).file_name() == Some(OsStr::new(claude));
        let (name, mut harness) = if is_claude {
            (claude.to_owned(), claude_code(context))
        } else {
            (table_name(program), Harness::new(HarnessKind::Command))
        };
        harness.command = command;
        Ok(Some((name, harness)))
    }
}

/// The name of the table of a program, by which messages speak of it: the program's own, without its folder
/// and its ending.
fn table_name(program: &str) -> String {
    let stem = Path::new(program).file_stem().unwrap_or_default();
    let name: String = stem
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        // No name of a table is longer.
        .take(64)
        .collect();
    match name.trim_matches('-') {
        // A table named `claude` is for Claude Code itself, and not for a script around it.
        "" | "claude" => "agent".to_owned(),
        name => name.to_owned(),
    }
}

/// Runs the checks on the target, and shows what they come to.
async fn try_checks(context: &mut Context, place: &Place, target: &str) -> Result<Exit> {
    let options = context.options();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let report = move |found| drop(tell.send(found));
    context.out.flush()?;
    let mut interrupt = interrupts()?;
    let unwanted = async move {
        interrupt.recv().await;
    };
    let tried = runtime::try_target(place, &options, &report, unwanted);
    tokio::pin!(tried);
    let found = loop {
        tokio::select! {
            biased;
            Some(found) = told.recv() => {
                if let Verdict::Checking { command: Some(command), is_canary } = found.verdict {
                    let how = if is_canary { "with broken sources: " } else { "" };
                    context.out.styled(&format!("runs on {target}, {how}{command}"), Style::Dim)?;
                    // It may run for minutes.
                    context.out.flush()?;
                }
            }
            found = &mut tried => break found?,
        }
    };
    let out = &mut context.out;
    let Some(found) = found else {
        out.wrapped(
            "the trial of the checks was ended; crew.toml stays, and `crew run` runs them first",
            0,
            Style::Plain,
        )?;
        return Ok(Exit::Interrupted);
    };
    let verdict = found.verdict;
    let Some(why) = verdict.fault() else {
        out.styled(&format!("{target} passes its checks"), Style::Green)?;
        let settings = place.settings()?;
        for check in CheckPlan::of(&settings).commands {
            if runtime::tests_on_target(place, &check, target)? == Some(0) {
                let says = format!(
                    "  `{check}` ran no tests: it lets pass whatever builds. If that is meant, name it in a [[check]] with tests = \"none\""
                );
                out.wrapped(&says, 2, Style::Yellow)?;
            }
        }
        return Ok(Exit::Done);
    };
    out.styled(&format!("warning: {why}"), Style::Yellow)?;
    for line in verdict.printed().map(ui::excerpt).into_iter().flatten() {
        out.styled(&format!("  │ {line}"), Style::Dim)?;
    }
    let look = engine::look(Engine::of(place)?.as_ref());
    let settings = place.settings()?;
    let remedy = verdict.remedy(look, settings.land.pushes_to());
    let remedy = remedy.unwrap_or_default();
    out.wrapped(
        &format!("  no agent starts before that is mended: {remedy}"),
        2,
        Style::Plain,
    )?;
    // The reason often stands above the last lines, which are only a summary.
    if verdict.printed().is_some() {
        out.line("  all that the checks printed: crew logs --check")?;
    }
    Ok(Exit::Held)
}

fn claude_code(context: &Context) -> Harness {
    let set = CLAUDE_ENV
        .into_iter()
        .filter(|name| context.env.contains_key(*name));
    Harness {
        pass_env: set.map(str::to_owned).collect(),
        ..Harness::new(HarnessKind::Claude)
    }
}

fn plan(
    context: &mut Context,
    place: &Place,
    target: &str,
    found: &Found,
    harness: Option<&Harness>,
) -> Result<()> {
    let out = &mut context.out;
    out.styled(&place.root.display().to_string(), Style::Bold)?;
    out.line(&format!("  work lands on   {target}"))?;
    found.show(context)?;
    let out = &mut context.out;
    match harness {
        Some(harness) => {
            out.line(&format!("  agents run on   {}", harness.command.join(" ")))?;
            if !harness.pass_env.is_empty() {
                out.line(&format!(
                    "                  with {} of yours",
                    harness.pass_env.join(", ")
                ))?;
            }
        }
        None => out.line("  agents run on   nothing yet: crew.toml has an example to fill in")?,
    }
    out.line("  tickets in      .tickets/")?;
    out.line("  crew's own      .crew/, ignored through .git/info/exclude")
}

fn write(
    place: &Place,
    target: &str,
    proposal: &Proposal,
    harness: Option<&(String, Harness)>,
) -> Result<()> {
    place.exclude()?;
    place.repository.note_root()?;
    place.repository.lock_root()?;
    std::fs::create_dir_all(&place.tickets_dir).doing("make", &place.tickets_dir)?;
    let text = Settings::template(
        target,
        proposal,
        harness.map(|(name, harness)| (name.as_str(), harness)),
    );
    // Last, since it is what says that a crew is here; never over one that another wrote in between.
    let path = &place.settings_path;
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        // The mode does not depend on the umask: settings that others may change are refused.
        .mode(0o644)
        .open(path)
        .doing("write", path)?;
    file.write_all(text.as_bytes()).doing("write", path)?;
    Ok(file.sync_all().doing("write", path)?)
}

/// A file at the root of a checkout, as a shell in a folder of it names it.
fn from(dir: &Path, file: &Path) -> String {
    let (Some(root), Some(name)) = (file.parent(), file.file_name()) else {
        return file.display().to_string();
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match real(dir).strip_prefix(real(root)) {
        Ok(below) => {
            let up = "../".repeat(below.components().count());
            format!("{up}{}", name.display())
        }
        Err(_) => file.display().to_string(),
    }
}
