//! Segments: the states of a ticket, each from when until when.

use model::journal::State as After;
use model::ticket::{Done, Stage, State, Ticket};
use model::{AgentName, Moment, Time, attempt};
use serde::Serialize;
use store::Recorded;

/// The state of a ticket in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Doing {
    Prepare,
    Work,
    Wait,
    Queue,
    Check,
    Review,
    Land,
    Held,
}

/// How a segment ended, where that was more than the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ended {
    Landed,
    SentBack,
    Failed,
}

/// A time in which a ticket was in one state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Segment {
    state: Doing,
    /// The agent that had the ticket; `null` where none had it.
    agent: Option<AgentName>,
    from: Moment,
    /// `null` while it goes on.
    until: Option<Moment>,
    ended: Option<Ended>,
}

impl Segment {
    /// How long it took, if it is a check that is over.
    pub(super) fn check_ms(&self) -> Option<i64> {
        let until = self.until.filter(|_| self.state == Doing::Check)?;
        Some(until.0.0 - self.from.0.0)
    }
}

/// The segments of a ticket, from its rows.
#[derive(Debug, Default)]
pub(super) struct Segments {
    over: Vec<Segment>,
    open: Option<Segment>,
}

impl Segments {
    /// Takes in the next row of the ticket.
    pub(super) fn take(&mut self, row: &Recorded) {
        if let After::Ticket(ticket) = &row.after {
            self.state(ticket, row.at);
        }
    }

    fn state(&mut self, ticket: &Ticket, at: Time) {
        let doing = doing(ticket);
        let agent = ticket.attempt().map(|attempt| &attempt.claim.agent);
        let open = self.open.as_ref();
        if open.map(|open| open.state) == doing && open.is_none_or(|open| open.agent.as_ref() == agent) {
            return;
        }
        if let Some(mut open) = self.open.take() {
            open.until = Some(Moment(at));
            open.ended = ended(open.state, doing, ticket);
            self.over.push(open);
        }
        self.open = doing.map(|state| Segment {
            state,
            agent: agent.cloned(),
            from: Moment(at),
            until: None,
            ended: None,
        });
    }

    /// Those that were not over at a moment.
    pub(super) fn since(mut self, since: Time) -> Vec<Segment> {
        self.over.extend(self.open);
        self.over
            .retain(|segment| segment.until.is_none_or(|Moment(until)| until >= since));
        self.over
    }
}

/// The state of a ticket for the chart; none while nobody is at it, and after its end.
fn doing(ticket: &Ticket) -> Option<Doing> {
    if ticket.held.is_some() && !ticket.is_done() {
        return Some(Doing::Held);
    }
    match &ticket.state {
        State::New | State::Open | State::Done(_) => None,
        State::InProgress(attempt) => Some(match &attempt.state {
            attempt::State::Preparing => Doing::Prepare,
            attempt::State::Ready
            | attempt::State::Working(_)
            | attempt::State::Verifying
            | attempt::State::Done => Doing::Work,
            attempt::State::WaitingForInput { .. }
            | attempt::State::WaitingForWakeup { .. }
            | attempt::State::WaitingForChildren { .. }
            | attempt::State::Stuck { .. } => Doing::Wait,
        }),
        State::Verify(verify) => Some(match &verify.stage {
            Stage::Queued | Stage::Building | Stage::InTrain(_) => Doing::Queue,
            Stage::Checking(_) => Doing::Check,
            Stage::Reviewing(_) => Doing::Review,
            Stage::Landing { .. } | Stage::Proposed(_) => Doing::Land,
            Stage::Unified { .. } => Doing::Wait,
        }),
    }
}

/// How a segment ended with a state: `next` is that of the chart.
fn ended(state: Doing, next: Option<Doing>, ticket: &Ticket) -> Option<Ended> {
    let is_submitted = match state {
        Doing::Queue | Doing::Check | Doing::Review | Doing::Land => true,
        Doing::Prepare | Doing::Work | Doing::Wait | Doing::Held => false,
    };
    match (&ticket.state, next) {
        (State::Done(Done::Landed { .. }), _) => Some(Ended::Landed),
        (State::Done(Done::Failed { .. }), _) => Some(Ended::Failed),
        (_, Some(Doing::Prepare | Doing::Work | Doing::Wait) | None) if is_submitted => Some(Ended::SentBack),
        // A person may have sent held work back.
        (State::Open, None) if state != Doing::Held => Some(Ended::Failed),
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::TicketId;
    use model::ticket::{Held, Why};

    #[test]
    fn a_segment_lasts_until_another_state_and_the_old_ones_are_left_out() {
        let mut ticket = Ticket::new(TicketId::new("t-1").unwrap());
        ticket.state = State::Open;
        let mut segments = Segments::default();
        segments.state(&ticket, Time(1));
        let held = Box::new(Held {
            why: Why::Killed,
            note: String::new(),
            since: Time(2),
            retry_at: None,
            may_pass: false,
            for_all: false,
            output: None,
        });
        ticket.held = Some(held.clone());
        segments.state(&ticket, Time(2));
        segments.state(&ticket, Time(3));
        ticket.held = None;
        segments.state(&ticket, Time(5));
        assert_eq!(segments.over[0].ended, None, "it is open again");
        segments.over.clear();
        ticket.held = Some(held.clone());
        segments.state(&ticket, Time(2));
        ticket.held = None;
        ticket.state = State::Done(Done::Failed {
            reason: String::new(),
        });
        segments.state(&ticket, Time(9));
        let held = Segment {
            state: Doing::Held,
            agent: None,
            from: Moment(Time(2)),
            until: Some(Moment(Time(9))),
            ended: Some(Ended::Failed),
        };
        assert_eq!(segments.over, std::slice::from_ref(&held));
        let again = Segments {
            over: vec![held.clone()],
            open: None,
        };
        assert_eq!(held.check_ms(), None);
        let check = Segment {
            state: Doing::Check,
            ..held.clone()
        };
        assert_eq!(check.check_ms(), Some(7));
        let goes_on = Segment { until: None, ..check };
        assert_eq!(goes_on.check_ms(), None);
        assert_eq!(again.since(Time(10)), []);
        assert_eq!(segments.since(Time(9)), [held]);
    }
}
