//! The board: everything that the page shows of one repository, followed as it changes.
//!
//! One task for each repository follows the journal, the ticket folder, the engine and the runs of agents. It
//! derives the documents ([`derive`]), and [`reducer`] gives the frames of what changed to the pages that
//! have subscribed. A page that is slow holds nobody up: its queue is emptied, and it begins anew.

mod cut;
mod derive;
mod document;
mod reducer;
mod subscription;
mod task;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use client::Place;
use client::following::{Begin, Files, Following, Seen};
use model::Time;
use model::view::{Item, Snapshot};
use serde_json::Value;
use store::Ledger;
use tokio::sync::{Notify, mpsc, oneshot, watch};

pub(crate) use cut::Cut;
pub(crate) use derive::TicketDocument;
pub(crate) use document::View;
pub(crate) use reducer::{Frame, Turn};
pub(crate) use subscription::{Next, Subscription};

use crate::asking::Asked;
use document::{Patch, json};
use reducer::Reducer;
use subscription::Queue;
use task::Task;

/// How long a page waits at most for a look at what nobody gives notice of.
const REFRESH: Duration = Duration::from_millis(700);
/// How long it waits at most for the first look of all.
const FIRST: Duration = Duration::from_secs(5);
/// How long a command of a page is shown.
const ASKED: Duration = Duration::from_secs(10 * 60);

/// The board of one repository. A clone is the same board.
#[derive(Clone)]
pub struct Board {
    shared: Arc<Shared>,
    refresh: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

/// What the following task and the handlers have together.
pub(crate) struct Shared {
    place: Place,
    /// What the task has seen last.
    seen: watch::Receiver<Seen>,
    pages: Mutex<Pages>,
    /// What waits for a person, as it was derived last.
    items: RwLock<Arc<[Item]>>,
    asked: Mutex<BTreeMap<String, (Time, Arc<str>)>>,
    /// Something is to be shown that no row says.
    changed: Notify,
}

/// The documents, and the pages that have subscribed to them.
struct Pages {
    reducer: Reducer,
    queues: Vec<Weak<Queue>>,
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Board")
            .field("root", &self.shared.place.root)
            .finish_non_exhaustive()
    }
}

impl Board {
    /// Follows the repository from now on. This needs a tokio runtime.
    #[must_use]
    pub fn start(place: Place) -> Self {
        let following = Following::new(place.clone(), Begin::Snapshot);
        let shared = Arc::new(Shared {
            place,
            seen: following.seen(),
            pages: Mutex::new(Pages {
                reducer: Reducer::new(&epoch()),
                queues: Vec::new(),
            }),
            items: RwLock::new(Arc::from([])),
            asked: Mutex::default(),
            changed: Notify::new(),
        });
        let (refresh, asked) = mpsc::unbounded_channel();
        tokio::spawn(Task::new(&shared, following, asked).until_dropped());
        Self { shared, refresh }
    }

    /// The documents as they were derived last.
    #[must_use]
    pub(crate) fn view(&self) -> View {
        self.shared.pages().reducer.view()
    }

    /// The documents, after a look at what nobody gives notice of while no page has subscribed.
    pub(crate) async fn fresh_view(&self) -> View {
        let is_first = !self.files().is_read;
        if is_first || self.shared.pages().subscribers() == 0 {
            let (done, looked) = oneshot::channel();
            let most = if is_first { FIRST } else { REFRESH };
            if self.refresh.send(done).is_ok() {
                // A look that takes its time is not waited for: what was derived last is whole too.
                let _ = tokio::time::timeout(most, looked).await;
            }
        }
        self.view()
    }

    /// Waits for the first look of all: before that, nothing seems to wait for anybody.
    pub(crate) async fn ready(&self) {
        if !self.files().is_read {
            self.fresh_view().await;
        }
    }

