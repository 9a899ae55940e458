//! The check slot: the checkout in which checks run, and notes beside it on what has set it up and what runs
//! in it.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use git::{CheckCheckout, Made, Stay};
use model::settings::{self, Input};
use model::ticket::{CheckSlot, CheckTask};

use super::{Check, digest, write};
use crate::executor::{Executor, private_dir};
use crate::{Error, Place, Result};

/// The key of the set-up that the checkout has.
const SET_UP: &str = "set-up";
/// The key of the set-up that is under way.
const SETTING_UP: &str = "set-up.begun";
/// The commit for which the set-up was made.
const SET_UP_ON: &str = "set-up.commit";
/// What the set-up has made, as [`git::Made`] writes it.
const MADE: &str = "set-up.made";
/// The commands that run in the checkout, one after the other, and the commit that they run on.
const SEQUENCE: &str = "sequence";

/// Forgets that the checkout is set up: the next check runs the set-up anew, in an empty checkout. Gives
/// whether it was set up.
///
/// # Errors
/// The note cannot be removed.
pub fn forget_set_up(place: &Place) -> Result<bool> {
    let mut was_set_up = false;
    for slot in fs::read_dir(place.check_slots_dir()?)
        .into_iter()
        .flatten()
        .flatten()
    {
        let path = slot.path().join(SET_UP);
        match fs::remove_file(&path) {
            Ok(()) => was_set_up = true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(Error::Io {
                    doing: "remove",
                    path,
                    source,
                });
            }
        }
    }
    Ok(was_set_up)
}

/// The notes beside the checkout. Only the executor that starts checks writes them, one at a time.
struct Notes<'a>(&'a Path);

impl Notes<'_> {
    fn path(&self, note: &str) -> PathBuf {
        self.0.join(note)
    }

    fn says(&self, note: &str, text: &str) -> bool {
        fs::read(self.path(note)).is_ok_and(|is| is == text.as_bytes())
    }

    fn forget(&self) {
        for note in [SET_UP, SETTING_UP, SET_UP_ON, MADE, SEQUENCE] {
            drop(fs::remove_file(self.path(note)));
        }
    }

    /// What the set-up has made.
    fn made(&self) -> Made {
        Made::read(&fs::read(self.path(MADE)).unwrap_or_default())
    }
}

impl Executor {
    /// The checkout as a run needs it; none where the set-up, or the commands before this one, have to run
    /// anew. The first set-up command begins with nothing, and each other one goes on after the one before
    /// it. The first check begins with the files of the set-up and with the kept folders, and each other one
    /// goes on in the files of the one before it.
    pub(super) fn checkout_for(
        &self,
        check: &Check<'_>,
        commit: &git::Oid,
        tree: &git::Oid,
    ) -> Result<Option<CheckCheckout>> {
        let folder = self.slot_dir(check.slot)?;
        private_dir(&folder)?;
        let notes = Notes(&folder);
        let key = self.set_up_key(check, tree)?;
        let commands = check.plan.commands.iter().map(|each| each.command.to_string());
        let commands: Vec<String> = commands.collect();
        let sequence = format!("{commit}\n{}", commands.join("\n"));
        let is_done = match check.task {
            CheckTask::SetUp if check.set_up == 0 => {
                notes.forget();
                let checkout = self.repository.check_checkout(&folder, commit, Stay::Nothing)?;
                write(&notes.path(SET_UP_ON), commit.as_str())?;
                write(&notes.path(SETTING_UP), &key)?;
                return Ok(Some(checkout));
            }
            CheckTask::SetUp => notes.says(SETTING_UP, &key),
            CheckTask::Candidate | CheckTask::Commitment | CheckTask::Target
                if check.plan.setup.is_empty() =>
            {
                true
            }
            CheckTask::Candidate | CheckTask::Commitment | CheckTask::Target => {
                let has_ended = check.set_up as usize == check.plan.setup.len();
                if has_ended && notes.says(SETTING_UP, &key) {
                    self.finish_set_up(&notes)?;
                }
                notes.says(SET_UP, &key)
            }
        };
        if !is_done {
            return Ok(None);
        }
        let (made, keep) = (notes.made(), &self.settings.checks.keep);
        let begins = check.task != CheckTask::SetUp && check.passed == 0;
        if begins && let Some(changed) = made.first_changed(&folder, keep) {
            // It would stay for other work, whose verdict then depends on a check that is not its own.
            tracing::warn!(
                "a check has changed {}, which the set-up of the checks had made: the set-up runs anew; \
                 a folder that checks may change is named in [checks] keep",
                text::quoted(&changed.to_string_lossy())
            );
            notes.forget();
            return Ok(None);
        }
        let made = made.paths();
        let stay = match check.task {
            CheckTask::SetUp => Stay::Everything,
            CheckTask::Candidate | CheckTask::Commitment | CheckTask::Target if check.passed == 0 => {
                Stay::Named {
                    files: &made,
                    folders: keep,
                }
            }
            CheckTask::Candidate | CheckTask::Commitment | CheckTask::Target
                if notes.says(SEQUENCE, &sequence) =>
            {
                Stay::Everything
            }
            CheckTask::Candidate | CheckTask::Commitment | CheckTask::Target => return Ok(None),
        };
        drop(fs::remove_file(notes.path(SEQUENCE)));
        let checkout = self.repository.check_checkout(&folder, commit, stay)?;
        let goes_on = check.passed > 0 || !check.plan.setup.is_empty();
        if checkout.is_fresh() && goes_on {
            notes.forget();
            return Ok(None);
        }
        // No command goes on in the files of a commitment.
        if matches!(check.task, CheckTask::Candidate | CheckTask::Target) {
            write(&notes.path(SEQUENCE), sequence)?;
        }
        Ok(Some(checkout))
    }

