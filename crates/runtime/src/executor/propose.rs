//! Landing by pull requests: with `[land] mode = "pr"` a branch is proposed at the host of the remote, and
//! people, or crew once they have approved, merge it there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::PoisonError;

use engine::Report;
use git::{Intent, Remote};
use model::settings::{Pr, PrAfter, Settings};
use model::ticket::{Candidate, PullRequest, ReviewDecision, Seen, Ticket};

use super::perform::{could_not, git_oid, model_oid};
use crate::Place;
use crate::executor::Executor;
use crate::gh::{Comment, Gh, GhError, New, Review, Viewed};
use crate::start::Options;

/// The most characters of a description; the host takes no more than 65,536.
const LONGEST_BODY: usize = 60_000;
/// The most characters of a title; the host takes no more than 256.
const LONGEST_TITLE: usize = 240;
/// The most characters of people's words that an agent is given.
const LONGEST_WORDS: usize = 30_000;

/// The people who may send work back, or have it merged: by their words an agent works, and on a public
/// repository anybody can write a review.
const TRUSTED: [&str; 3] = ["OWNER", "MEMBER", "COLLABORATOR"];

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

    /// Whether this tip of a ticket's branch was pushed for its pull request.
    pub(super) fn was_proposed_as(&self, ticket: &Ticket, tip: &git::Oid) -> git::Result<bool> {
        if self.settings.land.proposes().is_none() {
            return Ok(false);
        }
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
                },
                untouched: Vec::new(),
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
            repository.push_proposal(remote, &id, &tip, &target)?;
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

    /// The title and the description of a ticket's pull request.
    fn description(&self, ticket: &Ticket, candidate: &Candidate) -> (String, String) {
        let title = text::sanitise::line(ticket.spec.title.trim());
        let title = format!("{} ({})", text::sanitise::fit(&title, LONGEST_TITLE), ticket.id);
        let text = self.text_of(ticket).unwrap_or_default();
        // The first heading is the title.
        let text = text.trim_start();
        let text = match text.strip_prefix("# ") {
            Some(rest) => rest.split_once('\n').map_or("", |(_, rest)| rest),
            None => text,
        };
        let mut body = text.trim().to_owned();
        if let Some(summary) = ticket.attempt().and_then(|attempt| attempt.summary.as_ref()) {
            body.push_str(&format!("\n\n## What was done\n\n{}", summary.trim()));
        }
        if !candidate.passed.is_empty() {
            body.push_str(&format!(
                "\n\n## Passed on the merge with {}\n",
                self.target.short()
            ));
            for one in &candidate.passed {
                body.push_str(&format!("\n* {}", text::sanitise::line(one)));
            }
        }
        if let Some(attempt) = ticket.attempt() {
            let (agent, number) = (&attempt.claim.agent, attempt.claim.number);
            body.push_str(&format!(
                "\n\nTicket {}, attempt {number}, by {agent}.\n",
                ticket.id
            ));
        }
        (title, cut(&text::sanitise::prompt(&body), LONGEST_BODY))
    }

    /// Looks at a ticket's pull request, and merges it where the settings say so and people have approved.
    pub(super) fn look_at_proposal(&self, ticket: &Ticket, candidate: &Candidate, url: &str) -> Report {
        self.try_look(ticket, candidate, url).unwrap_or_else(Report::from)
    }

    fn try_look(&self, ticket: &Ticket, candidate: &Candidate, url: &str) -> Result<Report, Trouble> {
        let (Some(remote), Some(pr)) = (self.remote()?, self.settings.land.proposes()) else {
            // The settings have work land in another way now.
            return Ok(Report::TargetMoved);
        };
        let gh = self.gh(&remote)?;
        let viewed = gh.view(url)?;
        let look = Look {
            ticket,
            candidate,
            url,
            remote: &remote,
            gh: &gh,
            pr,
        };
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
            "OPEN" => self.open(&look, &viewed),
            other => Err(Trouble::Unsound(format!(
                "`gh pr view` calls the pull request {}, which crew does not know",
                text::sanitise::fit(&text::sanitise::line(other), 40)
            ))),
        }
    }

    /// A pull request that was merged has landed where the target holds the tip that crew pushed, or the host
    /// says that it merged exactly that: a squash is no ancestor.
    fn merged(&self, look: &Look<'_>, viewed: &Viewed) -> Result<Report, Trouble> {
        let Look {
            ticket,
            candidate,
            remote,
            ..
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
        let id = git::Id::parse(ticket.id.as_str())?;
        let holds = viewed.head_ref_oid == candidate.tip.as_str()
            || repository.is_ancestor(&tip, &target)?
            || repository.is_in_proposal(remote, &id, &tip)?;
        if !holds {
            return Err(Trouble::Unsound(format!(
                "it was merged at {}, and crew cannot see that this holds the work that it pushed, {}",
                text::sanitise::fit(&text::sanitise::line(&viewed.head_ref_oid), 40),
                candidate.tip.short()
            )));
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

    fn open(&self, look: &Look<'_>, viewed: &Viewed) -> Result<Report, Trouble> {
        let candidate = look.candidate;
        let reviews = look.gh.reviews(look.url)?;
        let last = last_words(&reviews);
        let answered = look.ticket.pull_request.as_ref().map(|request| &request.answered);
        let is_answered = |review: &Review| answered.is_some_and(|answered| answered.contains(&review.id));
        let wanted = last.iter().filter(|review| review.state == "CHANGES_REQUESTED");
        let new: Vec<&Review> = wanted.copied().filter(|review| !is_answered(review)).collect();
        if !new.is_empty() {
            let comments = look.gh.comments(look.url)?;
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
            review: decision(&last, viewed, candidate),
            conflicts,
            other_head: model::Oid::new(&viewed.head_ref_oid).ok().filter(|_| !is_ours),
            not_merged: None,
        };
        let is_to_be_merged = look.pr.after == PrAfter::Approved
            && seen.review == ReviewDecision::Approved
            && is_ours
            && !seen.is_draft
            && !conflicts;
        if is_to_be_merged {
            let merged = look.gh.merge(look.url, candidate.tip.as_str());
            failpoint::hit("propose.merged");
            // Whatever gh says, the host knows.
            let now = look.gh.view(look.url)?;
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
        let forgotten =
            git::Id::parse(ticket.id.as_str()).and_then(|id| self.repository.forget_proposed(&id));
        for error in [followed.err(), forgotten.err()].into_iter().flatten() {
            tracing::warn!("{}: {}", ticket.id, text::with_causes(&error));
        }
        self.unpin(&ticket.id);
    }
}

/// A look at a pull request.
#[derive(Clone, Copy)]
struct Look<'a> {
    ticket: &'a Ticket,
    candidate: &'a Candidate,
    url: &'a str,
    remote: &'a Remote,
    gh: &'a Gh,
    pr: &'a Pr,
}

/// The last verdict of each person who may decide; comments change none.
fn last_words(reviews: &[Review]) -> Vec<&Review> {
    let mut last: BTreeMap<&str, &Review> = BTreeMap::new();
    for review in reviews {
        let decides = ["APPROVED", "CHANGES_REQUESTED", "DISMISSED"].contains(&review.state.as_str());
        if let Some(user) = &review.user
            && decides
            && TRUSTED.contains(&review.author_association.as_str())
        {
            last.insert(&user.login, review);
        }
    }
    last.into_values().collect()
}

/// The verdict of the reviews: an approval counts for the tip that it was given for.
fn decision(last: &[&Review], viewed: &Viewed, candidate: &Candidate) -> ReviewDecision {
    let says = viewed.review_decision.as_deref().unwrap_or_default();
    let tip = candidate.tip.as_str();
    if says == "CHANGES_REQUESTED" || last.iter().any(|review| review.state == "CHANGES_REQUESTED") {
        return ReviewDecision::ChangesRequested;
    }
    let approves = |review: &&&Review| review.state == "APPROVED" && review.commit_id.as_deref() == Some(tip);
    match says != "REVIEW_REQUIRED" && last.iter().any(|review| approves(&review)) {
        true => ReviewDecision::Approved,
        false => ReviewDecision::Open,
    }
}

/// The words of people who want changes, for the next agent.
fn changes_requested(reviews: &[&Review], comments: &[Comment]) -> Report {
    let mut said = Vec::new();
    let mut by: Vec<String> = Vec::new();
    for review in reviews {
        let who = review
            .user
            .as_ref()
            .map_or("somebody", |user| user.login.as_str());
        let who = text::sanitise::line(who);
        if let Some(body) = review
            .body
            .as_deref()
            .map(str::trim)
            .filter(|body| !body.is_empty())
        {
            said.push(format!("{who}: {body}"));
        }
        let of_it = comments
            .iter()
            .filter(|one| one.pull_request_review_id == Some(review.id));
        for comment in of_it {
            let line = comment.line.or(comment.original_line);
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            said.push(format!(
                "{who} on {}{line}: {}",
                comment.path,
                comment.body.trim()
            ));
        }
        by.push(who);
    }
    if said.is_empty() {
        said.push("they give no reason".to_owned());
    }
    Report::ChangesRequested {
        reviews: reviews.iter().map(|review| review.id).collect(),
        by: by.join(" and "),
        why: cut(&text::sanitise::prompt(&said.join("\n")), LONGEST_WORDS),
    }
}

/// A text of at most so many characters.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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