    /// The fold of the journal, without archived tickets.
    #[must_use]
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.shared.seen.borrow().crew)
    }

    /// The journal; none before anything was ever asked or run here, and where it cannot be read.
    #[must_use]
    pub(crate) fn ledger(&self) -> Option<Ledger> {
        self.shared.seen.borrow().ledger.clone()
    }

    /// Subscribes to the changes after a cut; without one, or where it is not known any more, the page begins
    /// anew.
    #[must_use]
    pub(crate) fn subscribe(&self, after: Option<&Cut>) -> Subscription {
        let mut pages = self.shared.pages();
        let since = after.and_then(|cut| pages.reducer.after(cut));
        let subscription = Subscription::new(pages.reducer.cut(), since);
        pages.queues.push(subscription.queue());
        drop(pages);
        // The engine and the runs of agents are looked at while somebody has subscribed.
        self.shared.changed.notify_one();
        subscription
    }

    /// The number of pages that have subscribed.
    #[must_use]
    pub(crate) fn subscribers(&self) -> usize {
        self.shared.pages().subscribers()
    }

    /// Shows what became of a command of a page, for some minutes.
    pub(crate) fn put_asked(&self, asked: Asked) {
        let now = client::clock::now();
        let document = json(&asked);
        let mut known = self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(asked.id, (now, document));
        drop(known);
        self.shared.changed.notify_one();
    }

    /// Everything that waits for a person, as it was derived last.
    #[must_use]
    pub(crate) fn items(&self) -> Arc<[Item]> {
        Arc::clone(&self.shared.items.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// One of [`items`](Self::items).
    #[must_use]
    pub(crate) fn item(&self, id: &str) -> Option<Item> {
        self.items().iter().find(|item| item.id == id).cloned()
    }

    /// A document as it was derived last, by the name of its kind and its key.
    #[must_use]
    pub(crate) fn document(&self, kind: &str, key: &str) -> Option<Value> {
        let documents = self.view().documents;
        let mut all = documents.iter();
        let ((_, _), json) = all.find(|((of, named), _)| of.name() == kind && **named == *key)?;
        serde_json::from_str(json).ok()
    }

    /// Whether an engine runs here, as it was looked at last.
    #[must_use]
    pub(crate) fn has_engine(&self) -> bool {
        self.shared.seen.borrow().has_engine()
    }

    /// The facts of the ticket folder, as they were read last.
    pub(crate) fn files(&self) -> Arc<Files> {
        Arc::clone(&self.shared.seen.borrow().files)
    }
}

impl Shared {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The commands of pages that are still shown.
    fn asked(&self, now: Time) -> BTreeMap<String, Arc<str>> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|_, (at, _)| now.since(*at) < ASKED);
        asked
            .iter()
            .map(|(id, (_, json))| (id.clone(), Arc::clone(json)))
            .collect()
    }

    /// Takes in what was derived, and tells it to the pages.
    fn update(&self, patch: Patch, rows: Vec<(u64, Arc<str>)>, seq: u64, at: Time) {
        let mut pages = self.pages();
        if let Some(turn) = pages.reducer.update(patch, rows, seq, at) {
            pages.each(|queue| queue.offer(&turn));
        }
    }

    /// Has every page begin anew: the journal is another one.
    fn restart(&self) {
        let mut pages = self.pages();
        pages.reducer.restart(&epoch());
        let cut = pages.reducer.cut().clone();
        pages.each(|queue| queue.reset(&cut));
    }
}

impl Pages {
    fn each(&mut self, mut each: impl FnMut(&Queue)) {
        self.queues
            .retain(|queue| queue.upgrade().inspect(|queue| each(queue)).is_some());
    }

    fn subscribers(&self) -> usize {
        self.queues
            .iter()
            .filter(|queue| queue.strong_count() > 0)
            .count()
    }
}

/// The name of a life of a board, which no other has.
fn epoch() -> String {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => format!("{:016x}", u64::from_le_bytes(bytes)),
        // Two lives of one server begin at different times.
        Err(_) => format!("{:016x}", client::clock::now().0),
    }
}
