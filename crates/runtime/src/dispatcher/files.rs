//! The files that the loop hears of, and what a person writes into them while it turns: settings and prompts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::driver;
use git::Branch;
use tokio::sync::mpsc;
use watch::{Kind, Notice, Watcher};

use super::stillness::{Stamp, still};
use super::{Dispatcher, Event};
use crate::executor::Executor;
use crate::{Error, Options, Place, Result};

/// How long the settings must be still at least, whatever the debounce of tickets is.
const LEAST_STILLNESS: Duration = Duration::from_millis(100);
/// How long a git that works on the checkout is waited for at once. The settings are looked at again later.
const PATIENCE: Duration = Duration::from_secs(10);

impl Dispatcher {
    /// Reads `crew.toml` and the prompt templates again after a person's edit; the result arrives as an
    /// event. This is done on a thread: a client that the settings name is asked for its version, and may
    /// take its time.
    pub(super) fn reread_settings(&mut self) {
        if self.is_rereading() {
            self.rereading = Rereading::Again;
            return;
        }
        self.rereading = Rereading::UnderWay;
        let (executor, options, tell) = (
            Arc::clone(&self.executor),
            self.options.clone(),
            self.sender.clone(),
        );
        let threads = Arc::clone(&executor.threads);
        tokio::spawn(async move {
            let (of, over) = (Arc::clone(&executor), options.clone());
            let repository = executor.repository.clone();
            let changed = threads
                .begin(move || repository.have_file_settings_changed())
                .await;
            if let Ok(Some(Ok(changed))) = changed {
                drop(tell.send(Event::FileSettingsRead { changed }));
            }
            let is_in_force = threads.begin(move || is_in_force(&of, &over)).await;
            if let Ok(Some(true)) = is_in_force {
                drop(tell.send(Event::SettingsRead(Some(Ok(None)))));
                return;
            }
            let read = read_when_still(&executor, &options).await;
            drop(tell.send(Event::SettingsRead(read)));
        });
    }

    pub(super) fn is_rereading(&self) -> bool {
        self.rereading != Rereading::No
    }

    /// The settings were read again; a bad file keeps the last good ones and is told.
    pub(super) async fn take_settings(&mut self, read: Option<Result<Option<Box<Executor>>>>) -> Result<()> {
        let changed_meanwhile = self.rereading == Rereading::Again;
        self.rereading = Rereading::No;
        let mut settings = None;
        match read {
            // They are read at the next tick.
            None => {}
            Some(Ok(None)) => self.settings_error = None,
            Some(Ok(Some(executor))) => {
                tracing::info!("{} read again", what(&executor, &self.executor));
                for weaker in executor.settings.weaker_than(&self.executor.settings) {
                    tracing::warn!("{weaker}");
                }
                self.settings_error = None;
                settings = Some(Box::new(executor.settings.clone()));
                self.executor = Arc::from(executor);
                self.watch_prompts();
                self.renew_hooks()?;
            }
            Some(Err(error)) => {
                let why = error.to_string();
                if self.settings_error.as_ref() != Some(&why) {
                    tracing::warn!("the last good settings stand: {why}");
                    self.settings_error = Some(why);
                }
            }
        }
        let are_new = settings.is_some();
        let mut events = vec![driver::Event::SettingsRead(settings)];
        if changed_meanwhile {
            events.push(driver::Event::SettingsTouched);
            self.reread_settings();
        }
        self.handle(events).await?;
        if are_new {
            self.look_at_target(crate::target::Ask::Remote);
        }
        Ok(())
    }

    /// The user's settings of git for files were read again. Those that the engine began with stand, so that
    /// all work of one engine is done under the same.
    pub(super) fn take_file_settings(&mut self, changed: bool) {
        if changed && !self.has_told_file_settings {
            tracing::warn!(
                "git's settings for files have changed (filters, line endings, ignore rules, links); agents and checks get them from the next start of the engine on"
            );
        }
        self.has_told_file_settings = changed;
    }

    /// Has changes of the templates told; where it cannot, they are seen at the next tick.
    pub(super) fn watch_prompts(&mut self) {
        let dir = self.executor.prompts_dir();
        if let Some(watcher) = &self.watcher
            && dir != self.watched_prompts
        {
            if let Some(old) = &self.watched_prompts {
                watcher.unwatch(old);
            }
            if let Some(new) = &dir {
                drop(watcher.watch(new));
            }
            self.watched_prompts = dir;
        }
    }
}

