//! The reviews of a pull request: whose words count, and what they say.

use std::collections::{BTreeMap, BTreeSet};

use engine::Report;
use model::ticket::ReviewDecision;

use super::description::cut;
use super::propose::Look;
use crate::gh::{Comment, Gh, GhError, Review, Viewed};

/// The most characters of people's words that an agent is given.
const LONGEST_WORDS: usize = 30_000;

/// The reviews by which a pull request is decided: those of people who may write to its repository. Anybody
/// can review on a public one, and agents work by what they are told.
pub(super) struct Reviews<'a> {
    /// The reviews of each person that count, the oldest first.
    of: Vec<Vec<Review>>,
    /// Those that an agent has been given.
    answered: Option<&'a BTreeSet<u64>>,
    /// The commit that crew pushed last.
    tip: &'a str,
}

impl<'a> Reviews<'a> {
    pub(super) fn read(gh: &Gh, look: &Look<'a>, tip: &'a str) -> Result<Self, GhError> {
        let mut by: BTreeMap<String, Vec<Review>> = BTreeMap::new();
        for review in gh.reviews(look.url)? {
            let Some(user) = &review.user else { continue };
            match review.state.as_str() {
                "CHANGES_REQUESTED" => by.entry(user.login.clone()).or_default().push(review),
                // Whoever approves takes back what they asked for.
                "APPROVED" => drop(by.insert(user.login.clone(), vec![review])),
                "DISMISSED" => drop(by.remove(&user.login)),
                // Comments decide nothing.
                _ => {}
            }
        }
        let request = look.ticket.pull_request.as_ref();
        let mut reviews = Self {
            of: Vec::new(),
            answered: request.map(|request| &request.answered),
            tip,
        };
        for (login, of) in by {
            let decides = |review: &Review| reviews.is_new(review) || reviews.approves(review);
            // Nobody is asked about whose words would change nothing.
            if !of.iter().any(decides) || gh.may_write(look.url, &login)? {
                reviews.of.push(of);
            }
        }
        Ok(reviews)
    }

    /// The requests for changes that no agent has been given yet.
    pub(super) fn unanswered(&self) -> Vec<&Review> {
        let all = self.of.iter().flatten();
        all.filter(|review| self.is_new(review)).collect()
    }

    /// The verdict: an approval counts for the tip that it was given for.
    pub(super) fn decision(&self, viewed: &Viewed) -> ReviewDecision {
        let says = viewed.review_decision.as_deref().unwrap_or_default();
        let mut last = self.of.iter().filter_map(|of| of.last());
        if says == "CHANGES_REQUESTED" || last.clone().any(asks_for_changes) {
            return ReviewDecision::ChangesRequested;
        }
        match says != "REVIEW_REQUIRED" && last.any(|review| self.approves(review)) {
            true => ReviewDecision::Approved,
            false => ReviewDecision::Open,
        }
    }

    fn is_new(&self, review: &Review) -> bool {
        let is_answered = self
            .answered
            .is_some_and(|answered| answered.contains(&review.id));
        asks_for_changes(review) && !is_answered
    }

    fn approves(&self, review: &Review) -> bool {
        review.state == "APPROVED" && review.commit_id.as_deref() == Some(self.tip)
    }
}

fn asks_for_changes(review: &Review) -> bool {
    review.state == "CHANGES_REQUESTED"
}

/// The words of people who want changes, for the next agent.
pub(super) fn changes_requested(reviews: &[&Review], comments: &[Comment]) -> Report {
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
        if !by.contains(&who) {
            by.push(who);
        }
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
