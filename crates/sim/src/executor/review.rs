//! A step of a review begins: its verdict is drawn here, whatever happens to the engine meanwhile.

use engine::Report;
use model::attempt::{Class, Failure, Signal};
use model::ticket::{Effect, Verdict};
use model::{TicketId, Time};

use super::Executor;
use crate::git::By;
use crate::process::{self, Act, Process};
use crate::rng::Rng;

impl Executor<'_> {
    pub(super) fn start_review(&mut self, ticket: &TicketId, effect: &Effect) -> Report {
        let Effect::StartReview {
            agent,
            run,
            fence,
            session,
            new_session,
            candidate,
            ..
        } = effect
        else {
            return Report::Done;
        };
        if self.world.processes.contains_key(run) {
            return Report::StepSpawned;
        }
        if self.world.git.find(&candidate.commit).is_none() {
            return Report::TargetMoved;
        }
        if self.half && self.rng.percent(50) {
            self.world.made_runs.insert(run.clone());
            return Report::Done;
        }
        let wish = self.world.stop_wishes.contains(run);
        if wish && self.rng.percent(50) {
            let failure = Failure::new(Class::KilledByUs, "stopped before it began");
            return Report::StepNotSpawned { failure };
        }
        let mut rng = self.chance.of(run.as_str());
        let now = self.world.now;
        let known = !self.world.sessions.insert(session.clone());
        let (end, verdict) = if known == *new_session {
            (process::failed(Class::SessionInUse), None)
        } else {
            self.judge(&mut rng)
        };
        let at = Time(now.0 + rng.ms(100, 20_000));
        let stays = !self.world.calm && rng.percent(8);
        let act = if stays { Act::State(end) } else { Act::End(end) };
        let process = Process {
            run: run.clone(),
            ticket: ticket.clone(),
            number: u32::try_from(fence.0).unwrap_or(u32::MAX),
            // It changes nothing outside its own checkout.
            space: ((agent.clone(), ticket.clone()), 0),
            session: session.clone(),
            began: now,
            acts: vec![(at, act)],
            end: wish.then(process::killed),
            talks: true,
            silent: None,
            cost: rng.below(200),
            frozen: None,
            stopped: wish,
            given_up: None,
            stated: None,
            floods: false,
            verdict,
        };
        // It may commit in its checkout what it likes.
        if let Some(under_review) = self.world.git.find(&candidate.commit) {
            let git = &mut self.world.git;
            let mut tree = git.tree(under_review).clone();
            tree.insert("a0".to_owned(), 1 << 40);
            let made = git.commit(tree, vec![under_review], By::Gatekeeper(ticket.clone()));
            self.world.reviewed.insert(run.clone(), made);
        }
        self.world.processes.insert(run.clone(), process);
        Report::StepSpawned
    }

    /// The end of a gatekeeper's step, with its verdict.
    fn judge(&self, rng: &mut Rng) -> (engine::End, Option<Verdict>) {
        let approve = Verdict::Approve {
            acceptance_test: "ran it".to_owned(),
            met: Vec::new(),
            feedback: String::new(),
        };
        let well = |signal| process::ended_well(signal);
        if self.world.calm {
            return (well(Signal::None), Some(approve));
        }
        match rng.below(100) {
            0..55 => (well(Signal::None), Some(approve)),
            // A gatekeeper that says DONE as well has given its verdict all the same.
            55..60 => (well(Signal::Done), Some(approve)),
            60..75 => {
                let reject = Verdict::Reject {
                    reason: "no test".to_owned(),
                    feedback: "write one".to_owned(),
                };
                (well(Signal::None), Some(reject))
            }
            75..78 => {
                let reason = "it contradicts itself".to_owned();
                (well(Signal::None), Some(Verdict::Fail { reason }))
            }
            78..81 => {
                let question = "may it do that?".to_owned();
                (well(Signal::Asked { question }), None)
            }
            81..84 => (well(Signal::None), None),
            84..88 => (well(Signal::Done), None),
            88..91 => (process::failed(Class::Overloaded), Some(approve)),
            91..93 => (process::failed(Class::Auth), None),
            93..96 => (process::failed(Class::Lost), Some(approve)),
            _ => (process::failed(Class::Crash), None),
        }
    }
}
