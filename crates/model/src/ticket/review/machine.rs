//! A review as a machine by itself: its rows are those by which a ticket takes what happens to its review.

use super::{Order, Review, ReviewEvent, Verdict};
use crate::machine::{self, Rejected, Step};

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct ReviewMachine;

impl machine::Machine for ReviewMachine {
    type State = Review;
    type Event = ReviewEvent;
    type Effect = Order;
    const NAME: &'static str = "review";

    fn transition(review: &Review, event: &ReviewEvent) -> Result<Step<Review, Order>, Rejected> {
        let mut state = review.clone();
        let order = state.take(event).map_err(|refused| Rejected {
            state: Self::state_name(review),
            event: event.name().to_owned(),
            why: refused.0,
        })?;
        let effects = match order {
            Order::Nothing => Vec::new(),
            Order::Start { .. } | Order::Stop(_) => vec![order],
        };
        Ok(Step { state, effects })
    }

    fn state_name(review: &Review) -> String {
        let conversation = &review.conversation;
        let name = match &review.verdict {
            Some(Verdict::Approve { .. }) => "approved",
            Some(Verdict::Reject { .. }) => "rejected",
            Some(Verdict::Fail { .. }) => "failed",
            None if conversation.stopping.is_some() => "stopping",
            None if conversation.has_live_worker() => "at_work",
            None if review.asks.is_some() => "asked",
            None if review.is_answered => "answered",
            None if conversation.runs > 0 => "between_steps",
            None => "claimed",
        };
        name.to_owned()
    }

    fn effect_name(order: &Order) -> &'static str {
        match order {
            Order::Nothing => "nothing",
            Order::Start { .. } => "start_review",
            Order::Stop(_) => "stop_run",
        }
    }

    fn event_name(event: &ReviewEvent) -> &'static str {
        event.name()
    }
}
