//! The test runners that `crew init` finds, and its proposal for the checks and the workspaces.

use std::ffi::OsStr;
use std::path::Path;

use model::settings::{self, Checks, Detected, Proposal, Runner, Workspace};

use crate::context::Context;
use crate::error::Result;
use crate::ui::{self, Style};
use runtime::Place;

/// A file that is read to see which tests there are is not larger than this.
const SMALL: u64 = 4 << 20;

/// The test runners of a repository.
pub(super) struct Found {
    /// The one that is proposed.
    pub(super) taken: Option<Detected>,
    pub(super) also_seen: Vec<Detected>,
    /// The programs that the proposed one needs, and that are not installed here.
    pub(super) missing: Vec<String>,
    workspace: Workspace,
}

impl Found {
    /// Looks at the files of the checkout. An ignored file is none that a fresh checkout has.
    pub(super) fn of(context: &Context, place: &Place) -> Result<Self> {
        let files = client::repository::unignored_files(place)?;
        let read = |path: &str| {
            let path = place.root.join(path);
            let is_small = path
                .metadata()
                .is_ok_and(|found| found.is_file() && found.len() <= SMALL);
            is_small.then(|| std::fs::read_to_string(path).ok()).flatten()
        };
        let mut also_seen = settings::detect(&files, read);
        let taken = (!also_seen.is_empty()).then(|| also_seen.remove(0));
        let path = context.env.get("PATH").map(OsStr::new);
        let is_missing =
            |program: &&String| process::find_program(Path::new(program), path, &place.root).is_err();
        let needs = taken.iter().flat_map(|taken| &taken.needs);
        Ok(Self {
            missing: needs.filter(is_missing).cloned().collect(),
            workspace: Workspace {
                setup: match &taken {
                    Some(taken) => set_up_of_workspaces(place, taken)?,
                    None => Vec::new(),
                },
                ..Workspace::default()
            },
            taken,
            also_seen,
        })
    }

    pub(super) fn checks(&self) -> Checks {
        self.taken.as_ref().map(Detected::checks).unwrap_or_default()
    }

    pub(super) fn proposal(&self) -> Proposal {
        Proposal {
            checks: self.checks(),
            workspace: self.workspace.clone(),
            also_seen: self.also_seen.clone(),
        }
    }

    /// Shows what guards the target.
    pub(super) fn show(&self, context: &mut Context) -> Result<()> {
        let out = &mut context.out;
        let Some(taken) = &self.taken else {
            out.styled("  checked by      nothing", Style::Yellow)?;
            let known = Runner::ALL.map(|runner| runner.to_string()).join(", ");
            out.styled(
                &format!("  no test runner was found ({known}), so"),
                Style::Yellow,
            )?;
            for line in [
                "  nothing guards the target. What must pass before work lands is named",
                "  in crew.toml, as [checks] commands.",
            ] {
                out.styled(line, Style::Yellow)?;
            }
            return Ok(());
        };
        let named = |found: &Detected| ui::clean(&format!("{} seen in {}", found.runner, found.seen_in));
        let commands = ui::clean(&taken.commands.join(" && "));
        out.line(&format!("  checked by      {commands}   ({})", named(taken)))?;
        for (n, command) in taken.setup.iter().enumerate() {
            let label = if n == 0 { "set up by" } else { "" };
            out.line(&format!("  {label:<15} {}", ui::clean(command)))?;
        }
        for program in &self.missing {
            let says = format!("  {:<15} {program} is not installed here", "");
            out.styled(&says, Style::Yellow)?;
        }
        if !self.also_seen.is_empty() {
            let others: Vec<String> = self
                .also_seen
                .iter()
                .map(|other| ui::clean(&format!("{} in {}", other.runner, other.seen_in)))
                .collect();
            let says = format!("  also seen       {}: comments in crew.toml", others.join(", "));
            out.line(&says)?;
        }
        Ok(())
    }
}

/// The set-up of workspaces: that of checks.
fn set_up_of_workspaces(place: &Place, taken: &Detected) -> Result<Vec<String>> {
    let unignored = client::repository::unignored(place, &taken.to_ignore)?;
    Ok(taken.workspace_setup(&unignored))
}
