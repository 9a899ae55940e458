//! crew's tools for the client: a server of the Model Context Protocol that the client starts by itself.

use serde_json::{Map, Value, json};

use crate::environment::Environment;
use crate::step::Calls;

/// The file in the folder of the run that tells the client of the server.
pub(super) const FILE: &str = "mcp.json";
/// The name of the server.
pub(super) const SERVER: &str = "crew";
/// How the client's names of the server's tools begin.
pub(super) const PREFIX: &str = "mcp__crew__";
/// What people read where it could not be started.
pub(super) const LACKING: &str =
    "crew's tools could not be started for this step: the agent has its words only";

/// The content of the file. The client adds the user's own servers. `None` where a path is no text, which
/// JSON cannot hold: then the agent has its words only.
pub(super) fn servers(calls: &Calls, variables: &Environment) -> Option<String> {
    let of_crew = variables.iter().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| name.starts_with("CREW_"))?;
        Some((name.to_owned(), Value::from(value.to_str()?)))
    });
    calls.dir.to_str()?;
    let server = json!({
        "type": "stdio",
        "command": calls.program.to_str()?,
        "args": ["mcp"],
        "env": of_crew.collect::<Map<String, Value>>(),
        // The client would name the tools only, and have the model search for what they are.
        "alwaysLoad": true,
    });
    Some(json!({ "mcpServers": { SERVER: server } }).to_string())
}
