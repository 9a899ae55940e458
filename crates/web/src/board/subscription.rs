//! Subscriptions to a board: a queue of turns for each page, which never holds the board up.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::Notify;

use super::Cut;
use super::reducer::Turn;

/// The frames that wait for a slow page. With more it begins anew.
const MOST: usize = 1_024;

/// A page's end of the queue.
#[derive(Debug)]
pub(crate) struct Subscription {
    queue: Arc<Queue>,
    /// Whether it goes on at the cut that was asked for.
    pub(crate) resumed: bool,
    /// The cut at which it begins: what it gives comes after it.
    pub(crate) begins: Cut,
}

/// What a page is told next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Changes.
    Turn(Arc<Turn>),
    /// The page has missed changes: it loads the view anew. What follows comes after this cut.
    Reset(Cut),
}

/// The turns that wait for a page.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    more: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    turns: VecDeque<Waits>,
    /// The number of their frames that count.
    frames: usize,
    /// The page is to begin anew, behind this cut.
    reset: Option<Cut>,
}

/// A turn that waits.
#[derive(Debug)]
struct Waits {
    turn: Arc<Turn>,
    /// Its frames that count: those of a turn that was kept for the page do not, however many there are.
    counts: usize,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Offers a turn; a queue that overflows is emptied, and its page begins anew.
    pub(super) fn offer(&self, turn: &Arc<Turn>) {
        let mut waiting = self.waiting();
        if waiting.frames + turn.len() > MOST {
            waiting.reset(turn.cut.clone());
        } else {
            let counts = turn.len();
            waiting.frames += counts;
            waiting.turns.push_back(Waits {
                turn: Arc::clone(turn),
                counts,
            });
        }
        drop(waiting);
        self.more.notify_one();
    }

    /// Has the page begin anew, behind a cut.
    pub(super) fn reset(&self, cut: &Cut) {
        self.waiting().reset(cut.clone());
        self.more.notify_one();
    }
}

impl Waiting {
    fn reset(&mut self, cut: Cut) {
        self.turns.clear();
        self.frames = 0;
        self.reset = Some(cut);
    }

    fn next(&mut self) -> Option<Next> {
        if let Some(cut) = self.reset.take() {
            return Some(Next::Reset(cut));
        }
        let Waits { turn, counts } = self.turns.pop_front()?;
        self.frames -= counts;
        Some(Next::Turn(turn))
    }
}

impl Subscription {
    /// With the turns since the cut that was asked for; where they are not known, the page begins anew at
    /// `now`.
    pub(super) fn new(now: &Cut, since: Option<Vec<Arc<Turn>>>) -> Self {
        let queue = Arc::new(Queue::default());
        let resumed = since.is_some();
        let begins = match since.as_deref().and_then(<[_]>::first) {
            Some(first) => first.before.clone(),
            None => now.clone(),
        };
        let mut waiting = queue.waiting();
        match since {
            Some(turns) => {
                let kept = turns.into_iter().map(|turn| Waits { turn, counts: 0 });
                waiting.turns = kept.collect();
            }
            None => waiting.reset(now.clone()),
        }
        drop(waiting);
        Self {
            queue,
            resumed,
            begins,
        }
    }

    pub(super) fn queue(&self) -> Weak<Queue> {
        Arc::downgrade(&self.queue)
    }

    /// Waits for what comes next.
    pub(crate) async fn next(&mut self) -> Next {
        loop {
            // A notice that comes between the look and the wait is kept.
            if let Some(told) = self.queue.waiting().next() {
                return told;
            }
            self.queue.more.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::document::{Documents, Kind, patch};
    use crate::board::reducer::Reducer;
    use model::Time;

    fn next(subscription: &mut Subscription) -> Option<Next> {
        subscription.queue.waiting().next()
    }

    /// A turn in which `n` documents change.
    fn turn(reducer: &mut Reducer, n: usize, to: usize) -> Arc<Turn> {
        let mut documents = Documents::default();
        for key in 0..n {
            documents.put(Kind::Ticket, &key.to_string(), to.to_string().into());
        }
        let change = patch(&reducer.view().documents, &documents);
        reducer.update(change, Vec::new(), 0, Time(0)).unwrap()
    }

    #[test]
    fn a_page_that_does_not_read_begins_anew_and_holds_nobody_up() {
        let mut reducer = Reducer::new("e");
        let mut slow = Subscription::new(reducer.cut(), Some(Vec::new()));
        let mut quick = Subscription::new(reducer.cut(), Some(Vec::new()));
        for to in 0..MOST {
            let turn = turn(&mut reducer, 3, to);
            for queue in [slow.queue(), quick.queue()] {
                queue.upgrade().unwrap().offer(&turn);
            }
            assert_eq!(next(&mut quick), Some(Next::Turn(turn)));
            assert!(slow.queue.waiting().frames <= MOST);
        }
        // Where it begins anew, what follows is exactly what came since.
        let Some(Next::Reset(mut cut)) = next(&mut slow) else {
            panic!("the slow page was told everything");
        };
        while let Some(told) = next(&mut slow) {
            let Next::Turn(turn) = told else {
                panic!("{told:?}");
            };
            assert_eq!(turn.before, cut);
            cut = turn.cut.clone();
        }
        assert_eq!(cut, *reducer.cut());
    }

    #[test]
    fn a_page_that_comes_back_is_told_all_that_was_kept_and_what_comes_then() {
        let mut reducer = Reducer::new("e");
        let had = reducer.cut().clone();
        let kept: Vec<_> = (0..500).map(|to| turn(&mut reducer, 3, to)).collect();
        let mut page = Subscription::new(reducer.cut(), reducer.after(&had));
        assert!(page.resumed);
        assert_eq!(page.begins, had);
        let last = turn(&mut reducer, 3, 500);
        page.queue().upgrade().unwrap().offer(&last);
        for turn in kept.into_iter().chain([last]) {
            assert_eq!(next(&mut page), Some(Next::Turn(turn)));
        }
        assert_eq!(next(&mut page), None);
    }
}
