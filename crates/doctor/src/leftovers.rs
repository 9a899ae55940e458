//! The leftovers that nothing uses any more: processes, workspaces, branches, files.

use std::path::Path;

use model::RunId;
use process::{Run, Status};

use crate::fix::Fix;
use crate::{Area, Finding, Subject};
use client::disk_use::{self, bytes_below};
use client::workspaces::is_crews;

const AREA: Area = Area::Leftovers;
/// The size from which on outputs of ended steps are reported, in bytes.
const MUCH: u64 = 1 << 30;

pub(super) fn look(subject: &Subject, found: &mut Vec<Finding>) {
    let before = found.len();
    original(subject, found);
    steps(subject, found);
    checks(subject, found);
    workspaces(subject, found);
    reviews(subject, found);
    branches(subject, found);
    if found.len() == before {
        found.push(Finding::fine(AREA, "none"));
    }
    outputs(subject, found);
    kept(subject, found);
}

/// The repository of which this one is a copy.
fn original(subject: &Subject, found: &mut Vec<Finding>) {
    if let Ok(Some(original)) = subject.place.copy_of() {
        found.push(Finding::note(
            AREA,
            format!(
                "this repository is a copy of {}: the running steps and the workspaces belong to that one",
                original.display()
            ),
            "crew leaves them alone; crew run begins anew here what was under way",
        ));
    }
}

/// Steps that nobody waits for, and processes of dead ones that still live.
fn steps(subject: &Subject, found: &mut Vec<Finding>) {
    let mut adopted = 0;
    for dir in runtime::folders(&subject.place.runs_dir).unwrap_or_default() {
        let Ok(run) = Run::open(&dir) else { continue };
        let name = name_of(&dir);
        match run.status() {
            Ok(Status::Running { .. })
                if RunId::new(&name).is_ok_and(|id| subject.waits_for(&id).is_some()) =>
            {
                adopted += 1;
            }
            Ok(Status::Running { .. })
                if subject.holder.is_none() && RunId::new(&name).is_ok_and(|id| id.is_set_up()) =>
            {
                found.push(Finding::note(
                    AREA,
                    format!("set-up {name} runs on without an engine"),
                    "crew run ends it, and sets up the workspace anew",
                ));
            }
            // An engine that works may have started it since the journal was read.
            Ok(Status::Running { .. }) if subject.holder.is_none() => found.push(
                Finding::wrong(
                    AREA,
                    format!("step {name} runs, and no attempt waits for it"),
                    "crew doctor --fix ends it",
                )
                .mended_by(Fix::EndRun(dir)),
            ),
            _ => found.extend(remains(subject, &run, &format!("step {name}"))),
        }
    }
    if adopted > 0 && subject.holder.is_none() {
        found.push(Finding::note(
            AREA,
            format!(
                "{adopted} {} without an engine",
                if adopted == 1 {
                    "step runs on"
                } else {
                    "steps run on"
                }
            ),
            "crew run adopts them; `crew stop --kill` ends them",
        ));
    }
}

/// Checks that dead engines and shims left. The next engine adopts a check that still runs, or ends it before
/// the next check.
fn checks(subject: &Subject, found: &mut Vec<Finding>) {
    for dir in runtime::check_runs(&subject.place).unwrap_or_default() {
        let Ok(run) = Run::open(&dir) else { continue };
        let name = name_of(&dir);
        match run.status() {
            Ok(Status::Running { .. }) if subject.holder.is_none() => found.push(Finding::note(
                AREA,
                format!("check {name} runs on without an engine"),
                "crew run takes it up",
            )),
            _ => found.extend(remains(subject, &run, &format!("check {name}"))),
        }
    }
}

/// The leftovers of a run that is over: of a lost one processes, of an ended one its environment.
fn remains(subject: &Subject, run: &Run, what: &str) -> Option<Finding> {
    let end = || Fix::EndRun(run.dir().to_owned());
    match run.status() {
        Ok(Status::Lost { .. }) if subject.holder.is_none() => {
            let alive = run.find_marked().ok()?;
            let pids: Vec<String> = alive.iter().map(u32::to_string).collect();
            (!pids.is_empty()).then(|| {
                Finding::note(
                    AREA,
                    format!("{what} is lost, and processes of it live: {}", pids.join(", ")),
                    "crew run ends them; so does crew doctor --fix",
                )
                .mended_by(end())
            })
        }
        // A file of its environment may hold a secret: it goes when the program has begun.
        Ok(Status::Ended(_)) if run.dir().join("env.json").exists() => Some(
            Finding::wrong(
                AREA,
                format!("{what} has ended, and its environment, secrets too, is still on the disk"),
                "crew doctor --fix removes it",
            )
            .mended_by(end()),
        ),
        Err(process::Error::Damaged { path, .. }) if subject.holder.is_none() => Some(
            Finding::wrong(
                AREA,
                format!("{what}: {} cannot be read", path.display()),
                "crew doctor --fix ends the rest of it, and records that it is lost",
            )
            .mended_by(end()),
        ),
        Ok(Status::Running { .. } | Status::Lost { .. } | Status::NotStarted | Status::Ended(_)) | Err(_) => {
            None
        }
    }
}

