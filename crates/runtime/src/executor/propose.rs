//! Landing by pull requests: with `[land] mode = "pr"` a branch is proposed at the host of the remote, and
//! people, or crew once they have approved, merge it there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::PoisonError;

use engine::Report;
use git::{Intent, Remote};
use model::settings::{Pr, PrAfter, Settings};
use model::ticket::{Candidate, Leftovers, PullRequest, ReviewDecision, Seen, Ticket};

use super::perform::{could_not, git_oid, model_oid};
use super::reviews::{Reviews, changes_requested};
use crate::Place;
use crate::executor::Executor;
use crate::gh::{Gh, GhError, New, Viewed};
use crate::start::Options;

/// Why a pull request could not be made or looked at.
enum Trouble {
    Git(git::Error),
    Gh(GhError),
    Unsound(String),
}

impl From<git::Error> for Trouble {
    fn from(error: git::Error) -> Self {
        Self::Git(error)
    }
}

impl From<GhError> for Trouble {
    fn from(error: GhError) -> Self {
        Self::Gh(error)
    }
}

impl From<Trouble> for Report {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Git(error) => could_not(error),
            Trouble::Gh(GhError::Away(why)) => Self::RemoteAway { why },
            Trouble::Gh(GhError::Refused(why)) | Trouble::Unsound(why) => Self::RemoteRefused { why },
        }
    }
}

impl Executor {
    fn gh(&self, remote: &Remote) -> Result<Gh, Trouble> {
        let address = self.repository.remote_address(remote)?;
        Ok(Gh::find(&self.callers_env, address.as_deref(), &self.place.root)?)
    }

    /// Whether this tip of a ticket's branch was pushed for its pull request, however work lands by now.
    pub(super) fn was_proposed_as(&self, ticket: &Ticket, tip: &git::Oid) -> git::Result<bool> {
        let id = git::Id::parse(ticket.id.as_str())?;
        Ok(self.repository.proposed(&id)?.contains(tip))
    }

    /// The candidate of a branch whose work the target has: the target itself.
    pub(super) fn as_merged(&self, target: &git::Oid, tip: &git::Oid) -> Report {
        let tree = match self.repository.tree_of(target) {
            Ok(tree) => model_oid(&tree.0),
            Err(error) => return could_not(error),
        };
        match (model_oid(target), tree, model_oid(tip)) {
            (Ok(target), Ok(tree), Ok(tip)) => Report::Built {
                candidate: Candidate {
                    commit: target.clone(),
                    tree,
                    target,
                    tip,
                    passed: Vec::new(),
                    review: None,
                    brings_nothing: false,
                },
                untouched: Vec::new(),
                leftovers: Leftovers::default(),
                resolves: None,
                ahead: Box::default(),
                absent: Box::default(),
            },
            (Err(why), _, _) | (_, Err(why), _) | (_, _, Err(why)) => Report::CouldNotRun { why },
        }
    }

    /// Proposes a ticket's branch: pushes it, and makes its pull request unless there is one.
    pub(super) fn propose(&self, ticket: &Ticket, candidate: &Candidate, remote: &Remote) -> Report {
        self.try_propose(ticket, candidate, remote)
            .unwrap_or_else(Report::from)
    }

    fn try_propose(
        &self,
        ticket: &Ticket,
        candidate: &Candidate,
        remote: &Remote,
    ) -> Result<Report, Trouble> {
        let Some(pr) = self.settings.land.proposes() else {
            return Ok(Report::TargetMoved);
        };
        let repository = &self.repository;
        let id = git::Id::parse(ticket.id.as_str())?;
        let (tip, commit) = (git_oid(&candidate.tip)?, git_oid(&candidate.commit)?);
        let target = repository.fetch_target(remote, &self.target)?;
        if repository.is_ancestor(&tip, &target)? {
            // Somebody has merged the branch. What was built before that is no commit of the target's.
            if !repository.is_ancestor(&commit, &target)? {
                return Ok(Report::TargetMoved);
            }
            self.end_proposal(ticket, &target);
            return Ok(Report::Landed {
                commit: candidate.commit.clone(),
            });
        }
        let gh = self.gh(remote)?;
        let branch = git::Repository::proposal_branch(&id)?;
        let (head, base) = (branch.short().to_owned(), self.target.short().to_owned());
        // Without gh or its credentials nothing is pushed that nobody would see.
        let listed = gh.list(&head, &base)?;
        let merged = listed
            .iter()
            .find(|one| one.state == "MERGED" && one.head_ref_oid == candidate.tip.as_str());
        let open = listed.iter().find(|one| one.state == "OPEN");
        let known = merged.or(open).map(|one| (one.number, one.url.clone()));
        if merged.is_none() {
            // Of a ticket that was open again the branch of its first pull request may still be there.
            let ended = listed.iter().filter(|one| one.state == "MERGED");
            let ended = ended.filter_map(|one| git::Oid::parse(&one.head_ref_oid).ok());
            let ended: Vec<git::Oid> = ended.collect();
            repository.push_proposal(remote, &id, &tip, &target, &ended)?;
        }
        let (number, url) = match known {
            Some(known) => known,
            None => {
                let (title, body) = self.description(ticket, candidate);
                let made = gh.create(New {
                    head: &head,
                    base: &base,
                    title: &title,
                    body: &body,
                    is_draft: pr.draft,
                    labels: &pr.labels,
                });
                failpoint::hit("propose.created");
                match made {
                    Ok(made) => made,
                    // A pull request that was made a moment ago need not have been in the list.
                    Err(error) => {
                        let listed = gh.list(&head, &base)?;
                        let open = listed.into_iter().find(|one| one.state == "OPEN");
                        open.map(|one| (one.number, one.url)).ok_or(error)?
                    }
                }
            }
        };
        if !crate::gh::is_address(&url) {
            let url = text::sanitise::fit(&text::sanitise::line(&url), 200);
            return Err(Trouble::Unsound(format!(
                "`gh` calls {url} the address of a pull request"
            )));
        }
        Ok(Report::Proposed {
            request: PullRequest {
                number,
                url,
                head: candidate.tip.clone(),
                answered: BTreeSet::new(),
            },
        })
    }

