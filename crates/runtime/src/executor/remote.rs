//! Landing at a remote: with `[land] mode = "push"` the remote's branch is the target, and the local one
//! follows it.
//!
//! Whether a candidate has landed, only the remote knows. A candidate that may have been sent is noted in a
//! ref before, and is not given up until the remote has been asked.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use engine::{AtRemote, Report};
use git::{Intent, Landing, Remote, Standing, Trouble};
use model::ticket::{Batch, Candidate, Ticket};
use model::{Oid, TicketId};

use super::perform::{could_not, git_oid, model_oid};
use crate::executor::Executor;
use crate::undeletable::shown;

/// The commit on which a candidate is built, or the reason why it cannot be built now.
pub(super) enum Base {
    /// The commit.
    At(git::Oid),
    /// Nothing can be built: the local target and the remote's have parted, in words.
    Parted(String),
}

impl Executor {
    /// The remote of the settings; none where work lands in this repository alone.
    pub(crate) fn remote(&self) -> git::Result<Option<Remote>> {
        let name = self.settings.land.pushes_to();
        name.map(|name| name.parse::<Remote>().map_err(git::Error::from))
            .transpose()
    }

    /// The commit on which a candidate is built: the tip of the target, as the remote has it where there is
    /// one. The local branch follows the remote's, unless something of the user's is in the way.
    pub(super) fn base(&self) -> git::Result<Base> {
        let local = self.repository.target(&self.target)?;
        let Some(remote) = self.remote()? else {
            return Ok(Base::At(local));
        };
        let tip = self.repository.fetch_target(&remote, &self.target)?;
        if !self.repository.is_ancestor(&local, &tip)? {
            let why = self.diverged(&remote, &local, &tip)?;
            return Ok(Base::Parted(why));
        }
        self.follow(&local, &tip)?;
        Ok(Base::At(tip))
    }

    /// Asks the remote for the target, has the local branch follow it, and gives what keeps work from landing
    /// there. Blocks for as long as the remote takes.
    pub(crate) fn ask_remote(&self) -> AtRemote {
        let at_remote = match self.base() {
            Ok(Base::At(_)) => AtRemote::Free,
            Ok(Base::Parted(why)) => out_of_reach(&why, None, false),
            Err(error) => self.unreached(&error),
        };
        if at_remote != AtRemote::Unasked {
            let is_out_of_reach = matches!(at_remote, AtRemote::OutOfReach { .. });
            self.is_out_of_reach.store(is_out_of_reach, Ordering::Relaxed);
        }
        at_remote
    }

    /// As [`Executor::ask_remote`], where the remote may say something new; else its last word holds.
    pub(crate) fn ask_remote_if_moved(&self) -> AtRemote {
        let may_be_news = match self.remote() {
            Ok(Some(remote)) => {
                self.is_out_of_reach.load(Ordering::Relaxed)
                    || self
                        .repository
                        .has_moved_since_fetch(&remote, &self.target)
                        .unwrap_or(false)
            }
            Ok(None) => return AtRemote::Free,
            Err(_) => false,
        };
        match may_be_news {
            true => self.ask_remote(),
            false => AtRemote::Unasked,
        }
    }

    /// What a remote that gave no tip of the target means for work that is to land: one that is away is
    /// waited for, once it is known to have the target.
    fn unreached(&self, error: &git::Error) -> AtRemote {
        let git::Error::Remote { trouble, .. } = error else {
            tracing::warn!(
                "the remote was not asked for the target: {}",
                shown(&text::with_causes(error))
            );
            return AtRemote::Unasked;
        };
        let is_known = || {
            let known = self.remote().and_then(|remote| match remote {
                Some(remote) => self.repository.known_at_remote(&remote, &self.target),
                None => Ok(None),
            });
            matches!(known, Ok(Some(_)))
        };
        let may_pass = *trouble == Trouble::Away;
        let help = error.hint().map(str::to_owned).filter(|_| !may_pass);
        match trouble {
            Trouble::Away | Trouble::Other if is_known() => AtRemote::Unasked,
            Trouble::Unnamed
            | Trouble::Addresses
            | Trouble::Away
            | Trouble::Gone
            | Trouble::Credentials
            | Trouble::NoBranch
            | Trouble::Other => out_of_reach(&text::with_causes(error), help, may_pass),
            // Of a push.
            Trouble::Refused | Trouble::Foreign | Trouble::NoLfs | Trouble::Lfs => AtRemote::Unasked,
        }
    }