fn name_of(dir: &Path) -> String {
    dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Workspaces that no attempt uses.
fn workspaces(subject: &Subject, found: &mut Vec<Finding>) {
    let Some(settings) = &subject.settings else { return };
    let root = match subject.place.workspaces_dir(settings) {
        Ok(root) => root,
        Err(error) => {
            found.push(Finding::error(AREA, &error.into()));
            return;
        }
    };
    if let Ok(belong) = subject.place.workspaces_belong(settings)
        && !runtime::is_one_folder(&belong, &root)
    {
        found.push(Finding::note(
            AREA,
            format!("workspaces stand in {}, not in {}", root.display(), belong.display()),
            "they go on there until none is left: workspace_dir, HOME, XDG_STATE_HOME or the repository's place was another",
        ));
    }
    for left in git::Repository::undeletable(&root) {
        let (says, hint) = runtime::undeletable::said(&left);
        found.push(Finding::wrong(AREA, says, hint));
    }
    let known = subject.by_name();
    for dir in runtime::folders(&root).unwrap_or_default() {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match known.get(&name) {
            Some((_, ticket)) if subject.is_changing(ticket) => {}
            Some((agent, ticket)) if subject.at_work(agent, ticket).is_some() => {}
            Some((agent, ticket)) if is_crews(&root, (agent, ticket)).unwrap_or(false) => found.push(
                Finding::wrong(
                    AREA,
                    format!("{}: a workspace that no attempt uses", dir.display()),
                    "crew doctor --fix keeps its work under refs/crew/ and removes it",
                )
                .mended_by(Fix::RemoveWorkspace {
                    root: root.clone(),
                    agent: agent.clone(),
                    ticket: ticket.clone(),
                }),
            ),
            None if name.contains('~') => found.push(Finding::note(
                AREA,
                format!("{}: kept, since git cannot save something in it", dir.display()),
                "take out what you need and remove the folder",
            )),
            Some(_) | None => found.push(Finding::note(
                AREA,
                format!("{}: a folder that is not crew's", dir.display()),
                "look at it; crew leaves it alone",
            )),
        }
    }
}

/// Checkouts of reviews that are over. While an engine works, it removes them itself.
fn reviews(subject: &Subject, found: &mut Vec<Finding>) {
    let Ok(root) = subject.place.reviews_dir() else {
        return;
    };
    if subject.holder.is_some() {
        return;
    }
    let tickets = subject.crew.tickets.values();
    let open = tickets.flat_map(|ticket| ticket.open_reviews().map(|review| (&review.agent, &ticket.id)));
    let used: Vec<_> = open
        .filter_map(|(agent, ticket)| subject.place.review_dir(agent, ticket).ok())
        .collect();
    for dir in runtime::folders(&root).unwrap_or_default() {
        if !used.contains(&dir) {
            found.push(
                Finding::wrong(
                    AREA,
                    format!("{}: the checkout of a review that is over", dir.display()),
                    "crew doctor --fix removes it: nothing in it is kept anywhere, or is to be",
                )
                .mended_by(Fix::RemoveReview(dir)),
            );
        }
    }
}

/// Branches of agents that no attempt uses.
fn branches(subject: &Subject, found: &mut Vec<Finding>) {
    let Some(settings) = &subject.settings else { return };
    let Ok(branches) = subject.place.repository.agent_branches() else {
        return;
    };
    let known = subject.by_name();
    for (branch, tip) in branches {
        let Some(name) = branch.short().strip_prefix("agent/") else {
            continue;
        };
        // A branch that crew did not make is its maker's.
        let Some((agent, ticket)) = known.get(name) else {
            continue;
        };
        if subject.at_work(agent, ticket).is_none() && !subject.is_changing(ticket) {
            let checkouts = subject.place.repository.checkouts_of(&branch);
            if let Some(checkout) = checkouts.unwrap_or_default().first() {
                found.push(Finding::note(
                    AREA,
                    format!(
                        "branch {}: no attempt uses it, and {} has it checked out",
                        branch.short(),
                        checkout.root.display()
                    ),
                    "crew leaves it alone as long as it is checked out",
                ));
                continue;
            }
            found.push(
                Finding::wrong(
                    AREA,
                    format!("branch {}: no attempt uses it", branch.short()),
                    "crew doctor --fix keeps its work under refs/crew/ and deletes it",
                )
                .mended_by(Fix::RemoveBranch {
                    branch: branch.short().to_owned(),
                    tip: tip.to_string(),
                    ticket: ticket.clone(),
                    target: settings.project.target.clone(),
                }),
            );
        }
    }
}

/// Room that the outputs of ended steps take.
fn outputs(subject: &Subject, found: &mut Vec<Finding>) {
    let bytes = bytes_below(&subject.place.runs_dir) + bytes_below(&subject.place.check_runs_dir());
    if bytes >= MUCH {
        found.push(Finding::note(
            AREA,
            format!("the outputs of steps and checks take {}", disk_use::in_words(bytes)),
            "`crew clean --older 30d` removes those of tickets that have been closed for so long: only `crew logs` reads them",
        ));
    }
}

/// Work that is kept though no branch has it.
fn kept(subject: &Subject, found: &mut Vec<Finding>) {
    let kept = subject.place.repository.kept(None).unwrap_or_default();
    let strange: Vec<&str> = kept
        .iter()
        .filter(|kept| !subject.knows(&kept.ticket))
        .map(|kept| kept.name.as_str())
        .collect();
    if let Some(first) = strange.first() {
        let n = strange.len();
        let more = if n > 1 {
            format!(" and {} more", n - 1)
        } else {
            String::new()
        };
        found.push(Finding::note(
            AREA,
            format!("{first}{more}: work kept for tickets that this journal does not know"),
            format!("git log {first} shows it; git update-ref -d {first} forgets it"),
        ));
    }
}