    /// Looks at a ticket's pull request, and merges it where the settings say so and people have approved.
    pub(super) fn look_at_proposal(&self, ticket: &Ticket, candidate: &Candidate, url: &str) -> Report {
        self.try_look(ticket, candidate, url).unwrap_or_else(Report::from)
    }

    fn try_look(&self, ticket: &Ticket, candidate: &Candidate, url: &str) -> Result<Report, Trouble> {
        let Some(remote) = self.remote()? else {
            // The settings have work land in this repository alone now.
            return Ok(Report::TargetMoved);
        };
        let look = Look {
            ticket,
            candidate,
            url,
            remote: &remote,
        };
        let Some(pr) = self.settings.land.proposes() else {
            // Work is pushed now, without a pull request: the host only knows whether that is still to do.
            return Ok(self.if_merged(&look).unwrap_or(Report::TargetMoved));
        };
        let gh = self.gh(&remote)?;
        let viewed = gh.view(url)?;
        match viewed.state.as_str() {
            "MERGED" => self.merged(&look, &viewed),
            "CLOSED" => Ok(Report::ProposalClosed),
            // An approved one would be merged wherever it points.
            "OPEN" if viewed.base_ref_name != self.target.short() => {
                let other = text::sanitise::line(&viewed.base_ref_name);
                let target = self.target.short();
                Err(Trouble::Unsound(format!(
                    "it is to be merged into {other}, and not into {target}: change its base back"
                )))
            }
            "OPEN" => self.open(&look, &gh, pr, &viewed),
            other => Err(Trouble::Unsound(format!(
                "`gh pr view` calls the pull request {}, which crew does not know",
                text::sanitise::fit(&text::sanitise::line(other), 40)
            ))),
        }
    }

    /// The outcome of a pull request that nobody needs any more, if it was merged before.
    fn if_merged(&self, look: &Look<'_>) -> Option<Report> {
        let viewed = self.gh(look.remote).ok()?.view(look.url).ok()?;
        let is_merged = viewed.state == "MERGED";
        is_merged.then(|| self.merged(look, &viewed).ok()).flatten()
    }

    /// A pull request that was merged has landed where the target holds the tip that crew pushed, or where
    /// the commit that was merged holds it: a squash is no ancestor.
    fn merged(&self, look: &Look<'_>, viewed: &Viewed) -> Result<Report, Trouble> {
        let Look {
            ticket,
            candidate,
            remote,
            url,
        } = *look;
        let base = self.target.short();
        if viewed.base_ref_name != base {
            let other = text::sanitise::line(&viewed.base_ref_name);
            return Err(Trouble::Unsound(format!(
                "it was merged into {other}, and not into {base}"
            )));
        }
        let repository = &self.repository;
        let tip = git_oid(&candidate.tip)?;
        let target = repository.fetch_target(remote, &self.target)?;
        let is_there =
            viewed.head_ref_oid == candidate.tip.as_str() || repository.is_ancestor(&tip, &target)?;
        if !is_there {
            let id = git::Id::parse(ticket.id.as_str())?;
            let head = git::Oid::parse(&viewed.head_ref_oid).ok();
            let number = crate::gh::number_of(url);
            let head = match head.zip(number) {
                Some((head, number)) => repository
                    .fetch_merged(remote, &id, number, &head)?
                    .then_some(head),
                None => None,
            };
            let holds = |whole: Option<&git::Oid>, part: Option<&git::Oid>| match (whole, part) {
                (Some(whole), Some(part)) => repository.is_ancestor(part, whole),
                (None, _) | (_, None) => Ok(false),
            };
            if !holds(head.as_ref(), Some(&tip))? {
                // It was merged while crew pushed more: the rest needs a pull request of its own.
                if holds(Some(&tip), head.as_ref())? {
                    return Ok(Report::TargetMoved);
                }
                return Err(Trouble::Unsound(format!(
                    "it was merged at {}, and crew cannot see that this holds the work that it pushed, {}",
                    text::sanitise::fit(&text::sanitise::line(&viewed.head_ref_oid), 40),
                    candidate.tip.short()
                )));
            }
        }
        let merge = viewed
            .merge_commit
            .as_ref()
            .and_then(|commit| git::Oid::parse(&commit.oid).ok());
        let merge = merge.filter(|merge| {
            let is_there = repository.tree_of(merge).is_ok();
            is_there && repository.is_ancestor(merge, &target).unwrap_or(false)
        });
        self.end_proposal(ticket, &target);
        let commit = model_oid(merge.as_ref().unwrap_or(&target)).map_err(Trouble::Unsound)?;
        Ok(Report::Landed { commit })
    }

