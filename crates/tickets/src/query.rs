//! The front matter as JSON lines.

use serde_json::Value as Json;

use crate::Ticket;
use crate::yaml::Value;

/// `query`: one JSON object a ticket, its keys in the file's order, every scalar a string as in tk. `id` is always the file's
/// name; keys whose value crew does not read are left out.
pub fn render_query(tickets: &[&Ticket]) -> String {
    let mut out = String::new();
    for ticket in tickets {
        let id = [("id".to_owned(), Json::from(ticket.id.as_str()))];
        let rest = ticket
            .document
            .keys()
            .filter(|(key, _)| *key != "id")
            .filter_map(|(key, value)| {
                let value = match value {
                    Value::Empty => Json::from(""),
                    Value::Text(text) => Json::from(text.as_str()),
                    Value::List(items) => Json::from(items.as_slice()),
                    Value::Other => return None,
                };
                Some((key.to_owned(), value))
            });
        // Written by hand for the order of the keys; each part is the library's.
        let members: Vec<String> = id
            .into_iter()
            .chain(rest)
            .map(|(key, value)| format!("{}:{value}", Json::from(key)))
            .collect();
        out.push_str(&format!("{{{}}}\n", members.join(",")));
    }
    out
}
