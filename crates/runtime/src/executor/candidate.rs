//! The merged result of a branch and the target: what is checked is what lands.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use engine::Report;
use git::{Limits, Message, Outcome, Workspace};
use model::attempt::ChildResult;
use model::ticket::{Candidate, Coupling, Fingerprint, Ticket};
use model::{AgentName, Oid, TicketId};

use super::perform::{could_not, crew, git_oid, identity, model_oid};
use super::remote::Base;
use super::save::{git_time, only_left_out};
use crate::executor::Executor;
use crate::undeletable::shown;

/// A merge that is to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge<'a> {
    pub(super) agent: &'a AgentName,
    pub(super) number: u32,
    pub(super) round: u32,
    pub(super) approved: Option<&'a Oid>,
    /// The tip that was approved in review and came into conflict then.
    pub(super) before_conflict: Option<&'a Oid>,
    /// The target's commit with which its agent was asked to resolve a conflict.
    pub(super) conflicted_with: Option<&'a Oid>,
    /// The entry of the train on which the work is merged; none: on the target.
    pub(super) coupling: Option<&'a Coupling>,
}

/// The children whose work a merge has, each with its agent.
fn parts(ticket: &Ticket, absent: &BTreeSet<TicketId>) -> Vec<(String, String)> {
    let is_there = |child: &&ChildResult| {
        let is_nothing = child.work.as_ref().is_some_and(|work| work.is_nothing());
        !is_nothing && !absent.contains(&child.id)
    };
    let named = ticket.unified.iter().filter(is_there).map(|child| {
        let by = child.agent.as_ref().map(|agent| format!(" by {agent}"));
        (
            "Part".to_owned(),
            format!("{}{}", child.id, by.unwrap_or_default()),
        )
    });
    named.collect()
}

impl Executor {
    pub(super) fn build(&self, ticket: &Ticket, merge: &Merge<'_>) -> Report {
        let (agent, number) = (merge.agent, merge.number);
        let built = self.try_build(ticket, merge).and_then(|mut report| {
            if let Report::Built {
                candidate, absent, ..
            } = &mut report
            {
                **absent = self.absent_from(&git_oid(&candidate.tip)?, ticket)?;
            }
            Ok(report)
        });
        match built {
            Ok(report) => report,
            // Its agent did that, and can undo it.
            Err(error @ git::Error::Unrelated { .. }) => Report::ImportRefused {
                why: self.unrelated(ticket, agent, number, &error),
            },
            Err(error @ git::Error::TargetMissing { .. }) => {
                self.is_target_away.store(true, Ordering::Relaxed);
                could_not(error)
            }
            Err(error) => could_not(error),
        }
    }

    /// A branch that has none of the target's commits, with the commands that put its files on top of them.
    pub(super) fn unrelated(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
        error: &git::Error,
    ) -> String {
        let error = text::with_causes(error);
        let Ok(Some(workspace)) = self.workspace(ticket, agent, number) else {
            return error;
        };
        let Ok(base) = self.repository.made_from(&workspace) else {
            return error;
        };
        let place = shown(&workspace.path().to_string_lossy());
        let from = self.repository.common_dir();
        let from = from.to_string_lossy().replace('\'', "'\\''");
        format!(
            "{error}: this branch does not contain {base}, from which the work began. These commands put the files of this \
             checkout on top of it:\n\
             git fetch '{from}' {base}\n\
             git reset --soft {base}\n\
             git commit -m 'Say here what this does'\n\
             The work is in {place}."
        )
    }