    /// Forgets which commands run in the checkout: the next ones begin anew.
    pub(super) fn forget_sequence(&self, slot: CheckSlot) -> Result<()> {
        let folder = self.slot_dir(slot)?;
        drop(fs::remove_file(Notes(&folder).path(SEQUENCE)));
        Ok(())
    }

    /// The folder of a checkout and of the notes on it.
    fn slot_dir(&self, slot: CheckSlot) -> Result<PathBuf> {
        Ok(self.place.check_slots_dir()?.join(slot.0.to_string()))
    }

    /// Whether the commands of the checkout in which a run was made run in one whose set-up was made for
    /// another commit.
    pub(super) fn is_set_up_kept(&self, ran_in: &Path) -> bool {
        let Ok(slots) = self.place.check_slots_dir() else {
            return false;
        };
        let within = ran_in.strip_prefix(&slots).ok();
        let Some(slot) = within.and_then(|within| within.components().next()) else {
            return false;
        };
        let folder = slots.join(slot);
        let read = |note| fs::read_to_string(Notes(&folder).path(note)).ok();
        let (made_for, sequence) = (read(SET_UP_ON), read(SEQUENCE));
        let commit = sequence.as_ref().and_then(|sequence| sequence.lines().next());
        commit.is_some() && made_for.is_some() && commit != made_for.as_deref()
    }

    /// Notes what the set-up has made, and then that it has ended.
    fn finish_set_up(&self, notes: &Notes<'_>) -> Result<()> {
        let made = self.repository.made_by_set_up(notes.0)?;
        write(&notes.path(MADE), made.to_bytes())?;
        let begun = notes.path(SETTING_UP);
        fs::rename(&begun, notes.path(SET_UP)).map_err(|source| Error::Io {
            doing: "rename",
            path: begun,
            source,
        })
    }

    /// Names everything that the set-up of a tree depends on. Where the tree has no file that tells that, the
    /// whole tree counts.
    fn set_up_key(&self, check: &Check<'_>, tree: &git::Oid) -> Result<String> {
        if check.plan.setup.is_empty() {
            return Ok(String::new());
        }
        let settings = &self.settings.checks;
        let (mut parts, mut is_known) = (Vec::new(), false);
        for file in self.repository.tree_files(tree)? {
            let input = settings::input(&String::from_utf8_lossy(&file.path), settings);
            is_known |= input == Some(Input::Known);
            if input.is_some() || file.is_submodule() {
                parts.extend([file.path, file.content]);
            }
        }
        if !is_known {
            parts = vec![tree.to_string().into_bytes()];
        }
        parts.push(b"set-up commands".to_vec());
        parts.extend(
            check
                .plan
                .setup
                .iter()
                .map(|each| each.command.to_string().into_bytes()),
        );
        parts.push(b"environment".to_vec());
        for (name, value) in self.check_env.lasting() {
            parts.push([name.as_bytes(), b"=", value.as_bytes()].concat());
        }
        parts.push(self.toolchain.key()?);
        Ok(digest(&parts))
    }
}
