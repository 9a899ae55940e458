//! The tools of the clients, for operations that a script names by their purpose.

use serde_json::{Map, Value, json};

/// A tool that a client offers.
#[derive(Clone, Debug)]
pub(crate) struct OfferedTool {
    pub(crate) name: String,
    /// The JSON schema of its input.
    pub(crate) schema: Value,
}

const SHELLS: [&str; 5] = ["Bash", "bash", "exec_command", "shell", "run_shell_command"];
const WRITERS: [&str; 3] = ["Write", "write", "write_file"];

/// The call that runs a command.
pub(crate) fn bash(command: &str, offered: &[OfferedTool]) -> (String, Value) {
    let tool = first(&SHELLS, offered);
    let key = tool
        .and_then(|tool| tool.key(&["command", "cmd"]))
        .unwrap_or("command");
    let mut input = Map::new();
    input.insert(key.to_owned(), Value::from(command));
    if let Some(tool) = tool
        && tool.requires("description")
    {
        input.insert("description".to_owned(), Value::from("a step of the script"));
    }
    let name = tool.map_or("Bash", |tool| &tool.name);
    (name.to_owned(), Value::Object(input))
}

/// The call that writes a file, with the shell when a client has no tool for it.
pub(crate) fn write(path: &str, content: &str, offered: &[OfferedTool]) -> (String, Value) {
    let Some(tool) = first(&WRITERS, offered) else {
        let (path, content) = (quoted(path), quoted(content));
        let command = format!("mkdir -p -- \"$(dirname -- {path})\" && printf %s {content} > {path}");
        return bash(&command, offered);
    };
    let key = tool.key(&["file_path", "filePath", "path"]).unwrap_or("path");
    (tool.name.clone(), json!({ key: path, "content": content }))
}

fn first<'o>(names: &[&str], offered: &'o [OfferedTool]) -> Option<&'o OfferedTool> {
    names
        .iter()
        .find_map(|name| offered.iter().find(|tool| tool.name == *name))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

impl OfferedTool {
    fn key<'k>(&self, keys: &[&'k str]) -> Option<&'k str> {
        let properties = self.schema.get("properties")?;
        keys.iter().copied().find(|key| properties.get(key).is_some())
    }

    fn requires(&self, key: &str) -> bool {
        let required = self.schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|name| name == key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, key: &str, required: &[&str]) -> OfferedTool {
        OfferedTool {
            name: name.to_owned(),
            schema: json!({ "properties": { key: {}, "content": {} }, "required": required }),
        }
    }

    #[test]
    fn a_command_goes_to_the_shell_that_is_offered() {
        let claude = [
            tool("Read", "file_path", &[]),
            tool("Bash", "command", &["command"]),
        ];
        assert_eq!(
            bash("ls", &claude),
            ("Bash".to_owned(), json!({ "command": "ls" }))
        );
        let codex = [tool("exec_command", "cmd", &["cmd", "description"])];
        let (name, input) = bash("ls", &codex);
        assert_eq!((name.as_str(), &input["cmd"]), ("exec_command", &json!("ls")));
        assert!(input["description"].is_string());
    }

    #[test]
    fn a_file_is_written_by_the_tool_for_it_or_by_the_shell() {
        let claude = [tool("Write", "file_path", &[])];
        let expected = json!({ "file_path": "a", "content": "b" });
        assert_eq!(write("a", "b", &claude), ("Write".to_owned(), expected));
        let (name, input) = write("a'b", "c", &[tool("exec_command", "cmd", &[])]);
        assert_eq!(name, "exec_command");
        assert!(input["cmd"].as_str().unwrap().ends_with(r"> 'a'\''b'"), "{input}");
    }
}
