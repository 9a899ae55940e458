//! `crew run`: the engine in the foreground, with what it does before one's eyes.

use std::time::Duration;

use clap::Args;
use model::TicketId;
use model::journal::{Fact, State as JournalState};
use model::ticket::Event;
use model::view::{self, Crew};
use serde_json::{Value, json};
use store::Fold;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::commands::events;
use crate::context::{self, Context};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::follow::{self, Follow};
use crate::notices::Notices;
use crate::ui::{Screen, Style, Table};
use crate::{clock, documents};
use runtime::{Place, Signal};

/// Run the engine here, until it is stopped or (with --until-idle) nothing can move any more
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// End when nothing can move any more: 0 when all is done, 3 when something waits for a person.
    #[arg(long)]
    until_idle: bool,
    /// So many agents busy at once, instead of the settings' number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(model::settings::MAX_AGENTS)))]
    agents: Option<u32>,
    /// The harness that agents run on, instead of the settings' one.
    #[arg(long, value_name = "NAME")]
    harness: Option<String>,
}

/// How often the screen is drawn when nothing happens: times and last lines move on.
const FRAME: Duration = Duration::from_millis(500);

impl Run {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let (place, settings) = context.ready()?;
        if settings.chosen_harness(self.harness.as_deref()).is_none() {
            let error = match self.harness {
                Some(name) => runtime::Error::UnknownHarness { name },
                None => runtime::Error::NoHarness,
            };
            return Err(error.into());
        }
        if let Some(by) = place.holder()? {
            return Err(runtime::Error::Held { by }.into());
        }
        let warned = if settings.checks.commands.is_empty() && !context.json {
            warn(context)
        } else {
            Ok(())
        };
        quiet(context, warned)?;
        let notices = Notices::listen();
        // The journal is there before the engine is, so that nothing of it is missed.
        let ledger = place
            .open_journal(true)
            .await
            .map_err(|error| context::lift(&place, error))?;
        let crew = follow::fold(&ledger, |_, _| {}).await?;
        let rows = Follow::new(ledger, &place.crew_dir, crew.seq);
        let options = runtime::Options {
            until_idle: self.until_idle,
            agents: self.agents,
            harness: self.harness,
            ..context.options()
        };
        let (ask, asked) = watch::channel(Signal::None);
        let run = runtime::run(place.clone(), options, asked);
        let engine = tokio::spawn(async move {
            let rest = run.await?;
            let waits = rest.waits.into_iter().map(|waits| Waits {
                ticket: waits.ticket,
                title: waits.title,
                why: waits.why,
            });
            Ok(waits.collect())
        });
        let mut show = Show {
            context,
            place: &place,
            begun_at: crew.seq,
            crew,
            rows,
            ask,
            screen: Screen::new(),
            notices,
            signals: 0,
        };
        let waits = show.until(engine).await?;
        show.summary(&waits, self.until_idle)
    }
}

/// A ticket that waits for a person when the engine has ended.
#[derive(Debug)]
struct Waits {
    ticket: TicketId,
    title: String,
    why: String,
}

struct Show<'a> {
    context: &'a mut Context,
    place: &'a Place,
    /// The journal's last row when this engine began.
    begun_at: u64,
    crew: Crew,
    rows: Follow,
    ask: watch::Sender<Signal>,
    screen: Screen,
    notices: Notices,
    signals: u32,
}