    fn try_build(&self, ticket: &Ticket, merge: &Merge<'_>) -> git::Result<Report> {
        let Merge {
            agent,
            number,
            round,
            approved,
            before_conflict,
            conflicted_with,
            coupling,
        } = *merge;
        let repository = &self.repository;
        let Some(workspace) = self.workspace(ticket, agent, number)? else {
            return Ok(Report::NoCommits);
        };
        let (tip, lost_head, left_behind) = if workspace.exists() {
            let saved = match self.save_whole(&ticket.id, &workspace)? {
                Ok(saved) => saved,
                Err(why) => return Ok(Report::ImportRefused { why }),
            };
            (saved.imported.tip, saved.lost_head, saved.left_behind)
        } else {
            // Verified but the workspace is gone: land from the branch.
            match repository.branch_tip(&workspace.branch())? {
                Some(tip) => (tip, None, Vec::new()),
                None => return Ok(Report::NoCommits),
            }
        };
        let target = match coupling {
            Some(coupling) => git_oid(&coupling.on)?,
            None => match self.base()? {
                Base::At(target) => target,
                Base::Parted(why) => return Ok(Report::Diverged { why }),
            },
        };
        let leftovers = self.leftovers(ticket, &target, &tip, &left_behind)?;
        if let Some(candidate) = self.sent_before(ticket, &target, &tip)? {
            // The changes are not known here, so every check runs.
            return Ok(Report::Built {
                candidate,
                untouched: Vec::new(),
                leftovers,
                resolves: None,
                ahead: Box::default(),
                absent: Box::default(),
            });
        }
        if repository.brings_back(workspace.base(), &target, &tip)? {
            return Ok(Report::ImportRefused {
                why: self.taken_back(
                    &workspace,
                    workspace.base(),
                    "from which this work began",
                    &target,
                ),
            });
        }
        // An agent that was in conflict has merged it, and somebody has taken it off the target since.
        let base = Some(workspace.base());
        if let Some(commit) = repository.taken_off(&self.target, workspace.ticket(), base, &tip)? {
            return Ok(Report::ImportRefused {
                why: self.taken_back(&workspace, &commit, "which this branch has merged", &target),
            });
        }
        let taken_back = repository.takes_back(workspace.base(), &target, &tip)?;
        if !taken_back.is_empty() {
            return Ok(Report::ImportRefused {
                why: self.refused((&ticket.id, &workspace), &taken_back),
            });
        }
        // A merge in the middle of the train is not claimed to be checked by itself.
        let place = coupling.map(|it| ("Train".to_owned(), format!("{}/{}", it.place, it.batch)));
        let message = Message {
            subject: format!(
                "Merge {}: {}",
                ticket.id,
                text::checked(&text::sanitise::line(&ticket.spec.title))
            ),
            body: super::description::summary(ticket)
                .into_iter()
                .chain(
                    leftovers
                        .committed_words()
                        .map(|words| format!("{}.", text::quiet(&words))),
                )
                .collect::<Vec<_>>()
                .join("\n\n"),
            trailers: [
                ("Ticket".to_owned(), ticket.id.to_string()),
                ("Agent".to_owned(), agent.to_string()),
                ("Attempt".to_owned(), number.to_string()),
            ]
            .into_iter()
            .chain(parts(ticket, &self.absent_from(&tip, ticket)?))
            .chain(place)
            .chain(model_oid(&tip).ok().and_then(|tip| commitments(ticket, &tip)))
            .chain(
                self.settings
                    .land
                    .trailers
                    .iter()
                    .map(|it| (it.key.clone(), it.value.clone())),
            )
            .collect(),
        };
        let author = match &self.settings.land.author {
            Some(author) => git::Identity::new(&author.name, &author.email),
            None => identity(agent),
        };
        match repository.candidate(&target, &tip, &message, &author, &crew(), git_time())? {
            // "Nothing was committed" would be untrue, and the agent would not know what to mend.
            // Only the target shows whether the agent has anything left to do.
            Outcome::NoCommits if coupling.is_some() => Ok(Report::ConflictsAhead { paths: Vec::new() }),
            // People have merged its pull request: to land it, the host is asked.
            Outcome::NoCommits if self.was_proposed_as(ticket, &tip)? => Ok(self.as_merged(&target, &tip)),
            Outcome::NoCommits => Ok(match lost_head.or_else(|| only_left_out(&leftovers)) {
                Some(why) => Report::ImportRefused { why },
                None => Report::NoCommits,
            }),
            Outcome::Conflict { paths, mixed, .. } => {
                let named = |path: &PathBuf| match mixed.contains(path) {
                    true => format!("{} (a file on one side, a folder on the other)", path.display()),
                    false => path.display().to_string(),
                };
                if coupling.is_some() {
                    return Ok(Report::ConflictsAhead {
                        paths: paths.iter().map(named).collect(),
                    });
                }
                repository.note_named(workspace.ticket(), &target)?;
                // A commit that is gone from the repository is in no branch.
                let resolved = conflicted_with
                    .map(git_oid)
                    .transpose()?
                    .is_some_and(|commit| repository.is_ancestor(&commit, &tip).unwrap_or(false));
                Ok(match (model_oid(&tip), model_oid(&target)) {
                    (Ok(tip), Ok(target)) => Report::Conflicted {
                        paths: paths.iter().map(named).collect(),
                        tip,
                        target,
                        resolved,
                    },
                    (Err(why), _) | (_, Err(why)) => Report::CouldNotRun { why },
                })
            }
            Outcome::Candidate(built) => {
                if let Some(why) = self.unresolved(ticket, &tip, &built.changes) {
                    return Ok(Report::ImportRefused { why });
                }
                let ahead = repository.brings(workspace.base(), &target, &tip)?;
                let oid = |oid: &git::Oid| model_oid(oid);
                let (tip, target) = match (oid(&tip), oid(&target)) {
                    (Ok(tip), Ok(target)) => (tip, target),
                    (Err(why), _) | (_, Err(why)) => return Ok(Report::CouldNotRun { why }),
                };
                if approved != Some(&tip) {
                    let paths = self.sensitive(&built.changes);
                    let secrets = self.secrets(&built.changes, &ahead)?;
                    if !(paths.is_empty() && secrets.is_empty()) {
                        return Ok(Report::Sensitive { paths, secrets, tip });
                    }
                }
                let untouched = self.untouched(&built.changes);
                let review = self.review_of_change(&git_oid(&target)?, &built)?;
                let resolves = match before_conflict {
                    Some(before) => self.resolves(before, &git_oid(&tip)?, &git_oid(&target)?)?,
                    None => None,
                };
                let ahead = ahead.iter().filter_map(|commit| model_oid(commit).ok()).collect();
                self.pin(ticket, round, &built.commit)?;
                match (oid(&built.commit), oid(&built.tree.0)) {
                    (Ok(commit), Ok(tree)) => Ok(Report::Built {
                        candidate: Candidate {
                            commit,
                            tree,
                            target,
                            tip,
                            passed: Vec::new(),
                            review,
                            brings_nothing: built.changes.is_empty(),
                        },
                        untouched,
                        leftovers,
                        resolves: resolves.map(Vec::into_boxed_slice),
                        ahead,
                        absent: Box::default(),
                    }),
                    (Err(why), _) | (_, Err(why)) => Ok(Report::CouldNotRun { why }),
                }
            }
        }
    }

