//! Messages: what is told about items, in crew's own sentences. Words of others stand apart, marked by `>`.

use client::documents;
use model::view::{Act, Item, Kind, Snapshot};
use model::{Look, TicketId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kept::Told;
use crate::secrets::Secrets;
use crate::settings::urgency;

/// Lines of others' words in a message.
const MOST_LINES: usize = 12;
/// Characters of others' words in a message, and of a ticket's title.
const MOST: usize = 1_200;
const MOST_OF_TITLE: usize = 200;
/// Items that a message about many names.
const MOST_ITEMS: usize = 20;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// The same for the same message however often it comes, and for the one that it is settled.
    pub(crate) id: String,
    /// `false` once what it told of is settled.
    pub(crate) waits: bool,
    /// The item's kind; `several` of a message about more than one.
    pub(crate) kind: String,
    /// The most urgent item's urgency.
    pub(crate) urgency: String,
    /// The name of the repository's folder.
    pub(crate) repository: String,
    /// The ticket, where all of it is about one.
    pub(crate) ticket: Option<String>,
    /// The agent that waits with it, or did the work.
    pub(crate) agent: Option<String>,
    /// A sentence of crew's, in a line.
    pub(crate) title: String,
    /// More about it: lines of crew's, and below them the words of others, each line behind `> `.
    pub(crate) body: String,
    /// Where it is in the page.
    pub(crate) url: String,
    /// The items, as in `crew inbox --json`, without what checks printed.
    pub(crate) items: Vec<Value>,
}

/// The facts that messages are made from.
pub(crate) struct Facts<'a> {
    pub(crate) repository: &'a str,
    /// The address that links begin with.
    pub(crate) url: &'a str,
    pub(crate) crew: &'a Snapshot,
    pub(crate) look: Look,
    pub(crate) secrets: &'a Secrets,
}

impl Message {
    /// The title, the body and the link, for programs that show one text.
    pub(crate) fn text(&self) -> String {
        let parts = [&self.title, &self.body, &self.url];
        let parts: Vec<&str> = parts
            .iter()
            .map(|part| part.as_str())
            .filter(|part| !part.is_empty())
            .collect();
        parts.join("\n")
    }

    /// Nothing but crew's own sentence and the link.
    pub(crate) fn brief(self) -> Self {
        Self {
            body: String::new(),
            items: Vec::new(),
            ..self
        }
    }

    /// The message that what another one told of is settled.
    pub(crate) fn settled(told: &Told, repository: &str) -> Self {
        Self {
            id: told.message.clone(),
            waits: false,
            kind: told.kind.clone(),
            urgency: told.urgency.clone(),
            repository: repository.to_owned(),
            ticket: told.ticket.clone(),
            agent: None,
            title: format!("Settled: {}", told.title),
            body: String::new(),
            url: told.url.clone(),
            items: Vec::new(),
        }
    }

    /// A message that tries a program.
    pub(crate) fn trial(repository: &str, url: &str, id: String) -> Self {
        Self {
            id,
            waits: true,
            kind: "test".to_owned(),
            urgency: "word".to_owned(),
            repository: repository.to_owned(),
            ticket: None,
            agent: None,
            title: format!("crew can reach you ({repository})"),
            body: "This is a test by `crew notify --test`; nothing waits for you because of it.".to_owned(),
            url: inbox(url, repository),
            items: Vec::new(),
        }
    }
}

