//! git, and the user's repository.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use git::{Branch, Git, Remote, Surroundings};
use model::settings::Settings;
use runtime::Place;
use runtime::log::Log;

use crate::Caller;
use crate::fix::Fix;
use crate::{Area, Finding};
use client::error::Error;

/// With less than this, a check or a workspace may fail for want of room.
const LITTLE: u64 = 1 << 30;

/// The repository that the command was called in, if crew can work on it.
pub(super) fn find(caller: &Caller<'_>, found: &mut Vec<Finding>) -> Option<Place> {
    let git = Git::find(Surroundings::of(|name| caller.var(name).map(Into::into)));
    match git {
        Ok(git) => found.push(Finding::fine(
            Area::Git,
            format!("git {}, {}", git.version(), git.program().display()),
        )),
        Err(error) => {
            found.push(Finding::error(Area::Git, &Error::Git(error)));
            return None;
        }
    }
    match caller.place() {
        Ok(place) => Some(place),
        Err(error) => {
            found.push(Finding::error(Area::Repository, &error));
            None
        }
    }
}

/// The repository as crew needs it.
pub(super) fn look(place: &Place, settings: Option<&Settings>, found: &mut Vec<Finding>) {
    const AREA: Area = Area::Repository;
    if let Some(settings) = settings {
        target(place, &settings.project.target, found);
        if let Some(name) = settings.land.pushes_to() {
            remote(place, name, &settings.project.target, found);
        }
        let empty = place.empty_submodules(&format!("refs/heads/{}", settings.project.target));
        if !empty.is_empty() {
            found.push(Finding::note(
                AREA,
                format!(
                    "submodules whose commit is not here: {}: agents and checks find their folders empty",
                    text::sanitise::output_line(&empty.join(", "))
                ),
                "git submodule update --init --recursive",
            ));
        }
    }
    if let Ok(agents) = Branch::parse("agent")
        && let Ok(Some(_)) = place.repository.branch_tip(&agents)
    {
        found.push(Finding::wrong(
            AREA,
            "there is a branch named `agent`: git can make no agent/… beside it, and crew works on those",
            "git branch -m agent another-name",
        ));
    }
    if place.settings_path.exists() && place.is_excluded().is_ok_and(|is| !is) {
        found.push(
            Finding::note(
                AREA,
                ".crew/ is not ignored: git offers crew's own files for a commit",
                "crew doctor --fix",
            )
            .mended_by(Fix::Exclude),
        );
    }
    private(&place.crew_dir, found);
    for folder in [&place.runs_dir, &place.checks_dir] {
        if folder.metadata().is_ok_and(|meta| !meta.is_dir()) {
            found.push(Finding::wrong(
                AREA,
                format!("{} is no folder: no engine can start", folder.display()),
                "move it away: crew makes the folder when it is needed",
            ));
        }
    }
    log(place, found);
    if let Some(why) = place.refuses_work(settings.unwrap_or(&Settings::default())) {
        found.push(Finding::wrong(
            AREA,
            why,
            "see that there is room, and that you may write there: nothing is lost meanwhile, and nothing moves either",
        ));
    } else if let Some(free) = free(&place.root).filter(|free| *free < LITTLE) {
        let mib = free >> 20;
        found.push(Finding::note(
            AREA,
            format!("{mib} MiB are free where {} stands", place.root.display()),
            "make room before it is full: then nothing new begins",
        ));
    }
    index_locks(place, found);
    unwritten(place, found);
}

/// Files that are older than their branch, because crew could not write them when it moved.
fn unwritten(place: &Place, found: &mut Vec<Finding>) {
    match place.behind() {
        Ok(behind) => {
            let finding = |one: &model::view::Behind| {
                let says = text::sanitise::text(&one.words());
                Finding::wrong(Area::Repository, says, one.remedies().join("; "))
            };
            found.extend(behind.iter().map(finding));
        }
        Err(error) => found.push(Finding::error(Area::Repository, &error.into())),
    }
}

/// The log that engines write for operators.
fn log(place: &Place, found: &mut Vec<Finding>) {
    const AREA: Area = Area::Repository;
    let log = Log::path(&place.crew_dir);
    let (shown, folder) = (log.display(), log.parent().unwrap_or(&log));
    match log.symlink_metadata() {
        Ok(meta) if meta.is_file() => found.push(Finding::fine(AREA, format!("engines log in {shown}"))),
        Ok(_) => found.push(Finding::note(
            AREA,
            format!("{shown} is no regular file: engines work without a log"),
            "move it away: the next line makes the file",
        )),
        Err(_) if folder.metadata().is_ok_and(|meta| !meta.is_dir()) => found.push(Finding::note(
            AREA,
            format!("{} is no folder: engines work without a log", folder.display()),
            "move it away: crew makes the folder when it is needed",
        )),
        Err(_) => {}
    }
}