    /// The names of the checks of whose paths these changes touch none.
    fn untouched(&self, changes: &[git::Change]) -> Vec<String> {
        let paths: Vec<_> = changes
            .iter()
            .map(|change| change.path.to_string_lossy())
            .collect();
        let checks = self.settings.check.iter();
        checks
            .filter(|check| !check.is_touched(paths.iter().map(AsRef::as_ref)))
            .map(|check| check.name.clone())
            .collect()
    }

    /// The reason for which a gatekeeper looks at this change, whatever its ticket says.
    fn review_of_change(&self, target: &git::Oid, built: &git::Candidate) -> git::Result<Option<String>> {
        let review = &self.settings.review;
        let paths: Vec<_> = built
            .changes
            .iter()
            .map(|change| change.path.to_string_lossy())
            .collect();
        if let Some(path) = review.asks_about(paths.iter().map(AsRef::as_ref)) {
            return Ok(Some(format!("it changes {}", text::sanitise::line(path))));
        }
        let Some(limit) = review.lines() else {
            return Ok(None);
        };
        let lines = self.repository.lines_changed(target, &built.commit)?;
        Ok((lines >= u64::from(limit)).then(|| format!("it adds and removes {lines} lines")))
    }

    /// The paths in which the branch resolves conflicts, where that is all that it adds to a tip that was
    /// approved before.
    fn resolves(&self, before: &Oid, tip: &git::Oid, target: &git::Oid) -> git::Result<Option<Vec<String>>> {
        let paths = self.repository.only_resolves(&git_oid(before)?, tip, target)?;
        let shown = |path: &PathBuf| text::sanitise::line(&path.to_string_lossy());
        Ok(paths.map(|paths| paths.iter().map(shown).collect()))
    }

    /// Conflict markers in the work, which many checks do not look for. The agent is told once: they may be
    /// meant.
    fn unresolved(&self, ticket: &Ticket, tip: &git::Oid, changes: &[git::Change]) -> Option<String> {
        // What was taken over once is not asked about again.
        if model_oid(tip).is_ok_and(|tip| ticket.submitted.contains(&tip)) {
            return None;
        }
        let paths = self.repository.conflict_markers(changes);
        let first = paths.first()?;
        let more = paths.len() - 1;
        let more = if more > 0 {
            format!(", as have {more} more")
        } else {
            String::new()
        };
        let why = format!(
            "{} has conflict markers in it{more}: resolve the conflict; if they are meant to be there, say DONE again",
            shown(&first.to_string_lossy())
        );
        let before = ticket.repeat.as_ref().map(|repeat| &repeat.of);
        let is_told = before.is_some_and(|before| before.is_same(&Fingerprint::Refused { why: why.clone() }));
        (!is_told).then_some(why)
    }

    /// Somebody rewrote the target meanwhile: what they took off it must not come back with this work.
    fn taken_back(&self, workspace: &Workspace, commit: &git::Oid, how: &str, target: &git::Oid) -> String {
        format!(
            "commit {commit}, {how}, was taken off {}. Take it out of the branch as well: git rebase --onto {target} {commit}\n\
             The work is in {}.",
            self.target.short(),
            shown(&workspace.path().to_string_lossy())
        )
    }

    /// The most that work may bring in, and the paths that no agent may touch: crew's own folder, and the
    /// workspaces where they stand inside the repository.
    pub(super) fn limits(&self) -> Limits {
        let mut protected = vec![".crew".to_owned()];
        protected.extend(self.settings.workspace_dir.clone());
        let stand = self.workspaces.strip_prefix(&self.place.root).ok();
        protected.extend(stand.and_then(Path::to_str).map(str::to_owned));
        Limits {
            protected,
            file_bytes: u64::from(self.settings.land.max_file_mib) << 20,
            target: Some(self.target.clone()),
            ..Limits::default()
        }
    }
}

/// The trailer that counts the commitments which the work at this tip meets. It lands once it meets all of
/// them, or once a person has waived the others.
fn commitments(ticket: &Ticket, tip: &Oid) -> Option<(String, String)> {
    let (met, due, all) = ticket.commitments_met(tip)?;
    let met = if ticket.is_waived_at(tip) { met } else { due };
    Some(("Commitments".to_owned(), format!("{met}/{all}")))
}