    /// Moves the local branch on to a commit that the remote has. Nothing waits for that: a checkout with
    /// edits in the way follows later.
    fn follow(&self, local: &git::Oid, tip: &git::Oid) -> git::Result<()> {
        let _one_at_a_time = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        let intent = Intent {
            target: self.target.clone(),
            old: local.clone(),
            new: tip.clone(),
        };
        match self.repository.follow_remote(&intent)? {
            Landing::Landed { left } => self.warn_of_left(&left),
            Landing::InTheWay(blocked) => {
                let paths: Vec<String> = blocked.iter().map(|one| shown(&one.to_string())).collect();
                tracing::warn!(
                    "{} stays behind the remote's until there is way for it: {}",
                    self.target.short(),
                    paths.join(", ")
                );
            }
            // Somebody has moved it, and so follows it themselves.
            Landing::TargetMoved { .. } => {}
        }
        Ok(())
    }

    /// The candidate that an earlier try of this ticket has sent and that the remote took after crew had
    /// stopped waiting: it has landed, and is not built again.
    pub(super) fn sent_before(
        &self,
        ticket: &Ticket,
        base: &git::Oid,
        tip: &git::Oid,
    ) -> git::Result<Option<Candidate>> {
        let repository = &self.repository;
        if self.remote()?.is_none() {
            return Ok(None);
        }
        let Some(sent) = repository.pushing(&git::Id::parse(ticket.id.as_str())?)? else {
            return Ok(None);
        };
        if !repository.is_ancestor(&sent, base)? || repository.resolve(&format!("{sent}^2"))? != *tip {
            return Ok(None);
        }
        let (target, tree) = (
            repository.resolve(&format!("{sent}^1"))?,
            repository.tree_of(&sent)?,
        );
        let oid = |oid: &git::Oid| model_oid(oid).ok();
        let (commit, tree) = (oid(&sent), oid(&tree.0));
        Ok(match (commit, tree, oid(&target), oid(tip)) {
            (Some(commit), Some(tree), Some(target), Some(tip)) => Some(Candidate {
                commit,
                tree,
                target,
                tip,
                passed: Vec::new(),
                review: None,
                brings_nothing: false,
            }),
            _ => None,
        })
    }

    /// Lands a candidate at the remote, then here; with it the entries of its batch, which it contains.
    pub(super) fn land_at_remote(
        &self,
        ticket: &Ticket,
        candidate: &Candidate,
        batch: Option<&Batch>,
        remote: &Remote,
    ) -> Report {
        match self.try_land_at_remote(ticket, candidate, batch, remote) {
            Ok(report) => report,
            Err(git::Error::CandidateGone { .. }) if self.is_gone(candidate) => Report::TargetMoved,
            Err(error) => self.unless_sent(ticket, candidate, error),
        }
    }

    fn try_land_at_remote(
        &self,
        ticket: &Ticket,
        candidate: &Candidate,
        batch: Option<&Batch>,
        remote: &Remote,
    ) -> git::Result<Report> {
        let repository = &self.repository;
        let intent = self.intent(candidate)?;
        let mut standing = repository.look_at_remote(remote, &intent)?;
        if let Standing::Free = standing {
            repository.require_candidate(&intent.new)?;
            let local = repository.target(&self.target)?;
            if !repository.is_ancestor(&local, &intent.new)? {
                let why = self.diverged(remote, &local, &intent.old)?;
                return Ok(Report::Diverged { why });
            }
            // The remote's branch cannot be taken back, so the user's files are looked at before.
            let here = Intent {
                old: local,
                ..intent.clone()
            };
            let blocked = repository.obstacles(&here)?;
            if !blocked.is_empty() {
                return Ok(Report::CheckoutEdited {
                    paths: blocked.iter().map(|one| self.in_the_way(one)).collect(),
                });
            }
            repository.send_lfs_objects(remote, &intent.old, &intent.new)?;
            failpoint::hit("push.checked");
            // Each entry is found again by its own note. The tip is the last one: its note says that more
            // may have been done than to write notes.
            for (entry, commit) in sent(ticket, candidate, batch) {
                repository.note_pushing(&git::Id::parse(entry.as_str())?, &git_oid(commit)?)?;
            }
            failpoint::hit("push.noted");
            standing = repository.push(remote, &intent)?;
        }
        match standing {
            Standing::Landed => {
                failpoint::hit("push.landed");
                self.land_here(&intent);
                self.forget_sent(ticket, candidate, batch);
                Ok(Report::Landed {
                    commit: candidate.commit.clone(),
                })
            }
            Standing::Moved => {
                self.forget_sent(ticket, candidate, batch);
                Ok(Report::TargetMoved)
            }
            Standing::Refused(error) => {
                // Only the remote's word is the end of a push. Of any other failure the note stays: the
                // remote may be at work on what it has got, and move its branch later.
                if let git::Error::Remote {
                    trouble: Trouble::Refused,
                    ..
                } = &error
                {
                    self.forget_sent(ticket, candidate, batch);
                }
                Ok(could_not(error))
            }
            Standing::Free => Ok(Report::Hindered {
                why: format!("the remote {remote} has not taken the push"),
            }),
        }
    }

