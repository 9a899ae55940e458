//! The canary: a check runs once on a tree whose sources are broken on purpose. One that passes all the same
//! does not look at the tree that it is given.

use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use engine::Report;
use model::settings::{Blind, canary};
use model::target::Shown;
use model::ticket::{CheckPlan, CheckTask};
use model::{Oid, RunId};
use process::Run;

use super::{Check, digest, facts, write};
use crate::executor::perform::{could_not, git_oid};
use crate::executor::{Executor, private_dir};
use crate::{Error, Result};

/// The beginning of the name that the key of a canary's run gets.
const NAME: &str = "canary-";

/// Whether a run was a canary. `made`: its name, as the process has it.
#[must_use]
pub fn is_canary(made: &str, run: &RunId) -> bool {
    let of = made.strip_prefix(run.as_str());
    let key = of.and_then(|of| of.split_once('-')).map(|(_, key)| key);
    key.is_some_and(|key| key.starts_with(NAME))
}

impl Executor {
    /// The name of what a canary shows for the n-th command: its note, kept as long as the commands, the
    /// manifests and the environment stay the same. None where no canary is run.
    pub(crate) fn canary_key(&self, commit: &Oid, plan: &CheckPlan, command: usize) -> Option<String> {
        let tree = self.repository.tree_of(&git_oid(commit).ok()?).ok()?.0;
        self.canary_keys(&tree, plan)?.into_iter().nth(command)
    }

    /// The same for each command.
    fn canary_keys(&self, tree: &git::Oid, plan: &CheckPlan) -> Option<Vec<String>> {
        if self.settings.checks.blind == Blind::Allow || plan.commands.is_empty() {
            return None;
        }
        let mut has_sources = false;
        let mut manifests = Vec::new();
        for file in self.repository.tree_files(tree).ok()? {
            let path = String::from_utf8_lossy(&file.path).into_owned();
            has_sources |= canary::broken(&path, &self.settings.checks).is_some();
            if model::settings::input(&path, &self.settings.checks).is_some() {
                manifests.extend([file.path, file.content]);
            }
        }
        let environment = self.check_environment();
        let key = |command: usize| {
            let mut parts = vec![b"canary".to_vec(), command.to_string().into_bytes()];
            parts.extend(manifests.iter().cloned());
            for list in [&plan.setup, &plan.commands] {
                parts.push(list.len().to_string().into_bytes());
                parts.extend(list.iter().map(|check| facts(check).into_bytes()));
            }
            parts.push(environment.clone().into_bytes());
            digest(&parts)
        };
        has_sources.then(|| (0..plan.commands.len()).map(key).collect())
    }

    /// Whether nobody knows yet what a canary shows with the manifests of a tree.
    pub(crate) fn is_canary_due(&self, tree: &git::Oid) -> bool {
        let plan = CheckPlan::of(&self.settings);
        let about = format!("{tree} {plan:?} {}", self.check_environment());
        let mut known = self
            .known_canaries
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if known.as_ref() == Some(&about) {
            return false;
        }
        let keys = self.canary_keys(tree, &plan).unwrap_or_default();
        let is_due = keys.iter().any(|key| self.canary_shown(key).is_none());
        if !is_due {
            *known = Some(about);
        }
        is_due
    }

    /// What the canary of this key has shown before.
    pub(crate) fn canary_shown(&self, key: &str) -> Option<Shown> {
        match fs::read(self.place.canary(key)).ok()?.as_slice() {
            b"looks" => Some(Shown::Looks),
            b"passes" => Some(Shown::Passes),
            _ => None,
        }
    }

    /// Notes what a canary has shown.
    pub(crate) fn note_canary(&self, key: &str, shown: Shown) {
        let note = match shown {
            Shown::Looks => "looks",
            Shown::Passes => "passes",
        };
        let noted =
            private_dir(&self.place.canaries_dir()).and_then(|()| write(&self.place.canary(key), note));
        if let Err(error) = noted {
            // It only means that the canary runs once more.
            tracing::warn!("{}", text::with_causes(&error));
        }
    }

    /// Starts a check on a tree whose sources are broken. The checkout is set up already.
    pub(crate) fn start_canary(&self, check: &Check<'_>, key: &str) -> Report {
        if let Some(why) = self.refuses_work() {
            return Report::Hindered { why };
        }
        let _last = self
            .last_check
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        self.try_start_canary(check, key).unwrap_or_else(could_not)
    }

    fn try_start_canary(&self, check: &Check<'_>, key: &str) -> Result<Report> {
        let commit = git_oid(check.commit)?;
        let tree = self.repository.tree_of(&commit)?.0;
        let dir = self.place.run_dir(check.run);
        let owned = self.owner.run_id(check.run.as_str());
        if let Ok(run) = Run::open(&dir)
            && crate::executor::is_for(&run, &owned, Some(&format!("{NAME}{key}")))?
        {
            self.note_current(check.slot, &dir)?;
            return Ok(self.begin_check(&run));
        }
        self.clear_current(check.slot)?;
        let as_first = Check {
            task: CheckTask::Target,
            passed: 0,
            ..*check
        };
        let Some(checkout) = self.checkout_for(&as_first, &commit, &tree)? else {
            return Ok(Report::NotSetUp);
        };
        self.forget_sequence(check.slot)?;
        self.break_sources(checkout.path(), &tree)?;
        let run = self.make_in(
            checkout.path(),
            check,
            &dir,
            format!("{owned}-{NAME}{key}"),
            &commit,
        )?;
        Ok(self.begin_check(&run))
    }

    /// Puts text that no language accepts in place of every source.
    fn break_sources(&self, checkout: &Path, tree: &git::Oid) -> Result<()> {
        for file in self.repository.tree_files(tree)? {
            let name = String::from_utf8_lossy(&file.path);
            let Some(text) = canary::broken(&name, &self.settings.checks) else {
                continue;
            };
            let path = checkout.join(std::ffi::OsStr::from_bytes(&file.path));
            // A link leads elsewhere, and its content is no source.
            if !path.symlink_metadata().is_ok_and(|it| it.is_file()) {
                continue;
            }
            let replaced = fs::remove_file(&path).and_then(|()| {
                let mut options = fs::OpenOptions::new();
                options
                    .write(true)
                    .create_new(true)
                    .open(&path)?
                    .write_all(text.as_bytes())
            });
            replaced.map_err(|source| Error::Io {
                doing: "write",
                path,
                source,
            })?;
        }
        Ok(())
    }
}
