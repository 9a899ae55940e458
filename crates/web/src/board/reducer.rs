//! The reducer: what may have changed of the documents gives the frames of what did. It has no clock and no
//! I/O.

use std::collections::VecDeque;
use std::sync::Arc;

use model::Time;

use super::Cut;
use super::document::{Documents, Key, Patch, View};

/// The frames of the latest turns that are kept for pages that come back.
const KEPT: usize = 4_096;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A document is new or has changed.
    Put {
        /// Its kind and key.
        key: Key,
        /// It, as JSON.
        json: Arc<str>,
    },
    /// A document is gone.
    Del {
        /// Its kind and key.
        key: Key,
    },
    /// The journal has another row, as JSON.
    Row {
        /// Its place in the journal.
        seq: u64,
        /// The event.
        json: Arc<str>,
    },
}

/// The changes from one cut to the next, which a page takes in at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The cut before them.
    pub(crate) before: Cut,
    /// The changes.
    pub(crate) frames: Vec<Frame>,
    /// The cut with them.
    pub(crate) cut: Cut,
    /// The time of the cut.
    pub(crate) at: Time,
}

impl Turn {
    /// The number of its frames, with the mark that ends it.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.frames.len() + 1
    }
}

/// The documents as pages have them, and the latest turns.
#[derive(Debug)]
pub(crate) struct Reducer {
    cut: Cut,
    documents: Arc<Documents>,
    turns: VecDeque<Arc<Turn>>,
    /// The number of frames in the turns.
    kept: usize,
}

impl Reducer {
    /// Without a document.
    #[must_use]
    pub(crate) fn new(epoch: &str) -> Self {
        Self {
            cut: Cut {
                epoch: epoch.into(),
                seq: 0,
                n: 0,
            },
            documents: Arc::default(),
            turns: VecDeque::new(),
            kept: 0,
        }
    }

    /// The documents as they are now.
    #[must_use]
    pub(crate) fn view(&self) -> View {
        View {
            cut: self.cut.clone(),
            documents: Arc::clone(&self.documents),
        }
    }

    /// The present cut.
    #[must_use]
    pub(crate) fn cut(&self) -> &Cut {
        &self.cut
    }

    /// Takes in what may have changed of the documents up to the row `seq`, and the rows since the last turn.
    /// Gives the turn, unless nothing has changed.
    pub(super) fn update(
        &mut self,
        patch: Patch,
        rows: Vec<(u64, Arc<str>)>,
        seq: u64,
        at: Time,
    ) -> Option<Arc<Turn>> {
        let mut frames: Vec<Frame> = rows
            .into_iter()
            .map(|(seq, json)| Frame::Row { seq, json })
            .collect();
        // Whoever has the documents of the last cut keeps them.
        let documents = Arc::make_mut(&mut self.documents);
        for (key, json) in patch {
            if documents.set(&key, json.as_ref()) {
                frames.push(match json {
                    Some(json) => Frame::Put { key, json },
                    None => Frame::Del { key },
                });
            }
        }
        if frames.is_empty() && seq == self.cut.seq {
            return None;
        }
        let n = if seq == self.cut.seq { self.cut.n + 1 } else { 0 };
        let cut = Cut {
            epoch: Arc::clone(&self.cut.epoch),
            seq,
            n,
        };
        let turn = Arc::new(Turn {
            before: std::mem::replace(&mut self.cut, cut.clone()),
            frames,
            cut,
            at,
        });
        self.keep(&turn);
        Some(turn)
    }

    /// Begins anew, with another journal: no cut from before can be resumed.
    pub(crate) fn restart(&mut self, epoch: &str) {
        *self = Self::new(epoch);
    }

    /// The turns after a cut; none where they are not known any more.
    #[must_use]
    pub(crate) fn after(&self, cut: &Cut) -> Option<Vec<Arc<Turn>>> {
        if *cut == self.cut {
            return Some(Vec::new());
        }
        let first = self.turns.iter().position(|turn| turn.before == *cut)?;
        Some(self.turns.iter().skip(first).cloned().collect())
    }

