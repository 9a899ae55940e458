//! `crew demo`: the main job, on a repository that it makes itself.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use model::view::{Landed, Snapshot};
use runtime::{Options, Place};
use tokio::signal::unix::{Signal, SignalKind, signal};
use web::{Listener, pairing};

use crate::commands::web::refused;
use crate::context::Context;
use crate::demo::{self, Ground, LEAVES_IT, Meeting, Page, Person, Story, THINKS, Tally, in_words, waits};
use crate::engine_log::Filter;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::live::{Live, Tell as _, quiet};
use crate::ui::{Style, Table};

/// See a crew at work: four scripted agents, eight tickets, a repository made for it
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Keep the repository, and say where it is.
    #[arg(long)]
    keep: bool,
    /// Show it in a browser too, by a link that is printed. Its question waits 2 minutes for your answer
    /// there; the page stays until Ctrl-C.
    #[arg(long)]
    web: bool,
    /// The port of 127.0.0.1 for the page, instead of any that is free.
    #[arg(long, value_name = "PORT", requires = "web")]
    port: Option<u16>,
}

impl Demo {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        Filter::choose(None, context)?;
        // Before there is anything to take away.
        let mut interrupts = Interrupts::listen()?;
        let ground = Ground::make(context)?;
        let listener = match self.listen(&ground).await {
            Ok(listener) => listener,
            Err(error) => {
                ground.remove()?;
                return Err(error);
            }
        };
        let began = begin(context, &ground, self.keep);
        quiet(context, began)?;
        let (ground, made) = make(ground).await?;
        if interrupts.came().await {
            ground.remove()?;
            return Ok(Exit::Interrupted);
        }
        let ended = match made {
            Ok(place) => match listener {
                Some(listener) => play_on_page(context, &ground, &place, listener, &mut interrupts).await,
                None => play(context, &ground, &place, None, &mut interrupts).await,
            },
            Err(error) => Err(error),
        };
        let is_well = matches!(ended, Ok(Ended { exit: Exit::Done, .. }));
        let was_interrupted = matches!(
            ended,
            Ok(Ended {
                exit: Exit::Interrupted,
                ..
            })
        );
        let kept = if self.keep || !(is_well || was_interrupted) {
            Some(ground.keep())
        } else {
            ground.remove()?;
            None
        };
        let repository = kept.map(|kept| kept.join("textkit").to_string_lossy().into_owned());
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => {
                if let Some(repository) = &repository {
                    let says = format!("the repository is kept: {repository}");
                    context.out.wrapped(&says, 0, Style::Plain)?;
                }
                return Err(error);
            }
        };
        if context.json {
            let document = demo::document(&ended.tally, &ended.landed, was_interrupted, repository);
            context.out.json_line(&document)?;
            return Ok(ended.exit);
        }
        if let Some(repository) = &repository {
            context.out.line("")?;
            let says = format!("the repository is kept: {repository}");
            context.out.wrapped(&says, 0, Style::Plain)?;
            let crew = typed(context).unwrap_or_else(|| "crew".to_owned());
            context
                .out
                .line(&format!("  {crew} -C {repository} history t-1"))?;
        }
        if is_well {
            yours(context)?;
        }
        Ok(ended.exit)
    }

    /// Where the page is to be served, if there is to be one. Unless a port is asked for it is any that is
    /// free, and not that of `crew web`, so that a browser that is paired there stays so.
    async fn listen(&self, ground: &Ground) -> Result<Option<Listener>> {
        if !self.web {
            return Ok(None);
        }
        let state_dir = pairing::state_dir(&ground.env)?;
        let bound = Listener::bind(&state_dir, self.port.unwrap_or(0), &ground.repository()).await;
        bound.map(Some).map_err(|taken| refused(taken, "crew demo --web"))
    }
}

/// The same with a page, which stays after the end until a person has seen enough of it.
async fn play_on_page(
    context: &mut Context,
    ground: &Ground,
    place: &Place,
    listener: Listener,
    interrupts: &mut Interrupts,
) -> Result<Ended> {
    let page = Page::serve(context, ground, place, listener)?;
    let ended = play(context, ground, place, Some(LEAVES_IT), interrupts).await?;
    if ended.exit != Exit::Interrupted {
        if !context.json {
            context.out.line("")?;
            let says = "The page shows how it ended. Ctrl-C ends it.";
            context.out.wrapped(says, 0, Style::Bold)?;
        }
        context.out.flush()?;
        interrupts.next().await;
    }
    drop(page);
    Ok(ended)
}

/// How it ended.
struct Ended {
    exit: Exit,
    tally: Tally,
    landed: Vec<Landed>,
}

/// What is about to happen.
fn begin(context: &mut Context, ground: &Ground, keep: bool) -> Result<()> {
    if context.json {
        return Ok(());
    }
    let out = &mut context.out;
    let what = "crew demo: four agents and eight tickets, for about half a minute";
    out.wrapped(what, 0, Style::Bold)?;
    out.wrapped(
        "The agents are scripts, so it needs no key and no network. All else is real: the engine, git, the tests.",
        0,
        Style::Plain,
    )?;
    let goes = if keep { "kept" } else { "removed at the end" };
    let place = format!("In {} ({goes})", ground.repository().display());
    out.wrapped(&place, 0, Style::Plain)?;
    out.line("")?;
    let mut table = Table::bare(3).wrapped();
    for (id, title, note) in demo::queue() {
        table.row([format!("  {id}").into(), title.into(), note.into()]);
    }
    out.table(&table)?;
    out.line("")?;
    out.flush()
}

