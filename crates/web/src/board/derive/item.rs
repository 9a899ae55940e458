//! The documents of what waits for a person.

use client::documents;
use model::view::{Item, Kind as Waits, Snapshot};
use serde::Serialize;
use serde_json::Value;

use crate::board::document::{Documents, Kind};

/// An item, with the words of an agent apart from crew's own.
#[derive(Debug, Serialize)]
struct ItemDocument {
    #[serde(flatten)]
    item: Value,
    /// The question in its agent's words; `null` where it is none.
    question: Option<String>,
}

/// Puts the items in; gives their keys in order.
pub(super) fn put<'a>(documents: &mut Documents, items: &'a [Item], crew: &Snapshot) -> Vec<&'a str> {
    for item in items {
        documents.write(Kind::Item, &item.id, &document(item, crew));
    }
    items.iter().map(|item| item.id.as_str()).collect()
}

fn document(item: &Item, crew: &Snapshot) -> ItemDocument {
    let asks = match item.kind {
        Waits::Question => item.ticket.as_ref().and_then(|id| crew.tickets.get(id)),
        Waits::Held(_)
        | Waits::Checkout
        | Waits::PullRequest
        | Waits::Unwritten
        | Waits::Harness
        | Waits::Dependency
        | Waits::DependencyFailed
        | Waits::Impossible
        | Waits::File
        | Waits::Failing
        | Waits::Target
        | Waits::Disk
        | Waits::Settings
        | Waits::Stuck => None,
    };
    let question = asks.and_then(|ticket| Some(ticket.open_question()?.text.to_owned()));
    let mut document = serde_json::to_value(documents::Item::of(item)).unwrap_or_default();
    let acts = document.get_mut("acts").and_then(Value::as_array_mut);
    for (act, of) in acts.into_iter().flatten().zip(&item.acts) {
        if let Some(act) = act.as_object_mut() {
            act.insert("id".to_owned(), of.verb().into());
            // What an act lets pass is said before it is confirmed.
            act.insert("lets_pass".to_owned(), of.lets_pass().into());
        }
    }
    ItemDocument {
        item: document,
        question,
    }
}
