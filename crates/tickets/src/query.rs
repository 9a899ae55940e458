//! The output of `query`: the front matter of tickets as JSON.

use serde_json::Value as Json;

use crate::ticket::Ticket;
use crate::yaml::Value;

/// `query`: one JSON object a ticket, on a line of its own, with the keys in the order of the file and
/// every scalar as a string, as in tk. `id` is always the name of the file. Keys whose value crew does not
/// read are left out.
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
                    Value::Records(_) | Value::Other => return None,
                };
                Some((key.to_owned(), value))
            });
        // The library would sort the keys, so the object is put together here.
        let members: Vec<String> = id
            .into_iter()
            .chain(rest)
            .map(|(key, value)| format!("{}:{value}", Json::from(key)))
            .collect();
        out.push_str(&format!("{{{}}}\n", members.join(",")));
    }
    out
}
