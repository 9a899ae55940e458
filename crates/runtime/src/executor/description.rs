//! The words of a pull request: its title and its description.

use model::ticket::{Candidate, Ticket};

use crate::executor::Executor;

/// The most characters of a description; the host takes no more than 65,536.
const LONGEST_BODY: usize = 60_000;
/// The most characters of a title with the ticket's id; the host takes no more than 256.
const LONGEST_TITLE: usize = 250;

impl Executor {
    /// The title and the description of a ticket's pull request.
    pub(super) fn description(&self, ticket: &Ticket, candidate: &Candidate) -> (String, String) {
        let title = title(&ticket.spec.title, ticket.id.as_str());
        let text = self.text_of(ticket).unwrap_or_default();
        // The first heading is the title.
        let text = text.trim_start();
        let text = match text.strip_prefix("# ") {
            Some(rest) => rest.split_once('\n').map_or("", |(_, rest)| rest),
            None => text,
        };
        let mut body = text::sanitise::prompt(text.trim());
        if let Some(summary) = summary(ticket) {
            body.push_str(&format!("\n\n## What was done\n\n{summary}"));
        }
        if !candidate.passed.is_empty() {
            body.push_str(&format!(
                "\n\n## Passed on the merge with {}\n",
                self.target.short()
            ));
            for one in &candidate.passed {
                body.push_str(&format!("\n* {}", code(&text::sanitise::line(one))));
            }
        }
        if let Some(attempt) = ticket.attempt() {
            let (agent, number) = (&attempt.claim.agent, attempt.claim.number);
            body.push_str(&format!(
                "\n\nTicket {}, attempt {number}, by {agent}.\n",
                ticket.id
            ));
        }
        (title, cut(&body, LONGEST_BODY))
    }
}

/// What the agent says that it has done, as others may read it. The ticket is a person's; what an agent
/// writes calls nobody and closes nothing.
pub(super) fn summary(ticket: &Ticket) -> Option<String> {
    let summary = ticket.attempt()?.summary.as_deref()?;
    Some(text::quiet(&text::sanitise::prompt(summary.trim())))
}

/// The title of a ticket's pull request, which ends with its id.
fn title(title: &str, id: &str) -> String {
    let title = text::sanitise::line(title.trim());
    let room = LONGEST_TITLE.saturating_sub(id.chars().count());
    format!("{} ({id})", cut(&title, room))
}

/// A command as a span of code in Markdown, which shows it as it is.
fn code(command: &str) -> String {
    let runs = command.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    match command.contains('`') {
        true => format!("{fence} {command} {fence}"),
        false => format!("{fence}{command}{fence}"),
    }
}

/// A text of at most so many characters, and a sign where it was longer.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_is() {
        assert_eq!(code("node --test *.js"), "`node --test *.js`");
        assert_eq!(code("echo `date`"), "`` echo `date` ``");
        assert_eq!(code("``"), "``` `` ```");
    }
}