impl Facts<'_> {
    /// The message about an item.
    pub(crate) fn single(&self, item: &Item) -> Message {
        Message {
            id: item.id.clone(),
            kind: item.kind.name().to_owned(),
            agent: item.agent.as_ref().map(ToString::to_string),
            title: format!("{} ({})", self.sentence(item), self.repository),
            body: self.body(item),
            url: format!("{}/{}", inbox(self.url, self.repository), encoded(&item.id)),
            ..self.of(&[item])
        }
    }

    /// The message about more than one.
    pub(crate) fn several(&self, id: String, items: &[&Item]) -> Message {
        let mut message = self.of(items);
        let count = match items.len() {
            1 => "1 thing waits".to_owned(),
            many => format!("{many} things wait"),
        };
        message.title = match &message.ticket {
            Some(ticket) => format!("{count} for you about {ticket} ({})", self.repository),
            None => format!("{count} for you ({})", self.repository),
        };
        let named = items.iter().take(MOST_ITEMS).map(|item| {
            let title = item.ticket.as_ref().map(|_| quoted(&item.title));
            let title = title.map_or_else(String::new, |title| format!(": {title}"));
            format!("- {}{title}", self.sentence(item))
        });
        let mut lines: Vec<String> = named.collect();
        if items.len() > MOST_ITEMS {
            lines.push(format!("- and {} more", items.len() - MOST_ITEMS));
        }
        message.body = self.secrets.removed(&lines.join("\n"));
        Message { id, ..message }
    }

    /// What is common to both.
    fn of(&self, items: &[&Item]) -> Message {
        let first = items.first();
        let ticket = first.and_then(|item| item.ticket.as_ref());
        let is_one = items.iter().all(|item| item.ticket.as_ref() == ticket);
        let ticket = ticket.filter(|_| is_one).map(TicketId::to_string);
        let most_urgent = items.iter().map(|item| item.urgency).min();
        Message {
            id: String::new(),
            waits: true,
            kind: "several".to_owned(),
            urgency: most_urgent.map(urgency).unwrap_or_default().to_owned(),
            repository: self.repository.to_owned(),
            ticket,
            agent: None,
            title: String::new(),
            body: String::new(),
            url: inbox(self.url, self.repository),
            items: items.iter().map(|item| self.document(item)).collect(),
        }
    }

    /// The item in a sentence of crew's: it has no word of a ticket, an agent or a program.
    fn sentence(&self, item: &Item) -> String {
        let ticket = item.ticket.as_ref().map_or("a ticket", TicketId::as_str);
        let agent = item
            .agent
            .as_ref()
            .map_or_else(|| "An agent".to_owned(), ToString::to_string);
        let sentence = match &item.kind {
            Kind::Question => format!("{agent} asks about {ticket}"),
            // The list has it as one entry for all, under a title of crew's.
            Kind::Held(_) if item.ticket.is_none() => item.title.clone(),
            Kind::Held(why) => format!("{ticket} is held: {}", why.replace('_', " ")),
            Kind::Checkout if item.ticket.is_some() => format!("{ticket} cannot land over your edits"),
            Kind::Checkout | Kind::Unwritten | Kind::Harness | Kind::Target | Kind::Disk | Kind::Settings => {
                item.title.clone()
            }
            Kind::PullRequest => format!("The pull request of {ticket} waits"),
            Kind::Dependency => format!("{ticket} waits for a ticket that is not there, or for itself"),
            Kind::DependencyFailed => format!("{ticket} depends on a ticket that has failed"),
            Kind::Impossible => format!("A gatekeeper finds that {ticket} cannot be done"),
            Kind::File => "A file of a ticket needs you".to_owned(),
            Kind::Failing => format!("crew cannot do its work for {ticket}"),
            Kind::Stuck => format!("{agent} shows no sign of life"),
        };
        self.secrets.removed(&text::sanitise::line(&sentence))
    }

    /// What stands below the sentence.
    fn body(&self, item: &Item) -> String {
        let mut lines = Vec::new();
        if let Some(ticket) = &item.ticket {
            lines.push(format!("{ticket}: {}", quoted(&item.title)));
        }
        if let Some(says) = item.by_itself(self.look) {
            lines.push(format!("It {says}."));
        }
        let asked = item.ticket.as_ref().filter(|_| item.kind == Kind::Question);
        let asked = asked.and_then(|ticket| self.crew.tickets.get(ticket)?.open_question());
        let words = match asked {
            Some(open) => {
                lines.push(format!("{} wrote:", open.agent));
                open.text
            }
            None => {
                lines.push("The reason, partly in others' words:".to_owned());
                &item.why
            }
        };
        let words = cut(&text::sanitise::text(words), MOST);
        let words: Vec<&str> = words.lines().filter(|line| !line.trim().is_empty()).collect();
        if words.is_empty() {
            lines.pop();
        }
        lines.extend(words.iter().take(MOST_LINES).map(|line| format!("> {line}")));
        if words.len() > MOST_LINES {
            lines.push("> …".to_owned());
        }
        self.secrets.removed(&lines.join("\n"))
    }

    fn document(&self, item: &Item) -> Value {
        let acts = item.acts.iter().map(|act| match act {
            Act::ByHand { what } => Act::ByHand {
                what: text::sanitise::text(what),
            },
            Act::Answer { .. }
            | Act::Approve { .. }
            | Act::Reject { .. }
            | Act::Retry { .. }
            | Act::Waive { .. }
            | Act::WaiveCommitment { .. }
            | Act::Drop { .. }
            | Act::Merge { .. }
            | Act::Wake { .. }
            | Act::Kill { .. }
            | Act::Undep { .. }
            | Act::Reopen { .. }
            | Act::Close { .. } => act.clone(),
        });
        let item = Item {
            title: text::sanitise::line(&item.title),
            why: text::sanitise::excerpt(&item.why),
            // Checks may print what is in their environment.
            printed: None,
            secrets: Vec::new(),
            acts: acts.collect(),
            ..item.clone()
        };
        let document = serde_json::to_value(documents::Item::of(&item)).unwrap_or_default();
        self.secrets.removed_from(document)
    }
}

/// A title of others in quotes that it cannot end.
fn quoted(title: &str) -> String {
    let title = cut(&text::sanitise::line(title), MOST_OF_TITLE);
    format!("“{}”", title.replace(['“', '”'], "\""))
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The address of a repository's inbox.
fn inbox(url: &str, repository: &str) -> String {
    format!("{url}/r/{}/inbox", encoded(repository))
}

/// A part of a path, percent-encoded.
fn encoded(part: &str) -> String {
    let mut encoded = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_an_address_has_no_sign_that_means_something_there() {
        assert_eq!(encoded("question:t-1:1795"), "question:t-1:1795");
        assert_eq!(encoded("lock:/a b?#ä"), "lock:%2Fa%20b%3F%23%C3%A4");
    }

    #[test]
    fn a_title_cannot_end_its_quotes() {
        assert_eq!(quoted("a” b\n\u{1b}[31mc"), "“a\" b c”");
    }
}
