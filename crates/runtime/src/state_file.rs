//! `.crew/state.json`: a projection for people and scripts, in the shape of the Crew seed. Nothing reads it back.

use std::io::Write as _;
use std::path::PathBuf;

use engine::Core;
use model::settings::Settings;

use crate::{Place, Result};

/// The file, written after changes, whole or not at all.
#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    workspaces: PathBuf,
    /// Whether something changed since it was written.
    pub(crate) dirty: bool,
    written: Option<std::time::Duration>,
}

impl StateFile {
    pub(crate) fn new(place: &Place, settings: &Settings) -> Result<Self> {
        let workspaces = place.workspaces_dir(settings)?;
        Ok(Self {
            path: place.crew_dir.join("state.json"),
            workspaces,
            dirty: true,
            written: None,
        })
    }

    /// Writes it if something changed, at most some times a second: it is for people.
    pub(crate) fn refresh(&mut self, core: &Core) {
        let now = std::time::Duration::from_millis(u64::try_from(crate::clock::now().0).unwrap_or(0));
        let rested = self
            .written
            .is_none_or(|at| now.saturating_sub(at).as_millis() >= 250);
        if self.dirty && rested {
            self.write(core);
            self.written = Some(now);
        }
    }

    pub(crate) fn write(&mut self, core: &Core) {
        self.dirty = false;
        let text = text(core, &self.workspaces);
        let Some(dir) = self.path.parent() else { return };
        let written = tempfile::NamedTempFile::new_in(dir).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.persist(&self.path).map_err(|error| error.error)
        });
        if let Err(error) = written {
            tracing::warn!(path = %self.path.display(), %error, "state.json cannot be written");
        }
    }
}

fn text(core: &Core, workspaces: &std::path::Path) -> String {
    let seats: std::collections::BTreeMap<_, _> = core
        .tickets()
        .filter_map(|t| {
            t.attempt()
                .filter(|a| a.seated)
                .map(|a| (a.agent.clone(), (t, a)))
        })
        .collect();
    let agents: Vec<serde_json::Value> = core
        .project()
        .agents
        .iter()
        .map(|name| match seats.get(name) {
            None => serde_json::json!({
                "name": name, "session": "", "worktree": null, "branch": "", "task": null, "task_assigned_at": null,
                "status": "idle", "step_count": 0, "last_step_at": null,
                "total_input_tokens": 0, "total_output_tokens": 0, "total_cost_usd": 0.0,
            }),
            Some((ticket, a)) => serde_json::json!({
                "name": name,
                "session": a.session.id.to_string(),
                "worktree": workspaces.join(format!("{name}-{}", ticket.id)),
                "branch": format!("agent/{name}-{}", ticket.id),
                "task": ticket.id,
                "task_assigned_at": a.claimed_at.to_string(),
                "status": a.state.name(),
                "step_count": a.steps,
                "last_step_at": a.since.to_string(),
                "total_input_tokens": a.usage.input_tokens,
                "total_output_tokens": a.usage.output_tokens,
                "total_cost_usd": a.usage.cost_micro_usd as f64 / 1e6,
            }),
        })
        .collect();
    let mut text = serde_json::to_string_pretty(&serde_json::json!({ "agents": agents })).unwrap_or_default();
    text.push('\n');
    text
}
