//! Documents: what the page shows of a repository, each as its JSON under its kind and key.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::Cut;

/// The kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The repository: its name and its target.
    Repository,
    /// The facts that hold for the whole repository.
    State,
    /// An agent, by its name.
    Agent,
    /// A ticket that is not over, by its id.
    Ticket,
    /// An item that waits for a person, by its id.
    Item,
    /// An entry of the merge train, by its ticket.
    Train,
    /// A ticket that landed, by its id.
    Landed,
    /// The keys of the documents of a kind, in the order in which they are shown.
    Order,
    /// A command that a page has submitted, by its id.
    Asked,
}

impl Kind {
    /// Its name.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Repository => "repository",
            Self::State => "state",
            Self::Agent => "agent",
            Self::Ticket => "ticket",
            Self::Item => "item",
            Self::Train => "train",
            Self::Landed => "landed",
            Self::Order => "order",
            Self::Asked => "asked",
        }
    }
}

/// The kind and the key of a document.
pub(crate) type Key = (Kind, Arc<str>);

/// Documents by kind and key, each as its JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Documents(BTreeMap<Key, Arc<str>>);

impl Documents {
    /// Puts the JSON of a document in.
    pub(crate) fn put(&mut self, kind: Kind, key: &str, json: Arc<str>) {
        self.0.insert((kind, key.into()), json);
    }

    /// Writes a document as JSON and puts it in.
    pub(crate) fn write<T: Serialize>(&mut self, kind: Kind, key: &str, document: &T) {
        self.put(kind, key, json(document));
    }

    /// All of them, by kind and key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, &Arc<str>)> {
        self.0.iter()
    }

    /// Takes a document in, or out where there is none; says whether that changes anything.
    pub(super) fn set(&mut self, key: &Key, json: Option<&Arc<str>>) -> bool {
        match json {
            Some(json) => {
                let before = self.0.insert(key.clone(), Arc::clone(json));
                before.is_none_or(|before| before != *json)
            }
            None => self.0.remove(key).is_some(),
        }
    }
}

/// Documents that may have changed: each as it is now, none where it is gone.
pub(super) type Patch = BTreeMap<Key, Option<Arc<str>>>;

/// The change from documents to others.
pub(super) fn patch(before: &Documents, after: &Documents) -> Patch {
    let gone = before.0.keys().filter(|key| !after.0.contains_key(*key));
    let gone = gone.map(|key| (key.clone(), None));
    let is_new = |(key, json): &(&Key, &Arc<str>)| before.0.get(*key) != Some(*json);
    let put = after.iter().filter(is_new);
    let put = put.map(|(key, json)| (key.clone(), Some(Arc::clone(json))));
    gone.chain(put).collect()
}

/// A document as JSON.
pub(super) fn json<T: Serialize>(document: &T) -> Arc<str> {
    // Documents have only keys that are text: nothing in them cannot be written.
    serde_json::to_string(document)
        .unwrap_or_else(|_| "null".to_owned())
        .into()
}

/// All documents at a cut.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The place in the changes at which they stand.
    pub(crate) cut: Cut,
    /// The documents.
    pub(crate) documents: Arc<Documents>,
}

impl View {
    /// As it is sent: `{cut, docs: [{kind, key, doc}…]}`.
    #[must_use]
    pub(crate) fn json(&self) -> String {
        // Of thousands of tickets it is some megabytes: it is written once, in place.
        let mut text = format!("{{\"cut\":\"{}\",\"docs\":[", self.cut);
        for (n, ((kind, key), doc)) in self.documents.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            let (kind, key) = (kind.name(), serde_json::json!(&**key));
            text.push_str(&format!("{comma}{{\"kind\":\"{kind}\",\"key\":{key},\"doc\":"));
            text.push_str(doc);
            text.push('}');
        }
        text.push_str("]}");
        text
    }
}
