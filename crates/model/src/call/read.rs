//! Reading of the calls that agents write, which are untrusted text.

use serde_json::{Value, json};
use text::sanitise;

use super::tool::takes;
use super::{Call, LONGEST_TITLE, MOST_TEXT, MOST_WORDS, Role};

impl Call {
    /// Reads a call that an agent of this role has written: untrusted text. Its texts are sanitised.
    ///
    /// # Errors
    /// What is wrong with it and what to do, for the agent that wrote it.
    pub fn read(role: Role, tool: &str, mut arguments: Value) -> Result<Self, String> {
        if let Some(why) = role.refusal(tool) {
            return Err(why);
        }
        if !arguments.is_object() {
            let takes = takes(role, tool);
            return Err(format!(
                "{tool} was not called: its arguments are no object. {takes}"
            ));
        }
        clean(&mut arguments).map_err(|why| format!("{tool} was not called: {why}"))?;
        let whole = json!({ "tool": tool, "arguments": arguments });
        let call: Self = serde_json::from_value(whole)
            .map_err(|error| format!("{tool} was not called: {error}. {}", takes(role, tool)))?;
        match call.fault() {
            Some(why) => Err(format!("{tool} was not called: {why}")),
            None => Ok(call),
        }
    }

    /// What is wrong with its texts.
    fn fault(&self) -> Option<String> {
        let (field, text) = match self {
            Call::TicketShow {} | Call::TeamList {} | Call::SetMode { .. } => return None,
            Call::Delegate { tasks } => match tasks.first() {
                Some(task) => ("title", &task.title),
                None => return Some("`tasks` is empty".to_owned()),
            },
            Call::TeamKill { ticket, .. } => ("ticket", ticket),
            Call::TeamComment { text } | Call::ReportProgress { text } => ("text", text),
            Call::SubmitWork { summary, .. } => ("summary", summary),
            Call::ReportBlocked { why } => ("why", why),
            Call::Ask { question } => ("question", question),
            Call::SleepUntil { why, .. } => ("why", why),
            Call::AddCommitment { says, run } => {
                if run.first().is_none_or(String::is_empty) {
                    return Some("`run` names no program".to_owned());
                }
                if run.len() > MOST_WORDS {
                    return Some(format!("`run` has more than {MOST_WORDS} words"));
                }
                ("says", says)
            }
            Call::CreateTicket {
                title,
                kind,
                tags,
                priority,
                ..
            } => {
                if title.contains('\n') || title.len() > LONGEST_TITLE {
                    return Some(format!("`title` is one line of at most {LONGEST_TITLE} bytes"));
                }
                if let Some(tag) = tags.iter().find(|tag| !is_tag(tag)) {
                    return Some(format!(
                        "{} is no tag: letters, digits, `-`, `_`, `.` and `:`",
                        text::quoted(tag)
                    ));
                }
                if let Some(kind) = kind.as_ref().filter(|kind| !is_tag(kind)) {
                    return Some(format!("{} is no `type`: it is one word", text::quoted(kind)));
                }
                if priority.is_some_and(|priority| priority > 4) {
                    return Some("`priority` is 0 to 4".to_owned());
                }
                ("title", title)
            }
            Call::ApproveWork { acceptance_test, .. } => ("acceptance_test", acceptance_test),
            Call::RejectWork { reason, .. } | Call::FailWork { reason } => ("reason", reason),
        };
        text.trim().is_empty().then(|| format!("`{field}` is empty"))
    }
}

fn is_tag(tag: &str) -> bool {
    let is_fine = |one: char| one.is_alphanumeric() || "-_.:".contains(one);
    !tag.is_empty() && tag.len() <= 100 && tag.chars().all(is_fine)
}

/// Sanitises every text of a value, and refuses one that is too long.
fn clean(value: &mut Value) -> Result<(), String> {
    match value {
        Value::String(text) if text.len() > MOST_TEXT => Err(format!(
            "a text of {} bytes is too long, {MOST_TEXT} are the most: say it shorter",
            text.len()
        )),
        Value::String(text) => {
            *text = sanitise::text(text);
            Ok(())
        }
        Value::Array(values) => values.iter_mut().try_for_each(clean),
        Value::Object(fields) => fields.values_mut().try_for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}
