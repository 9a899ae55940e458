//! Permits: how many effects are performed at once.

use std::sync::Arc;

use model::attempt;
use model::ticket::Effect;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Effects performed at once. More would only wait for the same disk and cores.
const EFFECTS: usize = 16;
/// Pull requests looked at once. A host that does not answer keeps each look waiting for minutes.
const LOOKS: usize = 2;

/// The permits to perform effects.
#[derive(Clone, Debug)]
pub(super) struct Permits {
    effects: Arc<Semaphore>,
    looks: Arc<Semaphore>,
}

impl Default for Permits {
    fn default() -> Self {
        Self {
            effects: Arc::new(Semaphore::new(EFFECTS)),
            looks: Arc::new(Semaphore::new(LOOKS)),
        }
    }
}

impl Permits {
    /// Waits until an effect may be performed. A stop waits for nobody, and has no permit.
    pub(super) async fn take(self, effect: &Effect) -> Option<OwnedSemaphorePermit> {
        let kind = match effect {
            Effect::Attempt(attempt::Effect::StopRun { .. }) => return None,
            Effect::LookAtProposal { .. } => self.looks,
            Effect::PrepareWorkspace { .. }
            | Effect::Attempt(
                attempt::Effect::StartStep { .. }
                | attempt::Effect::InspectWorkspace { .. }
                | attempt::Effect::CreateChild { .. },
            )
            | Effect::Unify { .. }
            | Effect::BuildCandidate { .. }
            | Effect::StartCheck { .. }
            | Effect::StartReview { .. }
            | Effect::RemoveReview { .. }
            | Effect::Land { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. }
            | Effect::WriteFile(_)
            | Effect::AddNote { .. }
            | Effect::CreateTicket(_) => self.effects,
        };
        kind.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use model::{AgentName, RunId};

    use super::*;

    fn look() -> Effect {
        Effect::LookAtProposal {
            candidate: model::samples::ticket::candidate(),
            url: "https://example.com/team/it/pull/1".to_owned(),
        }
    }

    /// The permit, where nobody has to wait for it.
    fn at_once(permits: &Permits, effect: &Effect) -> Poll<Option<OwnedSemaphorePermit>> {
        let taken = pin!(permits.clone().take(effect));
        taken.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn looks_at_a_host_that_does_not_answer_keep_nothing_else_waiting() {
        let permits = Permits::default();
        let looks: Vec<_> = (0..40).map(|_| at_once(&permits, &look())).collect();
        assert_eq!(looks.iter().filter(|look| look.is_ready()).count(), LOOKS);
        let keep = Effect::KeepWork {
            agent: AgentName::new("ann").unwrap(),
            number: 1,
        };
        assert!(matches!(at_once(&permits, &keep), Poll::Ready(Some(_))));
    }

    #[test]
    fn a_stop_waits_for_nobody() {
        let permits = Permits::default();
        let note = Effect::AddNote {
            text: "why".to_owned(),
            by: None,
        };
        let others: Vec<_> = (0..EFFECTS).map(|_| at_once(&permits, &note)).collect();
        assert!(others.iter().all(Poll::is_ready) && at_once(&permits, &note).is_pending());
        let run = RunId::new("t-1.1.1").unwrap();
        let stop = Effect::Attempt(attempt::Effect::StopRun { run });
        assert!(at_once(&permits, &stop).is_ready());
    }
}