    /// The local branch follows the remote's, which holds the candidate. Whatever is in its way, the ticket
    /// has landed: the branch follows when the next ticket is built.
    fn land_here(&self, intent: &Intent) {
        let followed = self.repository.target(&self.target).and_then(|local| {
            match self.repository.is_ancestor(&local, &intent.new)? {
                true => self.follow(&local, &intent.new),
                false => Ok(()),
            }
        });
        if let Err(error) = followed {
            tracing::warn!(
                "{} stays behind the remote's for now: {}",
                self.target.short(),
                shown(&text::with_causes(&error))
            );
        }
    }

    /// Ends a landing at the remote that nobody wants any more, if it may have begun there; none where the
    /// remote was never sent the candidate.
    pub(super) fn end_landing_at_remote(
        &self,
        ticket: &Ticket,
        candidate: &Candidate,
        batch: Option<&Batch>,
    ) -> Option<Report> {
        let remote = match self.remote() {
            Ok(remote) => remote?,
            Err(error) => return Some(could_not(error)),
        };
        if !self.may_be_sent(ticket, candidate) {
            return None;
        }
        let looked = self
            .intent(candidate)
            .and_then(|intent| Ok((self.repository.look_at_remote(&remote, &intent)?, intent)));
        Some(match looked {
            Ok((Standing::Landed, intent)) => {
                self.land_here(&intent);
                self.forget_sent(ticket, candidate, batch);
                Report::Landed {
                    commit: candidate.commit.clone(),
                }
            }
            Ok((Standing::Free | Standing::Moved | Standing::Refused(_), _)) => Report::NotLanded,
            Err(error) => self.unless_sent(ticket, candidate, error),
        })
    }

    /// The report of an error: where the remote may hold the candidate, nothing is decided.
    fn unless_sent(&self, ticket: &Ticket, candidate: &Candidate, error: git::Error) -> Report {
        let report = could_not(error);
        if let Report::RemoteAway { why } | Report::RemoteRefused { why } = &report
            && self.may_be_sent(ticket, candidate)
        {
            return Report::Hindered {
                why: format!("it is not known whether the remote has taken the work: {why}"),
            };
        }
        report
    }

    fn may_be_sent(&self, ticket: &Ticket, candidate: &Candidate) -> bool {
        let sent = git::Id::parse(ticket.id.as_str()).and_then(|id| self.repository.pushing(&id));
        match (sent, git_oid(&candidate.commit)) {
            (Ok(sent), Ok(commit)) => sent == Some(commit),
            (Err(_), _) | (_, Err(_)) => true,
        }
    }

    /// Forgets that a candidate was sent, once the remote has said what became of it.
    fn forget_sent(&self, ticket: &Ticket, candidate: &Candidate, batch: Option<&Batch>) {
        for (entry, _) in sent(ticket, candidate, batch) {
            let forgotten = git::Id::parse(entry.as_str()).and_then(|id| self.repository.forget_pushing(&id));
            if let Err(error) = forgotten {
                tracing::debug!(ticket = %entry, %error, "the note of its push stays");
            }
        }
    }

    /// The local target and the remote's have parted, with the commands that mend it.
    fn diverged(&self, remote: &Remote, local: &git::Oid, tip: &git::Oid) -> git::Result<String> {
        let target = self.target.short();
        let is_ahead = self.repository.is_ancestor(tip, local)?;
        Ok(if is_ahead {
            format!(
                "{target} has commits here that {remote} does not have, and they would land with this work. Push them: \
                 git push {remote} {target}; or take them off: git branch {target}-mine {target}, then in a checkout \
                 of {target} git reset --keep {tip}"
            )
        } else {
            format!(
                "{target} here and at {remote} have parted: each has commits that the other lacks. Bring yours on top \
                 of it and push: git pull --rebase {remote} {target} && git push {remote} {target}; or give yours up: \
                 git branch {target}-mine {target}, then in a checkout of {target} git reset --keep {tip}"
            )
        })
    }
}

fn out_of_reach(why: &str, help: Option<String>, may_pass: bool) -> AtRemote {
    AtRemote::OutOfReach {
        why: text::sanitise::line(why),
        help,
        may_pass,
    }
}

/// The tickets that a push sends, each with its own candidate; the one that is pushed comes last.
fn sent<'a>(
    ticket: &'a Ticket,
    candidate: &'a Candidate,
    batch: Option<&'a Batch>,
) -> Vec<(&'a TicketId, &'a Oid)> {
    let entries = batch.into_iter().flat_map(|batch| &batch.entries);
    let ahead = entries.filter(|entry| entry.ticket != ticket.id);
    ahead
        .map(|entry| (&entry.ticket, &entry.commit))
        .chain([(&ticket.id, &candidate.commit)])
        .collect()
}