/// Locks of checkouts' indexes: they keep the person's git out.
fn index_locks(place: &Place, found: &mut Vec<Finding>) {
    const AREA: Area = Area::Repository;
    let left = match place.left_index_locks() {
        Ok(left) => left,
        Err(error) => {
            found.push(Finding::error(AREA, &error.into()));
            Vec::new()
        }
    };
    for lock in &left {
        // Nothing else may restore the files: where the branch is moved and the files are not, a commit would
        // revert the work that landed. Nobody has to mend it, since the next engine does.
        found.push(Finding::note(
            AREA,
            format!(
                "{} is crew's: an engine was killed while it landed, and no commit can be made there till the next one",
                lock.display()
            ),
            "crew run ends the landing, and removes the lock",
        ));
    }
    let lock = place.repository.common_dir().join("index.lock");
    if lock.exists() && !left.contains(&lock) {
        found.push(
            Finding::note(
                AREA,
                "git's index is locked (index.lock): a git of yours runs, or one was killed",
                "if no git runs here, `crew doctor --fix` removes the lock if an engine left it; remove another's by hand",
            )
            .mended_by(Fix::ReleaseLock(lock)),
        );
    }
}

fn target(place: &Place, target: &str, found: &mut Vec<Finding>) {
    const AREA: Area = Area::Repository;
    let tip = Branch::parse(target).and_then(|branch| {
        let tip = place.repository.target(&branch)?;
        Ok((tip, place.repository.checkouts_of(&branch)?))
    });
    match tip {
        Err(error) => found.push(Finding::error(AREA, &Error::Git(error))),
        Ok((tip, checkouts)) => {
            found.push(Finding::fine(
                AREA,
                format!(
                    "{}; work lands on {target}, at {}",
                    place.root.display(),
                    tip.short()
                ),
            ));
            for checkout in checkouts {
                if let Some(operation) = checkout.operation {
                    found.push(Finding::note(
                        AREA,
                        format!(
                            "a {operation} is under way in {}: nothing lands until it ends",
                            checkout.root.display()
                        ),
                        format!("end it: git {operation} --continue, or --abort"),
                    ));
                }
            }
        }
    }
}

/// The remote that work lands on. It is asked once, with a deadline, and nobody is asked for a password.
fn remote(place: &Place, name: &str, target: &str, found: &mut Vec<Finding>) {
    const AREA: Area = Area::Repository;
    let repository = &place.repository;
    let asked = || -> git::Result<_> {
        let (remote, branch) = (name.parse::<Remote>()?, Branch::parse(target)?);
        repository.require_remote(&remote)?;
        Ok((
            repository.remote_tip(&remote, &branch)?,
            repository.branch_tip(&branch)?,
        ))
    };
    match asked() {
        Err(error) => found.push(Finding::error(AREA, &Error::Git(error))),
        Ok((None, _)) => found.push(Finding::wrong(
            AREA,
            format!("the remote {name} answers, and has no branch {target}: no work can land there"),
            format!("git push {name} {target}"),
        )),
        Ok((Some(there), here)) => {
            // A commit that is not here yet is newer, or of another history: the next fetch shows it.
            let is_ahead =
                |here: &git::Oid| *here != there && repository.is_ancestor(&there, here).unwrap_or_default();
            found.push(match here.filter(is_ahead) {
                Some(here) => Finding::wrong(
                    AREA,
                    format!(
                        "{target} has commits that the remote {name} does not have: it is at {} here, at {} there",
                        here.short(),
                        there.short()
                    ),
                    format!("push them, or take them off {target}: until then submitted work is held (`diverged`)"),
                ),
                None => Finding::fine(
                    AREA,
                    format!("the remote {name} answers, and has {target} at {}", there.short()),
                ),
            });
        }
    }
}

fn private(folder: &Path, found: &mut Vec<Finding>) {
    let Ok(meta) = folder.metadata() else { return };
    if meta.permissions().mode() & 0o077 != 0 {
        found.push(
            Finding::wrong(
                Area::Repository,
                format!(
                    "{} can be read by others, and prompts and outputs are in it",
                    folder.display()
                ),
                "crew doctor --fix, or chmod 700 .crew",
            )
            .mended_by(Fix::MakePrivate(folder.to_owned())),
        );
    }
}

fn free(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}