async fn make(ground: Ground) -> Result<(Ground, Result<Place>)> {
    let made = tokio::task::spawn_blocking(move || {
        let made = demo::make(&ground);
        (ground, made)
    });
    made.await.map_err(|_| {
        Error::from(client::Error::Refused {
            what: "the repository could not be made: this is a bug in crew".to_owned(),
            hint: None,
        })
    })
}

/// Runs the engine until all is done, or nothing moves any more, or a person interrupts it; then says how it
/// ended. `leaves`: how long its question is left to whoever watches, where they can answer on a page.
async fn play(
    context: &mut Context,
    ground: &Ground,
    place: &Place,
    leaves: Option<Duration>,
    interrupts: &mut Interrupts,
) -> Result<Ended> {
    let mut person = Person::watches(place.clone(), leaves.unwrap_or(THINKS));
    let _meeting = Meeting::watches(place.clone(), ground);
    let mut story = Story::new(context.person(), leaves);
    // What the last engine has shown.
    let mut shown: Option<Snapshot> = None;
    let (interrupted, landed) = loop {
        let options = Options {
            until_idle: true,
            env: ground.whole_env(),
            ..Options::default()
        };
        let filter = Filter::choose(None, context)?;
        let mut live = Live::start(&mut *context, place.clone(), options, filter, story).await?;
        if let Some(crew) = shown.take() {
            live = live.since(crew);
        }
        let ended = live.until_end().await;
        let interrupted = live.is_interrupted();
        let crew = std::mem::take(&mut live.crew);
        story = live.teller;
        ended?;
        if interrupted || demo::open(&crew).is_none() {
            break (interrupted, crew.landed);
        }
        // All else was quicker than the person: with the answer there is something to do again.
        if leaves.is_some()
            && !context.json
            && let Some(left) = person.leaves_it(crew.seq).await?
        {
            let says = format!(
                "All else is done: {}.",
                waits(&format!("{} more", in_words(left)))
            );
            let said = context.out.wrapped(&says, 0, Style::Bold);
            quiet(context, said)?;
            let flushed = context.out.flush();
            quiet(context, flushed)?;
        }
        tokio::select! {
            answered = person.answered(crew.seq) => answered?,
            () = interrupts.next() => {
                if !context.json {
                    let said = context.out.styled(story.interrupted(1).1, Style::Yellow);
                    quiet(context, said)?;
                }
                break (true, crew.landed);
            }
        }
        shown = Some(crew);
    };
    let exit = match (interrupted, story.tally.landed.len() == demo::queue().len()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::Failed,
    };
    if !context.json && exit != Exit::Interrupted {
        let graph = client::commits::graph(place, demo::BRANCH, 100)?;
        let shown = demo::show(&mut context.out, &story.tally, &graph);
        quiet(context, shown)?;
        for warning in story.warnings.iter().filter(|_| exit != Exit::Done) {
            context
                .out
                .wrapped(&format!("warning: {warning}"), 2, Style::Yellow)?;
        }
    }
    Ok(Ended {
        exit,
        tally: story.tally,
        landed,
    })
}

/// This program as it can be typed, where `crew` alone does not find it.
fn typed(context: &Context) -> Option<String> {
    let this = std::fs::read_link("/proc/self/exe").ok()?;
    let path = context.env.get("PATH").map(OsStr::new);
    let found = process::find_program(Path::new("crew"), path, Path::new("/")).ok();
    if found.and_then(|found| found.canonicalize().ok()).as_ref() == Some(&this) {
        return None;
    }
    let plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    let text = this.to_str()?;
    Some(if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    })
}

/// How to do the same with one's own.
fn yours(context: &mut Context) -> Result<()> {
    let program = typed(context);
    let out = &mut context.out;
    out.line("")?;
    let what = "the same in a repository of your own, with a real agent";
    out.wrapped(what, 0, Style::Bold)?;
    if let Some(program) = program {
        out.line(&format!("  alias crew={program}"))?;
    }
    out.line("  crew init")?;
    out.line("  git add crew.toml && git commit -m \"Add crew\"")?;
    out.line("  crew ticket create \"What is to be done\"")?;
    out.line("  crew run --until-idle")
}

/// The signals to end the demonstration while no engine receives them.
struct Interrupts([Signal; 3]);

impl Interrupts {
    fn listen() -> Result<Self> {
        let of = |kind| {
            signal(kind).map_err(|source| {
                Error::from(client::Error::Io {
                    doing: "listen for signals to",
                    path: "crew".into(),
                    source,
                })
            })
        };
        Ok(Self([
            of(SignalKind::interrupt())?,
            of(SignalKind::terminate())?,
            of(SignalKind::hangup())?,
        ]))
    }

    /// Waits for the next one.
    async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }

    /// Whether one came by now.
    async fn came(&mut self) -> bool {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            biased;
            _ = interrupt.recv() => true,
            _ = terminate.recv() => true,
            _ = hangup.recv() => true,
            () = std::future::ready(()) => false,
        }
    }
}
