//! The rows of a pull request: proposed, looked at, sent back, merged or closed.

use super::{Draft, Taken};
use crate::Time;
use crate::machine::Rejected;
use crate::ticket::{AfterLanding, Effect, Label, Proposal, PullRequest, Seen, Stage, Why};

impl Draft<'_> {
    pub(super) fn proposal(&mut self) -> Result<&mut Proposal, Rejected> {
        let is_proposed = |stage: &Stage| matches!(stage, Stage::Proposed(_));
        let verify = self.stage(is_proposed, "it is in no pull request")?;
        let Stage::Proposed(proposal) = &mut verify.stage else {
            unreachable!("asked above")
        };
        Ok(proposal)
    }

    /// A proposal whose pull request is being looked at.
    fn looked_at(&mut self) -> Result<&mut Proposal, Rejected> {
        if !self.proposal()?.is_looked_at() {
            return self.no("its pull request is not being looked at");
        }
        self.proposal()
    }

    /// The remote has the branch and its pull request. Nobody knows how long people take, so the agent is
    /// free.
    pub(super) fn propose(&mut self, request: &PullRequest, look_at: Time) -> Taken {
        let Stage::Landing {
            candidate,
            waiting: None,
            ..
        } = &self.landing()?.stage
        else {
            return self.no("it is not landing at this moment");
        };
        let candidate = candidate.clone();
        if candidate.tip != request.head {
            return self.no("another tip was pushed");
        }
        let before = self.ticket.pull_request.take();
        let answered = before.filter(|before| before.number == request.number);
        self.ticket.pull_request = Some(Box::new(PullRequest {
            answered: answered.map(|before| before.answered).unwrap_or_default(),
            ..request.clone()
        }));
        self.free_slot();
        self.end_landing(Stage::Proposed(Box::new(Proposal::new(candidate, look_at))))
    }

    pub(super) fn order_look(&mut self) -> Taken {
        if self.proposal()?.is_looked_at() {
            return self.no("its pull request is being looked at");
        }
        self.look()
    }

    pub(super) fn look(&mut self) -> Taken {
        let Some(request) = &self.ticket.pull_request else {
            return self.no("it has no pull request");
        };
        let url = request.url.clone();
        let proposal = self.proposal()?;
        proposal.due = None;
        let candidate = proposal.candidate.clone();
        self.effects.push(Effect::LookAtProposal { candidate, url });
        Ok(())
    }

    pub(super) fn see(&mut self, seen: &Seen, look_at: Time) -> Taken {
        let proposal = self.looked_at()?;
        proposal.looks = if proposal.is_news(seen) {
            0
        } else {
            proposal.looks + 1
        };
        (proposal.seen, proposal.trouble) = (Some(seen.clone()), None);
        self.wait_for_people(look_at)
    }

    /// Nothing was seen of the pull request. It is held where only a person can mend that. A wish of a person
    /// stays for the next look, since nobody knows whether the work was merged.
    pub(super) fn fail_look(&mut self, why: &str, may_pass: bool, look_at: Time) -> Taken {
        let proposal = self.looked_at()?;
        proposal.trouble = Some(why.to_owned());
        proposal.looks += 1;
        proposal.due = Some(look_at);
        let is_to_be_dropped = matches!(proposal.then, Some(AfterLanding::Drop { .. }));
        if !may_pass {
            let request = self.ticket.pull_request.as_ref();
            let number = request.map(|request| request.number).unwrap_or_default();
            let mut note = format!("pull request #{number} could not be looked at: {why}");
            if is_to_be_dropped {
                let id = &self.ticket.id;
                note.push_str(&format!(
                    "; {id} was to be dropped unless it was merged: `crew drop {id}` drops it without a look"
                ));
            }
            self.hold(Why::Landing, note, Some(look_at));
        }
        Ok(())
    }

    fn wait_for_people(&mut self, look_at: Time) -> Taken {
        let proposal = self.looked_at()?;
        let mut waits = proposal.clone();
        waits.due = Some(look_at);
        waits.then = None;
        self.end_landing(Stage::Proposed(Box::new(waits)))
    }

    /// People want it changed: it goes back to the queue with their words, and the next push updates the
    /// same pull request. The attempts count anew, since a person has looked at it.
    pub(super) fn change_on_request(&mut self, reviews: &[u64], by: &str, why: &str) -> Taken {
        let then = self.looked_at()?.then.clone();
        if let Some(request) = &mut self.ticket.pull_request {
            request.answered.extend(reviews);
        }
        if then.is_some() {
            return self.end_landing(Stage::Queued);
        }
        let url = self.ticket.pull_request.as_ref().map(|request| &request.url);
        let url = url.map(|url| format!(" ({url})")).unwrap_or_default();
        let story = format!("{by} asked for changes on the pull request{url}:\n{why}");
        self.ticket.feedback.push(story);
        self.back_to_open()?;
        (self.ticket.tries, self.ticket.review_tries) = (0, 0);
        self.ticket.labels.insert(Label::Rejected);
        Ok(())
    }

    /// Somebody has closed the pull request without a merge.
    pub(super) fn close_proposal(&mut self) -> Taken {
        let then = self.looked_at()?.then.clone();
        if then.is_some() {
            return self.end_landing(Stage::Queued);
        }
        self.verify()?.stage = Stage::Queued;
        let id = &self.ticket.id;
        let url = self
            .ticket
            .pull_request
            .as_ref()
            .map(|request| request.url.as_str());
        let note = format!(
            "its pull request was closed without a merge ({}): `crew retry {id}` proposes it anew, `crew drop {id}` \
             gives it up",
            url.unwrap_or_default()
        );
        self.hold(Why::Closed, note, None);
        Ok(())
    }
}
