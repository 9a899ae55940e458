//! Failed steps: the wait before the next step, and the rest of the limits.

use std::time::Duration;

use crate::Time;
use crate::conversation::{Class, Conversation, Failure};
use crate::policy::backoff;

/// Failed steps in a row after which an attempt is stuck.
pub const ERRORS: u32 = 5;
/// After this many same failures in a row there is no progress, and the ticket is held.
///
/// Failures that may pass by themselves do not count: the network, a session that is at fault. They have the
/// five in a row. A step that something kills from outside counts if it left the same commit and the same
/// files: the agent may do that itself, each time anew. A program that ends three times with the
/// same words after the same prompt would do so a fourth time, and so would one that is ended each time after
/// it has reported its work.
pub const REPEATS: u32 = 3;

/// The `errors`-th failed step in a row, in words, where the next one could be too many: "2 of 5 in a row".
/// `in_a_row`: as many as failed in a row whatever was retried in between, by which the wait grows.
#[must_use]
pub fn in_a_row(class: Class, errors: u32, in_a_row: u32) -> Option<String> {
    if !class.counts() || class == Class::Auth {
        return None;
    }
    let counted = errors.min(ERRORS);
    Some(match in_a_row > errors {
        false => format!("{counted} of {ERRORS} in a row"),
        true => format!("{in_a_row} in a row, {counted} of {ERRORS} since it was last retried or recovered"),
    })
}

/// crew's reaction to a failure of this class, in a sentence without its end, for `crew explain`.
#[must_use]
pub fn reaction(class: Class) -> &'static str {
    match class {
        Class::Transient => "the step is sent again after a wait, 2 s doubling to 60 s",
        Class::RateLimited | Class::Overloaded => {
            "no error is counted, and no agent of the harness starts a step before the service is ready"
        }
        Class::NoProgram => {
            "no error is counted, and no agent of the harness starts a step before the program is there: crew looks \
             again after a wait, 30 s doubling to 10 min"
        }
        Class::Auth => {
            "held at once, and no agent of the harness starts a step before somebody runs `crew retry`"
        }
        Class::SessionInUse => "a new session, once; the second in a row is one too many",
        Class::SessionMissing => "a new session, at once; from the second in a row on after a wait",
        Class::Timeout => "once more with a new session; the second in a row is one too many",
        Class::Stalled => "stopped, and continued in a new session after a wait",
        Class::Crash => {
            "the step is sent again in the same session after a wait; the same failure three times holds the ticket, so that it is not paid again"
        }
        Class::Lost => {
            "continued in the same session after a wait; three that leave the same commit and files hold the ticket"
        }
        Class::KilledByUs => "no error: crew stopped it itself",
        Class::MalformedOutput => {
            "a new session after a wait; the same failure three times holds the ticket, so that it is not paid again"
        }
        Class::Budget => {
            "the step is sent again after a wait; the same failure three times holds the ticket, so that it is not paid again"
        }
    }
}

/// The consequences of a failed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Before the next step.
    pub wait: Duration,
    /// Errors in a row left after this one.
    pub errors_left: u32,
    /// Same failures in a row left after this one.
    pub repeats_left: u32,
}

/// The reaction to a class of failures.
enum Rule {
    /// The step is sent again at once; nothing is counted.
    Free,
    /// The service asked for time: until the time that it gave, else longer each time. Nothing is counted.
    Later,
    /// It counts towards the five in a row, but the first is tried again at once: the session was at fault.
    Afresh,
    /// It counts towards the five in a row.
    Counted,
    /// A fresh session is tried once; the second in a row is one too many.
    Once,
    /// It will happen again on unchanged input, so it also counts towards `no_progress`.
    Same,
}

fn rule(failure: &Failure) -> Rule {
    match failure.class {
        Class::Lost if failure.left.is_some() => Rule::Same,
        Class::KilledByUs => Rule::Free,
        Class::RateLimited | Class::Overloaded | Class::NoProgram => Rule::Later,
        Class::Timeout | Class::SessionInUse => Rule::Once,
        Class::MalformedOutput | Class::Budget | Class::Crash => Rule::Same,
        Class::SessionMissing => Rule::Afresh,
        Class::Transient | Class::Auth | Class::Stalled | Class::Lost => Rule::Counted,
    }
}