    fn keep(&mut self, turn: &Arc<Turn>) {
        self.kept += turn.len();
        self.turns.push_back(Arc::clone(turn));
        while self.kept > KEPT
            && let Some(oldest) = self.turns.pop_front()
        {
            self.kept -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::document::{Kind, patch};

    /// Documents from `key=json` words.
    fn documents(words: &str) -> Documents {
        let mut documents = Documents::default();
        for word in words.split_whitespace() {
            let (key, json) = word.split_once('=').unwrap();
            documents.put(Kind::Ticket, key, json.into());
        }
        documents
    }

    /// The documents of a page that takes in turns.
    fn taken(mut documents: Documents, turns: &[Arc<Turn>]) -> Documents {
        for frame in turns.iter().flat_map(|turn| &turn.frames) {
            match frame {
                Frame::Put { key, json } => {
                    documents.set(key, Some(json));
                }
                Frame::Del { key } => {
                    documents.set(key, None);
                }
                Frame::Row { .. } => {}
            }
        }
        documents
    }

    fn words(turn: &Turn) -> Vec<String> {
        let frames = turn.frames.iter().map(|frame| match frame {
            Frame::Put { key, json } => format!("put {}={json}", key.1),
            Frame::Del { key } => format!("del {}", key.1),
            Frame::Row { seq, .. } => format!("row {seq}"),
        });
        frames.chain([turn.cut.to_string()]).collect()
    }

    #[test]
    fn only_what_changed_is_told_and_nothing_where_nothing_did() {
        let mut reducer = Reducer::new("e");
        let mut update = |documents_: &str, rows: &[u64], seq| {
            let rows = rows.iter().map(|seq| (*seq, Arc::from("{}"))).collect();
            let change = patch(&reducer.documents, &documents(documents_));
            let turn = reducer.update(change, rows, seq, Time(0));
            turn.map(|turn| words(&turn))
        };
        let some = |frames: &[&str]| Some(frames.iter().map(|frame| (*frame).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            update("a=1 b=1", &[1], 1),
            some(&["row 1", "put a=1", "put b=1", "e.1.0"])
        );
        assert_eq!(update("a=1 b=1", &[], 1), None);
        // What no row says counts at the same row.
        assert_eq!(update("a=1 b=2", &[], 1), some(&["put b=2", "e.1.1"]));
        // A row without a change of a document is told all the same.
        assert_eq!(update("a=1 b=2", &[2, 3], 3), some(&["row 2", "row 3", "e.3.0"]));
        assert_eq!(update("b=2 c=1", &[], 3), some(&["del a", "put c=1", "e.3.1"]));
    }

    /// The same numbers again for the same seed.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % limit
        }
    }

    #[test]
    fn any_cut_and_the_frames_after_it_give_the_view_and_exactly_the_rows_since() {
        for seed in 0..200 {
            let mut random = Random(seed);
            let mut reducer = Reducer::new("e");
            let mut views = vec![reducer.view()];
            let mut seq = 0;
            for _ in 0..30 {
                let before = seq;
                seq += random.below(3);
                let mut after = Documents::default();
                for key in 0..6 {
                    if random.below(4) > 0 {
                        after.put(Kind::Ticket, &key.to_string(), random.below(3).to_string().into());
                    }
                }
                let rows = (before + 1..=seq).map(|seq| (seq, Arc::from("{}"))).collect();
                let change = patch(&reducer.documents, &after);
                reducer.update(change, rows, seq, Time(0));
                views.push(reducer.view());
            }
            let last = reducer.view();
            for view in views {
                let turns = reducer.after(&view.cut).unwrap();
                let rows: Vec<u64> = turns
                    .iter()
                    .flat_map(|turn| &turn.frames)
                    .filter_map(|frame| match frame {
                        Frame::Row { seq, .. } => Some(*seq),
                        Frame::Put { .. } | Frame::Del { .. } => None,
                    })
                    .collect();
                assert_eq!(
                    taken(Documents::clone(&view.documents), &turns),
                    *last.documents,
                    "{seed}"
                );
                assert_eq!(
                    rows,
                    (view.cut.seq + 1..=last.cut.seq).collect::<Vec<_>>(),
                    "{seed}"
                );
            }
        }
    }

    #[test]
    fn a_cut_that_is_too_old_or_of_another_life_cannot_be_resumed() {
        let mut reducer = Reducer::new("e");
        let first = reducer.view().cut;
        let two = |n: usize| documents(&format!("a={n} b={n}"));
        for n in 0..KEPT {
            let change = patch(&reducer.documents, &two(n));
            reducer.update(change, Vec::new(), 0, Time(0));
        }
        assert_eq!(reducer.after(&first), None);
        assert!(reducer.kept <= KEPT);
        let last = reducer.view().cut;
        assert_eq!(reducer.after(&last), Some(Vec::new()));
        // One that was never given, and one of the life before.
        assert_eq!(
            reducer.after(&Cut {
                n: last.n + 1,
                ..last.clone()
            }),
            None
        );
        reducer.restart("f");
        assert_eq!(reducer.after(&last), None);
    }
}
