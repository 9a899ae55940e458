//! The live part of the terminal: a line an agent and a bar for the queue, drawn over itself.

use model::view::{Agent, Snapshot, Status};
use model::{Look, Time};

use crate::commands::ps;
use crate::error::Result;
use crate::ui::{Out, Style, Terminal};
use client::activity::Activity;
use client::{conversation, outputs};
use runtime::Place;

/// The lines at the bottom of the terminal now.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// Lines that were drawn, the cursor being behind the last.
    drawn: usize,
}

impl Screen {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The lines to draw, which fit the terminal.
    pub(crate) fn frame(
        &self,
        crew: &Snapshot,
        place: &Place,
        terminal: &Terminal,
        now: Time,
    ) -> Vec<String> {
        let agents = crew.agents();
        let last = |agent: &Agent| {
            if let Some(set_up) = ps::setting_up(place, crew, agent) {
                let line = conversation::last_line(&outputs::dir(place, &set_up.run), false);
                let line = Some(format!(" › {line}")).filter(|_| !line.is_empty());
                return Some(set_up.words(now) + &line.unwrap_or_default());
            }
            let run = agent.run.as_ref().filter(|_| agent.running)?;
            if agent.quiet.is_some() {
                return None;
            }
            let line = conversation::last_line(&outputs::dir(place, run), true);
            let line = Some(format!("› {line}")).filter(|_| !line.is_empty());
            let activity = Activity::of(place, agent, true, now).map(|activity| activity.words(now));
            match (activity, line) {
                (Some(activity), Some(line)) => Some(format!("{activity} {line}")),
                (activity, line) => activity.or(line),
            }
        };
        let said: Vec<Option<String>> = agents.iter().map(last).collect();
        frame(crew, &agents, &said, terminal, now)
    }

    /// Takes away what was drawn; what is printed next stands in its place.
    pub(crate) fn clear(&mut self, out: &mut Out) -> Result<()> {
        if self.drawn > 0 {
            out.write(&format!("\u{1b}[{}A\r\u{1b}[J", self.drawn))?;
            self.drawn = 0;
        }
        Ok(())
    }

    /// Draws anew. Each line is ended before it is passed, so that nothing flickers.
    pub(crate) fn draw(&mut self, out: &mut Out, lines: &[String]) -> Result<()> {
        let mut text = String::new();
        if self.drawn > 0 {
            text.push_str(&format!("\u{1b}[{}A\r", self.drawn));
        }
        for line in lines {
            text.push_str(line);
            text.push_str("\u{1b}[K\n");
        }
        text.push_str("\u{1b}[J");
        self.drawn = lines.len();
        out.write(&text)
    }
}

fn frame(
    crew: &Snapshot,
    agents: &[Agent],
    said: &[Option<String>],
    terminal: &Terminal,
    now: Time,
) -> Vec<String> {
    let mut table = ps::headed();
    // One line is enough to say why nothing moves.
    let pause = ps::pause(crew, now).map(|pause| pause.to_string());
    // This process is the engine.
    let look = Look { now, engine: true };
    let held = || ps::failed_set_ups_in_words(crew, look).next();
    let paused = crew.obstacles(look).into_iter().next().or(pause).or_else(held);
    let room = terminal.lines.saturating_sub(4 + usize::from(paused.is_some()));
    // An agent's last text stands below its line, where there is room.
    let roomy = agents.len() + agents.iter().filter(|agent| agent.status != Status::Idle).count() <= room;
    // Agents at work come first when there is no room for all.
    let mut order: Vec<usize> = (0..agents.len()).collect();
    order.sort_by_key(|at| (agents[*at].status == Status::Idle, *at));
    let shown = order.len().min(room);
    for at in order.iter().take(shown) {
        let agent = &agents[*at];
        let title = agent.title.as_deref().unwrap_or_default();
        let said = said.get(*at).cloned().flatten();
        let below = said.or_else(|| agent.waiting(look));
        let what = match &below {
            Some(below) if !roomy => format!("{title} {below}"),
            Some(_) | None => title.to_owned(),
        };
        table.row(ps::cells(agent, agent.status, &what, now));
        if let Some(below) = below.filter(|_| roomy) {
            table.below(2, &below, Style::Dim);
        }
    }
    let mut lines = Vec::new();
    if shown > 0 {
        lines.extend(table.lines(terminal));
    }
    if shown < agents.len() {
        lines.push(terminal.paint(&format!("… and {} more agents", agents.len() - shown), Style::Dim));
    }
    if let Some(paused) = paused {
        let columns = terminal.columns.unwrap_or(80);
        let paused = text::sanitise::fit(&text::sanitise::line(&super::in_words(&paused)), columns);
        lines.push(terminal.paint(&paused, Style::Yellow));
    }
    lines.push(status_bar(crew, terminal));
    lines
}