    fn open(&self, look: &Look<'_>, gh: &Gh, pr: &Pr, viewed: &Viewed) -> Result<Report, Trouble> {
        let candidate = look.candidate;
        let reviews = Reviews::read(gh, look, candidate.tip.as_str())?;
        let new = reviews.unanswered();
        if !new.is_empty() {
            let comments = gh.comments(look.url)?;
            return Ok(changes_requested(&new, &comments));
        }
        let conflicts = viewed.mergeable == "CONFLICTING";
        if conflicts {
            // What the host says of an older target is no news.
            let target = self.repository.fetch_target(look.remote, &self.target)?;
            if target.as_str() != candidate.target.as_str() {
                return Ok(Report::TargetMoved);
            }
        }
        let is_ours = viewed.head_ref_oid == candidate.tip.as_str();
        let mut seen = Seen {
            is_draft: viewed.is_draft,
            review: reviews.decision(viewed),
            conflicts,
            other_head: model::Oid::new(&viewed.head_ref_oid).ok().filter(|_| !is_ours),
            not_merged: None,
        };
        let is_to_be_merged = pr.after == PrAfter::Approved
            && seen.review == ReviewDecision::Approved
            && is_ours
            && !seen.is_draft
            && !conflicts;
        if is_to_be_merged {
            let merged = gh.merge(look.url, candidate.tip.as_str());
            failpoint::hit("propose.merged");
            // Whatever gh says, the host knows.
            let now = gh.view(look.url)?;
            match (merged, now.state.as_str()) {
                (_, "MERGED") => return self.merged(look, &now),
                (Ok(()), _) => {}
                (Err(error @ GhError::Away(_)), _) => return Err(error.into()),
                (Err(GhError::Refused(why)), _) => seen.not_merged = Some(why),
            }
        }
        Ok(Report::ProposalSeen { seen })
    }

    /// The local target follows the remote's, which has the work. Whatever is in its way, the ticket has
    /// landed: the branch follows when the next ticket is built.
    fn end_proposal(&self, ticket: &Ticket, target: &git::Oid) {
        let followed = self.repository.target(&self.target).and_then(|local| {
            let _one_at_a_time = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
            if !self.repository.is_ancestor(&local, target)? {
                return Ok(());
            }
            let intent = Intent {
                target: self.target.clone(),
                old: local,
                new: target.clone(),
            };
            self.repository.follow_remote(&intent).map(drop)
        });
        if let Err(error) = followed {
            tracing::warn!("{}: {}", ticket.id, text::with_causes(&error));
        }
        self.forget_proposal(ticket);
        self.unpin(&ticket.id);
    }

    /// Forgets what was pushed for a pull request that is over.
    pub(super) fn forget_proposal(&self, ticket: &Ticket) {
        let forgotten =
            git::Id::parse(ticket.id.as_str()).and_then(|id| self.repository.forget_proposed(&id));
        if let Err(error) = forgotten {
            tracing::warn!("{}: {}", ticket.id, text::with_causes(&error));
        }
    }
}

/// A look at a pull request.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    pub(super) ticket: &'a Ticket,
    candidate: &'a Candidate,
    pub(super) url: &'a str,
    remote: &'a Remote,
}

/// Looks whether `gh` can be used for the pull requests of these settings: its program, or the reason for
/// which it cannot. None where work lands in another way.
#[must_use]
pub fn pull_request_client(
    place: &Place,
    settings: &Settings,
    options: &Options,
) -> Option<Result<PathBuf, String>> {
    settings.land.proposes()?;
    let remote = settings
        .land
        .pushes_to()
        .and_then(|name| name.parse::<Remote>().ok())?;
    let address = place.repository.remote_address(&remote).ok().flatten();
    let gh = Gh::find(&options.env, address.as_deref(), &place.root);
    Some(
        gh.and_then(|gh| gh.logged_in())
            .map_err(|error| error.to_string()),
    )
}
