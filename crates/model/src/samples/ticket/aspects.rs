//! The differences between tickets that matter to the search.

use crate::samples::attempt;
use crate::ticket::{
    AfterLanding, AfterReview, Clearance, Review, Stage, State, Ticket, Trial, Verdict, Verify,
};

/// The differences between tickets that matter: see [`crate::machine::search`].
#[must_use]
pub fn aspects(ticket: &Ticket) -> Vec<String> {
    let name = ticket.state_name();
    let held = ticket.held.as_ref().map(|h| (h.why.name(), h.retry_at.is_some()));
    // Of a child, only the way into its parent's work matters: the rest is as it is for every ticket.
    if !ticket.is_done() && ticket.delegated.is_some() {
        let live = ticket.live_run().is_some();
        let is_saved = matches!(ticket.stage(), Some(Stage::Unified { is_saved: true }));
        return vec![format!("child {name} {live} {is_saved}")];
    }
    // It matters only on the way from a conflict to the next merge.
    let is_on_the_way = match &ticket.state {
        State::InProgress(attempt) => attempt.conversation.is_idle(),
        State::Verify(verify) => matches!(verify.stage, Stage::Queued | Stage::Building),
        State::New | State::Open | State::Done(_) => false,
    };
    let was_approved = is_on_the_way && ticket.approved_before.is_some();
    let state = match &ticket.state {
        State::Verify(verify) => {
            let attempt = &verify.attempt;
            let place = format!(
                "{name} {was_approved} {} {} {}",
                stage(verify),
                // The attempt matters only as far as the way back depends on it.
                attempt.claim.has_slot(),
                attempt.state.name()
            );
            return with_facets(&name, &place, &facets(ticket, verify));
        }
        State::New | State::Done(_) => String::new(),
        State::Open => {
            let (due, parts) = (ticket.due.is_some(), !ticket.parts.is_empty());
            format!("{due} {parts} {}", ticket.may_be_vouched_for())
        }
        State::InProgress(attempt) => attempt::shape(attempt),
    };
    vec![format!("{name} {held:?} {was_approved} {state}")]
}

/// Every facet at the place, and every three facets with one another in the state: no transition reads more
/// of them together.
fn with_facets(name: &str, place: &str, facets: &[String]) -> Vec<String> {
    let mut aspects: Vec<String> = facets.iter().map(|facet| format!("{place}: {facet}")).collect();
    for (a, first) in facets.iter().enumerate() {
        for (b, second) in facets.iter().enumerate().skip(a + 1) {
            let thirds = facets[b + 1..].iter();
            aspects.extend(thirds.map(|third| format!("{name}: {first}, {second}, {third}")));
        }
    }
    aspects
}

/// The facts about submitted work that stand beside its stage.
fn facets(ticket: &Ticket, verify: &Verify) -> [String; 5] {
    let held = ticket.held.as_ref().map(|h| (h.why.name(), h.retry_at.is_some()));
    // A waived commitment asks nothing of the work any more, whatever its state.
    let promised = ticket.commitments.first().map(|one| {
        let is_owed = one.waived.is_none();
        is_owed.then(|| (one.promise.run.is_some(), one.state))
    });
    let cleared = verify.cleared.as_ref().map(|cleared| match cleared.by {
        Clearance::Waived { .. } => "waived",
        Clearance::Approved { .. } => "approved",
    });
    let attempt = &verify.attempt;
    // Whether its agent is to be told an edit, and where that begins: with an agent that had a step.
    let has_run = verify.stage == Stage::Queued && attempt.conversation.runs > 0;
    let is_edited = attempt.text_edited && ticket.held.is_none();
    [
        format!("held {held:?}"),
        format!("promised {promised:?}"),
        format!("cleared {cleared:?}"),
        format!("approved {}", verify.approved.is_some()),
        format!("edited {has_run} {is_edited}"),
    ]
}

fn after_landing(then: &AfterLanding) -> &'static str {
    match then {
        AfterLanding::Drop { .. } => "drop",
        AfterLanding::Hold { .. } => "hold",
        AfterLanding::Retry { .. } => "retry",
        AfterLanding::Uncouple => "uncouple",
    }
}

/// The stage of submitted work, with the differences in it that matter.
fn stage(verify: &Verify) -> String {
    match &verify.stage {
        Stage::Queued => "queued".to_owned(),
        Stage::Building => "building".to_owned(),
        Stage::Checking(checks) => {
            let run = checks.run.as_ref().map(|run| (run.task, run.stopping.is_some()));
            let is_set_up = checks.set_up.map(|done| done as usize == checks.plan.setup.len());
            format!(
                "checking {run:?} {} {} {is_set_up:?} {}",
                checks.plan.commands.len(),
                checks.passed,
                checks.failed.is_some(),
            )
        }
        Stage::InTrain(entry) => {
            let trial = match entry.trial {
                Trial::Untried => "untried",
                Trial::Passed { .. } => "passed",
                Trial::Failed { .. } => "failed",
            };
            format!("in train {trial} {}", entry.plan.setup.len())
        }
        Stage::Reviewing(reviewing) => {
            let then = reviewing.then.as_ref().map(|then| match then {
                AfterReview::Approve { .. } => "approve",
                AfterReview::Return { .. } => "return",
                AfterReview::TellEdit => "tell",
                AfterReview::Drop { .. } => "drop",
            });
            let of = |review: &Review| {
                let conversation = &review.conversation;
                format!(
                    "{:?} {} {} {} {}",
                    conversation.worker.as_ref().map(|worker| worker.state),
                    conversation.stopping.is_some(),
                    review.asks.is_some(),
                    review.is_answered,
                    review.verdict.as_ref().map_or("none", Verdict::name)
                )
            };
            // One review that has come to its verdict stands for all that have.
            let last = reviewing.reviews.last().map(of);
            format!("reviewing {} {then:?} {last:?}", reviewing.due.is_some())
        }
        Stage::Landing { waiting, then, .. } => {
            let then = then.as_ref().map(after_landing);
            let is_in_batch = verify.train.lands_with.is_some();
            format!("landing {} {then:?} {is_in_batch}", waiting.is_some())
        }
        Stage::Unified { is_saved } => format!("unified {is_saved}"),
        Stage::Proposed(proposal) => {
            let then = proposal.then.as_ref().map(after_landing);
            format!("proposed {} {then:?}", proposal.is_looked_at())
        }
    }
}