/// The queue as a bar, with its counts.
fn status_bar(crew: &Snapshot, terminal: &Terminal) -> String {
    let columns = terminal.columns.unwrap_or(80);
    let width = u32::try_from(columns / 2).unwrap_or(24).min(24);
    let counts = crew.counts();
    let total = counts.total().max(1);
    let over = counts.landed + counts.ended;
    let done = over * width / total;
    let held = (counts.held * width).div_ceil(total).min(width - done);
    let rest = width - done - held;
    let piece = |symbol: &str, n: u32, style| terminal.paint(&symbol.repeat(n as usize), style);
    let words = text::sanitise::fit(
        &format!("{over}/{} · {}", counts.total(), ps::counts(&counts)),
        columns.saturating_sub(width as usize + 1),
    );
    format!(
        "{}{}{} {words}",
        piece("█", done, Style::Green),
        piece("▒", held, Style::Yellow),
        piece("░", rest, Style::Dim)
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::journal::{Fact, State, Stream};
    use model::project::{self, Project};
    use model::ticket::{self, Spec, Ticket};
    use model::view::Row;
    use model::{AgentName, Fence, SessionId, TicketId};

    use super::*;
    use crate::ui;

    /// So many agents, each at a ticket with a long title in a wide script.
    fn crew(agents: u32) -> Snapshot {
        let names: Vec<AgentName> = (0..agents)
            .map(|n| AgentName::new(format!("a-{n}")).unwrap())
            .collect();
        let mut crew = Snapshot::default();
        let mut seq = 0;
        let mut apply = |stream: Stream, fact: Fact, after: State| {
            seq += 1;
            crew.apply(Row {
                seq,
                stream: &stream,
                at: Time(0),
                fact: &fact,
                after: &after,
            });
        };
        let roster: BTreeSet<AgentName> = names.iter().cloned().collect();
        let project = Project {
            agents: roster,
            ..Project::default()
        };
        apply(
            Stream::Project,
            Fact::Project(project::Event::Opened),
            State::Project(project),
        );
        for (n, agent) in names.into_iter().enumerate() {
            let id = TicketId::new(format!("t-{n}")).unwrap();
            let spec = Spec {
                title: "長い題名".repeat(30),
                kind: "task".to_owned(),
                ..Spec::default()
            };
            let claim = ticket::Event::Claimed {
                agent,
                fence: Fence(1),
                harness: model::samples::harness(),
                session: SessionId::of_attempt(uuid::Uuid::nil(), &id, Fence(1), 1),
                at: Time(0),
                eligible: true,
            };
            let mut after = Ticket::new(id.clone());
            for event in [ticket::Event::Created { spec }, claim] {
                after = after.after(&event, Time(0)).unwrap().ticket;
                apply(
                    Stream::Ticket(id.clone()),
                    Fact::Ticket(event),
                    State::Ticket(after.clone().into()),
                );
            }
        }
        crew
    }

    #[test]
    fn a_frame_never_leaves_the_terminal_however_many_agents_there_are() {
        for (agents, columns, lines) in [
            (0, 80, 24),
            (3, 80, 24),
            (8, 60, 12),
            (40, 200, 24),
            (40, 20, 4),
            (2, 20, 24),
        ] {
            let crew = crew(agents);
            let terminal = Terminal {
                is: true,
                colour: false,
                columns: Some(columns),
                lines,
                is_fixed: false,
            };
            let said: Vec<Option<String>> = (0..agents)
                .map(|n| (n % 2 == 0).then(|| "出力".repeat(90)))
                .collect();
            let frame = frame(&crew, &crew.agents(), &said, &terminal, Time(90_000));
            assert!(
                frame.len() < lines,
                "{agents} agents in {lines} lines: {frame:#?}"
            );
            let widest = frame.iter().map(|line| ui::columns(line)).max();
            assert!(
                widest <= Some(columns),
                "{agents} agents in {columns} columns: {frame:#?}"
            );
        }
    }
}