/// The consequences of `failure` at `now`, for a conversation as it is before the failure.
#[must_use]
pub fn after(conversation: Option<&Conversation>, failure: &Failure, now: Time) -> Next {
    let (errors, repeats) = conversation.map_or((0, 0), |c| {
        let same = c.failure.as_ref().is_some_and(|before| before.is_same(failure));
        (c.errors, if same { c.repeats } else { 0 })
    });
    let before = conversation
        .and_then(|c| c.failure.as_ref())
        .filter(|_| errors > 0);
    let again = before.is_some_and(|f| f.class == failure.class);
    let uncounted = |wait| Next {
        wait,
        errors_left: ERRORS.saturating_sub(errors),
        repeats_left: REPEATS,
    };
    let counted = Next {
        wait: backoff::step(conversation.map_or(0, |c| c.in_a_row) + 1),
        errors_left: ERRORS.saturating_sub(errors + 1),
        repeats_left: REPEATS,
    };
    match rule(failure) {
        Rule::Free => uncounted(Duration::ZERO),
        Rule::Later => uncounted(service(conversation, failure, now)),
        Rule::Afresh if again => counted,
        Rule::Afresh => Next {
            wait: Duration::ZERO,
            ..counted
        },
        Rule::Counted => counted,
        // The new session that follows is the remedy, and not the wait.
        Rule::Once if again => Next {
            wait: Duration::ZERO,
            errors_left: 0,
            ..counted
        },
        Rule::Once => counted,
        Rule::Same => Next {
            repeats_left: REPEATS.saturating_sub(repeats + 1),
            ..counted
        },
    }
}

