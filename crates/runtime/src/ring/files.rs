//! The files that the loop hears of, and what a person writes into them while it turns: settings and prompts.

use std::path::PathBuf;
use std::sync::Arc;

use engine::Input;
use notify::Watcher as _;
use tokio::sync::mpsc;

use super::{Heard, Ring};
use crate::hands::Hands;
use crate::{Error, Place, Result};

impl Ring {
    /// Reads `crew.toml` and the prompt templates again after a person's edit; a bad one keeps the last good ones and is told.
    pub(super) async fn reread_settings(&mut self) -> Result<()> {
        match self.renewed_hands() {
            Ok(None) => self.settings_error = None,
            Ok(Some(hands)) => {
                tracing::info!("{} read again", what(&hands, &self.hands));
                self.settings_error = None;
                self.core.set_settings(hands.settings.clone());
                self.hands = Arc::new(hands);
                self.watch_prompts();
                self.step(vec![Input::Ticked]).await?;
            }
            Err(error) => {
                let why = error.to_string();
                if self.settings_error.as_ref() != Some(&why) {
                    tracing::warn!("the last good settings stand: {why}");
                    self.settings_error = Some(why);
                }
            }
        }
        Ok(())
    }

    /// The hands under the settings as they are now; none when these are in force.
    fn renewed_hands(&self) -> Result<Option<Hands>> {
        let settings = self.options.over(self.hands.place.settings()?);
        let old = &self.hands.settings;
        if settings == *old && self.hands.are_prompts_same()? {
            return Ok(None);
        }
        if settings.project.target != old.project.target || settings.workspace_dir != old.workspace_dir {
            return Err(Error::NeedsRestart);
        }
        self.hands.renewed(&settings, &self.options).map(Some)
    }

    /// Has changes of the templates told; where it cannot, they are seen at the next tick.
    pub(super) fn watch_prompts(&mut self) {
        let dir = self.hands.prompts_dir();
        if let Some(watcher) = &mut self.watcher
            && dir != self.watched_prompts
        {
            if let Some(old) = &self.watched_prompts {
                drop(watcher.unwatch(old));
            }
            if let Some(new) = &dir {
                drop(watcher.watch(new, notify::RecursiveMode::NonRecursive));
            }
            self.watched_prompts = dir;
        }
    }
}

/// What is different in the new hands, in words.
fn what(new: &Hands, old: &Hands) -> &'static str {
    match (new.settings == old.settings, new.prompts.is_same(&old.prompts)) {
        (false, true) => "crew.toml was",
        (true, _) => "the prompt templates were",
        (false, false) => "crew.toml and the prompt templates were",
    }
}

/// Watches the journal's folder and the repository's root, not the files: they are replaced, and come and go.
pub(super) fn watch_files(
    place: &Place,
    tell: mpsc::UnboundedSender<Heard>,
) -> Option<notify::RecommendedWatcher> {
    let settings = place.settings_path.clone();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else {
            // Whatever was lost, a look finds it.
            drop(tell.send(Heard::JournalChanged));
            drop(tell.send(Heard::SettingsTouched));
            return;
        };
        if event.kind.is_access() {
            return;
        }
        // Which folder has the templates is a setting; elsewhere such a file comes seldom, and costs a look.
        let may_be_template = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
        if event
            .paths
            .iter()
            .any(|path| *path == settings || may_be_template(path))
        {
            drop(tell.send(Heard::SettingsTouched));
        }
        let is_journal = |path: &PathBuf| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("journal.db"))
        };
        if event.paths.iter().any(is_journal) {
            drop(tell.send(Heard::JournalChanged));
        }
    })
    .ok()?;
    watcher
        .watch(&place.crew_dir, notify::RecursiveMode::NonRecursive)
        .ok()?;
    watcher
        .watch(&place.root, notify::RecursiveMode::NonRecursive)
        .ok()?;
    Some(watcher)
}
