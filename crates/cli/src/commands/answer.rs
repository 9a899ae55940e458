//! `crew answer`: answer an agent's question.

use std::io::{IsTerminal as _, Read as _};

use clap::Args;
use model::AgentName;
use model::command::{Command, Question};
use model::ticket::Ticket;
use model::view::Snapshot;

use crate::asking::ask;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;
use crate::ui::Style;
use client::error::Doing as _;
use client::lookup::Either;
use client::repository::journal;
use client::{follow, lookup};
use runtime::Place;

/// Answer an agent's question; the answer opens its next step
#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The ticket, or the agent.
    #[arg(value_name = "AGENT|TICKET")]
    which: String,
    /// The number of the question that it answers, as `crew inbox` shows it. An answer to a question that is
    /// not open any more is refused. Without it, the question that is open as the command is written.
    #[arg(long, value_name = "N")]
    question: Option<u32>,
    /// The answer; without it, it is asked for here, or read from standard input.
    text: Vec<String>,
}

/// The longest answer, in bytes: it stands in the journal and in a prompt.
const LONGEST: u64 = 64 << 10;

impl Answer {
    pub(crate) async fn run(self, context: &mut Context) -> Result<Exit> {
        let place = context.there()?;
        let crew = follow::present(journal(&place).await?.as_ref()).await?;
        let agent = self.asks_at(&crew, &place)?;
        let asked = asks(&crew, &agent);
        let text = match (self.text.is_empty(), asked) {
            (false, _) => self.text.join(" "),
            (true, None) => return Err(asks_nothing(&crew, &agent)),
            (true, Some(ticket)) => read(context, ticket, &agent)?,
        };
        if text.trim().is_empty() {
            return Err(Error::usage(
                "an answer cannot be empty",
                "crew answer <ticket> <text>",
            ));
        }
        if text.len() as u64 > LONGEST {
            return Err(Error::usage(
                format!("an answer is at most {} KiB", LONGEST >> 10),
                "write it into the ticket, or into a file that the agent can read, and answer with its name",
            ));
        }
        let question = match self.question {
            Some(number) => of_agent(&crew, &agent).map(|ticket| Question {
                ticket: ticket.id.clone(),
                number,
            }),
            None => asked.and_then(Question::answerable),
        };
        let command = Command::Answer {
            agent,
            text,
            question,
        };
        ask(context, place, command).await
    }

    /// The agent that is meant by its own name, or by the ticket that it or its gatekeeper asks about.
    fn asks_at(&self, crew: &Snapshot, place: &Place) -> Result<AgentName> {
        let ticket = match lookup::either(crew, place, &self.which)? {
            Either::Agent(name) => return Ok(name),
            Either::Ticket(id) => crew.tickets.get(&id),
        };
        if let Some(asked) = ticket.and_then(|ticket| ticket.answerable()) {
            return Ok(asked.agent.clone());
        }
        let closed = ticket.and_then(|ticket| Some((&ticket.id, ticket.closed_question.as_deref()?)));
        let is_meant = |number: u32| self.question.is_none_or(|meant| meant == number);
        if let Some((id, closed)) = closed.filter(|(_, closed)| is_meant(closed.number)) {
            return Err(Error::refused(
                closed.words(id),
                "`crew inbox` shows who asks what",
            ));
        }
        Ok(lookup::agent_at(crew, place, &self.which)?)
    }
}

/// The ticket of an agent, or of a gatekeeper.
fn of_agent<'c>(crew: &'c Snapshot, agent: &AgentName) -> Option<&'c Ticket> {
    let mut tickets = crew.tickets.values().map(AsRef::as_ref);
    tickets.find(|ticket: &&Ticket| ticket.slots().any(|(name, _)| name == agent))
}

/// The ticket about which an agent asks something now, or asked something whose answer it has not been given.
fn asks<'c>(crew: &'c Snapshot, agent: &AgentName) -> Option<&'c Ticket> {
    let is_its = |ticket: &&Ticket| ticket.answerable().is_some_and(|asked| asked.agent == agent);
    of_agent(crew, agent).filter(is_its)
}

/// The reason why nobody is asked for an answer. The engine or the command that carries an answer out judges
/// one that is given all the same.
fn asks_nothing(crew: &Snapshot, agent: &AgentName) -> Error {
    let seen = crew.agent(agent);
    let stands = seen.as_ref().map_or_else(
        || "it is retired".to_owned(),
        |seen| match &seen.waits {
            Some(waits) => format!("it waits for {}", waits.what),
            None => format!("it is {}", seen.status.name()),
        },
    );
    Error::refused(
        format!("{agent} asks nothing: {stands}"),
        "`crew inbox` shows who asks what",
    )
}

/// Asks at the terminal, or takes all of standard input.
fn read(context: &mut Context, ticket: &Ticket, agent: &AgentName) -> Result<String> {
    let stdin = std::io::stdin();
    let mut text = String::new();
    if stdin.is_terminal() {
        let asked = ticket.answerable();
        let (question, earlier) = (
            asked.map(|asked| asked.text),
            asked.and_then(|asked| asked.answer),
        );
        let columns = context.out.terminal.columns;
        let head = format!("{agent} asks about {}: {}", ticket.id, ticket.spec.title);
        for line in ui::wrap(&head, columns, 3) {
            context.out.styled(&line, Style::Bold)?;
        }
        for line in ui::wrap(question.unwrap_or_default(), columns, usize::MAX) {
            context.out.line(&line)?;
        }
        if let Some(earlier) = earlier {
            let says = format!("It was answered, and {agent} has not been given that yet: {earlier}");
            context.out.wrapped(&says, 2, Style::Dim)?;
        }
        context
            .out
            .styled("Your answer, ended by an empty line or Ctrl-D:", Style::Dim)?;
        context.out.flush()?;
        loop {
            let mut line = String::new();
            let read = stdin.read_line(&mut line).doing("read", "the answer")?;
            if read == 0 || line.trim().is_empty() || text.len() as u64 > LONGEST {
                break;
            }
            text.push_str(&line);
        }
    } else {
        // One byte more than is taken: a longer one is refused, not cut.
        let mut bytes = Vec::new();
        stdin
            .lock()
            .take(LONGEST + 1)
            .read_to_end(&mut bytes)
            .doing("read", "the answer")?;
        text = String::from_utf8(bytes).map_err(|_| {
            Error::usage(
                "the answer is not UTF-8 text",
                "give it as text, or name a file in it",
            )
        })?;
    }
    Ok(text.trim().to_owned())
}