/// Where reading the settings again stands: it is done once at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Rereading {
    /// Nothing is being read.
    #[default]
    No,
    /// They are being read.
    UnderWay,
    /// They are being read, and may have changed since that began.
    Again,
}

/// The settings, read once their file is still, and was so while it was read. None: they are to be read
/// later.
async fn read_when_still(
    executor: &Arc<Executor>,
    options: &Options,
) -> Option<Result<Option<Box<Executor>>>> {
    let path = &executor.place.settings_path;
    let debounce = executor.settings.run.debounce.max(LEAST_STILLNESS);
    let is_git_at_work = || executor.repository.is_index_locked();
    loop {
        let Some(stamp) = still(path, debounce, PATIENCE, is_git_at_work).await else {
            return Some(Err(Error::CheckoutChanges));
        };
        let (of, over) = (Arc::clone(executor), options.clone());
        let read = executor.threads.begin(move || renewed(&of, &over)).await;
        if Stamp::of(path) == stamp {
            return read.ok().flatten();
        }
    }
}

/// Whether the settings and templates as they are now can be read, and are in force.
fn is_in_force(executor: &Executor, options: &Options) -> bool {
    let read = executor.place.settings().map(|read| options.over(read));
    let is_same = read.is_ok_and(|settings| settings == executor.settings);
    is_same && executor.are_prompts_same().is_ok_and(|is_same| is_same)
}

/// The executor under the settings as they are now; none when these are in force.
fn renewed(executor: &Executor, options: &Options) -> Result<Option<Box<Executor>>> {
    if is_in_force(executor, options) {
        return Ok(None);
    }
    let (shown, from) = (executor.repository.branch_of_root()?, &executor.settings_branch);
    if shown != *from {
        let short = |branch: &Option<Branch>| branch.as_ref().map(|branch| branch.short().to_owned());
        return Err(Error::OtherBranch {
            shown: short(&shown),
            from: short(from),
        });
    }
    let (settings, old) = (options.over(executor.place.settings()?), &executor.settings);
    if settings.project.target != old.project.target || settings.workspace_dir != old.workspace_dir {
        return Err(Error::NeedsRestart);
    }
    Ok(Some(Box::new(executor.renewed(&settings, options)?)))
}

/// The differences of the new executor, in words.
fn what(new: &Executor, old: &Executor) -> &'static str {
    match (new.settings == old.settings, new.prompts.is_same(&old.prompts)) {
        (false, true) => "crew.toml was",
        (true, _) => "the prompt templates were",
        (false, false) => "crew.toml and the prompt templates were",
    }
}

/// Sends the loop an event for every write to the journal, until the loop ends.
pub(super) fn watch_journal(mut writes: store::Subscription, tell: mpsc::UnboundedSender<Event>) {
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = tell.closed() => return,
                written = writes.noticed() => {
                    if written.is_err() || tell.send(Event::JournalChanged).is_err() {
                        return;
                    }
                }
            }
        }
    });
}

/// Watches the repository's root for the settings, not the file: it is replaced, and comes and goes.
pub(super) fn watch_files(place: &Place, tell: mpsc::UnboundedSender<Event>) -> Option<Watcher> {
    let settings = place.settings_path.clone();
    // A link into a folder of a person's settings: the file behind it is edited there.
    let behind = settings.canonicalize().ok().filter(|file| *file != settings);
    let folder = behind.as_deref().and_then(Path::parent).map(Path::to_owned);
    let watcher = Watcher::new(move |notice| {
        // Which folder has the templates is a setting; elsewhere such a file comes seldom, and costs a look.
        let may_be_template = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
        let is_touched = match &notice {
            Notice::Of {
                kind: Kind::Closed, ..
            } => false,
            Notice::Of { path, .. } => {
                *path == settings || behind.as_ref() == Some(path) || may_be_template(path)
            }
            // A look finds the change.
            Notice::Lost => true,
        };
        if is_touched {
            drop(tell.send(Event::SettingsTouched));
        }
    });
    let watcher = watcher.and_then(|watcher| watcher.watch(&place.root).map(|()| watcher));
    match watcher {
        Ok(watcher) => {
            // Without it, a look finds the change later.
            if let Some(folder) = folder {
                drop(watcher.watch(&folder));
            }
            Some(watcher)
        }
        // All watchers share the limits: this one speaks for the others too.
        Err(error) => {
            tracing::warn!(
                "the system gives no notices of changed files ({}): crew looks at them every so often, and is slower; \
                 raise fs.inotify.max_user_instances and fs.inotify.max_user_watches by `sysctl`",
                text::os_message(&error)
            );
            None
        }
    }
}