impl Show<'_> {
    /// Shows what happens until the engine ends.
    async fn until(
        &mut self,
        mut engine: tokio::task::JoinHandle<Result<Vec<Waits>, runtime::Error>>,
    ) -> Result<Vec<Waits>> {
        let failed = |source| Error::Io {
            doing: "listen for signals to",
            path: "crew".into(),
            source,
        };
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let mut frame = tokio::time::interval(FRAME);
        frame.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let ended = loop {
            let shown = self.show().await;
            quiet(self.context, shown)?;
            tokio::select! {
                ended = &mut engine => break ended,
                () = self.rows.changed() => {}
                notice = self.notices.next() => {
                    let shown = self.notice(&notice);
                    quiet(self.context, shown)?;
                }
                _ = frame.tick(), if self.is_live() => {}
                _ = interrupt.recv() => self.interrupted(Signal::Stop),
                _ = terminate.recv() => self.interrupted(Signal::Stop),
            }
        };
        let shown = self.show().await;
        quiet(self.context, shown)?;
        while let Some(notice) = self.notices.waiting() {
            let shown = self.notice(&notice);
            quiet(self.context, shown)?;
        }
        let cleared = self.screen.clear(&mut self.context.out);
        quiet(self.context, cleared)?;
        match ended {
            Ok(ended) => ended.map_err(|error| context::lift(self.place, error)),
            Err(_) => Err(Error::Refused {
                what: "the engine broke off: this is a bug in crew".to_owned(),
                hint: Some("what is in the journal is safe; `crew run` goes on from there".to_owned()),
            }),
        }
    }

    /// Once: stop as the settings say. Twice: now, leaving what runs to the next engine.
    fn interrupted(&mut self, first: Signal) {
        self.signals += 1;
        let (asked, says) = if self.signals == 1 {
            (
                first,
                "stopping: running steps are treated as [run] on_stop says (Ctrl-C again leaves them to the next engine)",
            )
        } else {
            (
                Signal::Leave,
                "leaving: running steps run on, and the next engine adopts them",
            )
        };
        self.ask.send_replace(asked);
        if !self.context.json {
            // What cannot be shown is done all the same.
            let _ = self
                .screen
                .clear(&mut self.context.out)
                .and_then(|()| self.context.out.styled(says, Style::Yellow));
        }
    }

    /// Shows what the engine warned of.
    fn notice(&mut self, notice: &str) -> Result<()> {
        let out = &mut self.context.out;
        if self.context.json {
            out.json_line(&json!({ "warning": notice }))?;
        } else {
            self.screen.clear(out)?;
            let mut lines = notice.lines();
            out.styled(
                &format!("warning: {}", lines.next().unwrap_or_default()),
                Style::Yellow,
            )?;
            for line in lines {
                out.styled(line, Style::Dim)?;
            }
        }
        out.flush()
    }

    fn is_live(&self) -> bool {
        self.context.out.terminal.is && !self.context.json
    }

    async fn show(&mut self) -> Result<()> {
        let mut lines = Vec::new();
        loop {
            let more = self.rows.more().await?;
            if more.is_empty() {
                break;
            }
            for fold in more {
                let matters = if self.is_live() {
                    milestone(&self.crew, &fold)
                } else {
                    view::matters(&fold.fact)
                };
                self.crew.apply(follow::row(&fold));
                if self.context.json {
                    self.context.out.json_line(&documents::event(&fold))?;
                } else if matters {
                    lines.push(fold);
                }
            }
        }
        if !lines.is_empty() {
            self.screen.clear(&mut self.context.out)?;
            for fold in &lines {
                self.context.out.styled(&events::short(fold), style(fold))?;
            }
        }
        if self.is_live() {
            self.context.out.measure();
            let frame = self
                .screen
                .frame(&self.crew, self.place, &self.context.out.terminal, clock::now());
            self.screen.draw(&mut self.context.out, &frame)?;
        }
        self.context.out.flush()
    }

    /// What became of it, and what to do next.
    fn summary(&mut self, waits: &[Waits], until_idle: bool) -> Result<Exit> {
        let landed: Vec<_> = self
            .crew
            .landed
            .iter()
            .filter(|landed| landed.seq > self.begun_at)
            .cloned()
            .collect();
        let interrupted = self.signals > 0;
        let exit = match (interrupted, until_idle && !waits.is_empty()) {
            (true, _) => Exit::Interrupted,
            (false, true) => Exit::Held,
            (false, false) => Exit::Done,
        };
        if self.context.json {
            let waits: Vec<Value> = waits
                .iter()
                .map(|waits| json!({ "ticket": waits.ticket, "title": waits.title, "why": waits.why }))
                .collect();
            let landed: Vec<Value> = landed.iter().map(documents::landed).collect();
            let document = json!({ "summary": {
                "landed": landed, "waits": waits, "interrupted": interrupted, "queue": self.crew.counts(),
            } });
            self.context.out.json_line(&document)?;
            return Ok(exit);
        }
        let out = &mut self.context.out;
        let tickets = if landed.len() == 1 { "ticket" } else { "tickets" };
        out.styled(
            &format!("landed {} {tickets}", landed.len()),
            if landed.is_empty() {
                Style::Plain
            } else {
                Style::Green
            },
        )?;
        if !landed.is_empty() {
            let mut table = Table::bare(3);
            for landed in &landed {
                table.row([
                    format!("  {}", landed.commit.short()).into(),
                    landed.ticket.to_string().into(),
                    landed.title.as_str().into(),
                ]);
            }
            out.table(&table)?;
        }
        if !waits.is_empty() {
            let n = waits.len();
            let (what, wait) = if n == 1 {
                ("ticket", "waits")
            } else {
                ("tickets", "wait")
            };
            out.styled(&format!("{n} {what} {wait} for a person"), Style::Yellow)?;
            let mut table = Table::bare(2);
            for waits in waits {
                table.row([format!("  {}", waits.ticket).into(), waits.title.as_str().into()]);
                table.below(1, &waits.why, Style::Dim);
            }
            out.table(&table)?;
            out.styled(
                "  crew explain <ticket> says more; crew retry, drop or answer moves it on",
                Style::Dim,
            )?;
        }
        let counts = self.crew.counts();
        let under_way = counts.in_progress + counts.verifying;
        if under_way > 0 {
            out.line(&format!("{under_way} under way: `crew run` goes on with them"))?;
        }
        Ok(exit)
    }
}

fn warn(context: &mut Context) -> Result<()> {
    let out = &mut context.out;
    out.styled(
        "warning: no checks are configured: nothing guards the target",
        Style::Yellow,
    )?;
    out.styled(
        "  whatever merges, lands; name what must pass as [checks] commands",
        Style::Dim,
    )?;
    out.flush()
}

/// A reader that is gone does not end the engine: its work does not depend on being watched.
fn quiet(context: &mut Context, shown: Result<()>) -> Result<()> {
    match shown {
        Err(Error::Closed) => {
            context.out.mute();
            Ok(())
        }
        other => other,
    }
}

/// What is worth a line above the live screen: what is over, and what needs somebody.
fn milestone(before: &Crew, fold: &Fold) -> bool {
    match (&fold.fact, &fold.after) {
        (Fact::Ticket(_), JournalState::Ticket(after)) => {
            let was_held = before
                .tickets
                .get(&after.id)
                .is_some_and(|ticket| ticket.held.is_some());
            let was_done = before
                .tickets
                .get(&after.id)
                .is_some_and(model::ticket::Ticket::is_done);
            (after.held.is_some() && !was_held) || (after.is_done() && !was_done)
        }
        (Fact::Ticket(_) | Fact::Project(_), _) => false,
    }
}

fn style(fold: &Fold) -> Style {
    match (&fold.fact, &fold.after) {
        (Fact::Ticket(Event::Landed { .. }), _) => Style::Green,
        (Fact::Ticket(_), JournalState::Ticket(after)) if after.held.is_some() => Style::Yellow,
        (Fact::Ticket(_) | Fact::Project(_), _) => Style::Plain,
    }
}