/// The wait for a service. A service that always asks for no wait at all is still tried ever more rarely.
fn service(conversation: Option<&Conversation>, failure: &Failure, now: Time) -> Duration {
    let times = conversation
        .and_then(|c| c.throttled.as_ref())
        .map_or(0, |t| t.times)
        + 1;
    match failure.until {
        Some(until) => until
            .since(now)
            .clamp(backoff::step(times), backoff::LONGEST_SERVICE),
        None => backoff::service(times),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::{Event, State, Stuck, Usage};
    use crate::samples;
    use crate::{Fence, Oid, RunId, SessionId, TicketId};

    /// An attempt whose steps are judged by this policy.
    struct Steps(crate::attempt::Attempt);

    impl Steps {
        fn ready() -> Self {
            let mut steps = Self(samples::attempt::first());
            steps.take(&Event::WorkspaceReady {
                base: Oid::new("a".repeat(40)).unwrap(),
                earlier_work: false,
            });
            steps
        }

        fn take(&mut self, event: &Event) {
            self.0 = self.0.after(event).unwrap().0;
        }

        fn fresh(&self) -> SessionId {
            let number = u128::from(self.0.conversation.session.number);
            SessionId(uuid::Uuid::from_u128(number + 100))
        }

        fn start(&mut self) {
            let number = self.0.conversation.runs + 1;
            self.take(&Event::StepStarted {
                run: RunId::of_step(&TicketId::new("t-1").unwrap(), Fence(1), number),
                budget: None,
                change: None,
            });
        }

        /// The next step fails: how the attempt stands then.
        fn fail(&mut self, class: Class) -> State {
            self.start();
            let failure = Failure::new(class, "no");
            let next = after(Some(&self.0.conversation), &failure, Time(0));
            self.take(&Event::StepFailed {
                usage: Usage::default(),
                total_micro_usd: None,
                failure,
                retry_at: Time(0) + next.wait,
                errors_left: next.errors_left,
                repeats_left: next.repeats_left,
                fresh: self.fresh(),
            });
            self.0.state.clone()
        }

        fn succeed(&mut self) {
            self.start();
            self.take(&Event::StepFinished {
                usage: Usage::default(),
                total_micro_usd: None,
                signal: crate::attempt::Signal::None,
                summary: None,
                repeat: None,
                unusable: Vec::new(),
                steps_left: 9,
                attempts_left: 2,
                reopen_at: Time(0),
                answer_by: None,
            });
        }

        fn recover(&mut self, workspace: crate::attempt::Workspace) {
            self.take(&Event::Recovered {
                workspace,
                fresh: self.fresh(),
                recoveries_left: 2,
                attempts_left: 2,
                reopen_at: Time(0),
            });
        }

        fn retry(&mut self) {
            self.take(&Event::Retried {
                by: crate::Actor::person("boss"),
                fresh: self.fresh(),
            });
        }

        /// The second before which no step of it is started, and not before the one after.
        fn starts_at(&self) -> i64 {
            let second = (0..).find(|second| self.0.can_step(Time(second * 1000))).unwrap();
            assert!(second == 0 || !self.0.can_step(Time(second * 1000 - 1)));
            second
        }
    }

    /// Steps that fail one after another: how the attempt stands after each.
    fn fails(classes: &[Class]) -> Vec<State> {
        let mut steps = Steps::ready();
        classes.iter().map(|class| steps.fail(*class)).collect()
    }

    fn waits(states: &[State]) -> Vec<i64> {
        let due = |s: &State| match s {
            State::Working(w) => w.due.map(|t| t.0 / 1000),
            _ => None,
        };
        states.iter().filter_map(due).collect()
    }

    #[test]
    fn the_fifth_in_a_row_is_one_too_many() {
        let states = fails(&[Class::Transient; 5]);
        assert_eq!(waits(&states), [2, 4, 8, 16]);
        assert_eq!(states[4], State::Stuck { why: Stuck::Errors });
    }

    #[test]
    fn failed_steps_wait_as_the_seed_says_and_the_fifth_in_a_row_is_stuck() {
        use crate::attempt::Workspace;
        let mut steps = Steps::ready();
        for wait in [2, 4, 8, 16] {
            assert!(matches!(steps.fail(Class::Transient), State::Working(_)));
            assert_eq!(steps.starts_at(), wait);
        }
        assert_eq!(steps.fail(Class::Transient), State::Stuck { why: Stuck::Errors });
        for workspace in [Workspace::Clean, Workspace::Changed] {
            let mut steps = Steps(steps.0.clone());
            steps.recover(workspace);
            assert_eq!(steps.starts_at(), 32, "{workspace:?}");
            for failure in ["the sixth", "the seventh"] {
                steps.fail(Class::Transient);
                assert_eq!(steps.starts_at(), 60, "{failure}");
            }
        }
    }

    #[test]
    fn a_manual_retry_starts_at_once_and_keeps_the_count() {
        let mut steps = Steps::ready();
        for wait in [2, 4, 8, 16] {
            steps.fail(Class::Transient);
            assert_eq!(steps.starts_at(), wait);
            steps.retry();
            assert_eq!(steps.starts_at(), 0);
        }
        steps.fail(Class::Transient);
        assert_eq!(steps.starts_at(), 32, "the fifth is the first since the retry");
        steps.retry();
        steps.fail(Class::Transient);
        assert_eq!(steps.starts_at(), 60, "the sixth");

        let mut stuck = Steps::ready();
        for _ in 0..5 {
            stuck.fail(Class::Transient);
        }
        stuck.recover(crate::attempt::Workspace::Clean);
        assert_eq!(stuck.starts_at(), 32);
        stuck.retry();
        assert_eq!(stuck.starts_at(), 0);
        stuck.fail(Class::Transient);
        assert_eq!(stuck.starts_at(), 60);
    }

    #[test]
    fn a_good_step_sets_the_count_to_nothing() {
        let mut steps = Steps::ready();
        for _ in 0..4 {
            steps.fail(Class::Transient);
        }
        steps.succeed();
        let waits = [2, 4, 8, 16].map(|wait| (steps.fail(Class::Transient), steps.starts_at() == wait));
        assert!(waits.iter().all(|(_, is_right)| *is_right), "{waits:?}");
        assert_eq!(steps.fail(Class::Transient), State::Stuck { why: Stuck::Errors });
    }

    #[test]
    fn what_is_nobodys_fault_is_never_one_too_many() {
        let states = fails(&[Class::RateLimited, Class::Overloaded, Class::KilledByUs].repeat(5));
        assert_eq!(waits(&states).len(), 15);
        assert_eq!(waits(&states[..7]), [30, 60, 0, 120, 240, 0, 480]);
    }

    #[test]
    fn a_service_that_names_a_time_is_asked_then_and_never_at_once_for_ever() {
        let conversation = |times| {
            let failure = Failure::new(Class::RateLimited, "no");
            let throttled = (times > 0).then_some(crate::conversation::Throttled { failure, times });
            Conversation {
                throttled,
                ..samples::attempt::first().conversation
            }
        };
        let wait = |times, until: i64| {
            let failure = Failure {
                until: Some(Time(until * 1000)),
                ..Failure::new(Class::RateLimited, "no")
            };
            after(Some(&conversation(times)), &failure, Time(1_000_000))
                .wait
                .as_secs()
        };
        assert_eq!(wait(0, 1_090), 90);
        assert_eq!(
            [wait(0, 1_000), wait(1, 0), wait(9, 0)],
            [2, 4, 60],
            "it asks for no wait"
        );
        assert_eq!(wait(0, i64::MAX / 1000), 24 * 3600, "a slip of the service");
    }

    #[test]
    fn a_session_that_is_not_known_is_replaced_at_once_and_then_with_patience() {
        let states = fails(&[Class::SessionMissing; 5]);
        assert_eq!(waits(&states), [0, 4, 8, 16]);
        assert_eq!(states[4], State::Stuck { why: Stuck::Errors });
    }

    #[test]
    fn a_fresh_session_is_tried_once() {
        for class in [Class::Timeout, Class::SessionInUse] {
            let states = fails(&[class, class]);
            assert_eq!(
                (waits(&states), &states[1]),
                (vec![2], &State::Stuck { why: Stuck::Errors })
            );
            assert_eq!(
                waits(&fails(&[class, Class::Crash, class])),
                [2, 4, 8],
                "not in a row"
            );
        }
    }

    #[test]
    fn a_step_that_is_lost_counts_by_the_workspace_that_it_left() {
        let lost = |message: &str, left: Option<&str>| Failure {
            left: left.map(str::to_owned),
            ..Failure::new(Class::Lost, message)
        };
        let mut conversation = samples::attempt::first().conversation;
        let mut left = |failure: Failure| {
            let next = after(Some(&conversation), &failure, Time(0));
            conversation.repeats = match conversation.failure.as_ref().is_some_and(|f| f.is_same(&failure)) {
                true => conversation.repeats + 1,
                false => 1,
            };
            conversation.failure = Some(failure);
            next.repeats_left
        };
        assert_eq!(left(lost("killed", Some("a"))), 2);
        assert_eq!(left(lost("gone", Some("a"))), 1, "however it was lost");
        assert_eq!(left(lost("gone", Some("b"))), 2, "it had worked");
        assert_eq!(left(lost("gone", Some("b"))), 1);
        assert_eq!(left(lost("gone", Some("b"))), 0);
        assert_eq!(
            [
                left(lost("gone", None)),
                left(lost("gone", None)),
                left(lost("gone", None))
            ],
            [3; 3],
            "nobody knows what it left"
        );
    }

    #[test]
    fn a_ticket_is_held_at_the_third_of_the_same_and_bad_credentials_at_once() {
        for class in [Class::MalformedOutput, Class::Crash, Class::Budget] {
            let states = fails(&[class; 3]);
            assert_eq!(
                (waits(&states), &states[2]),
                (
                    vec![2, 4],
                    &State::Stuck {
                        why: Stuck::NoProgress
                    }
                )
            );
        }
        assert_eq!(fails(&[Class::Auth]), [State::Stuck { why: Stuck::Auth }]);
    }
}
