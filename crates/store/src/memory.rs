//! The journal in memory: the contract without a disk, for tests and the simulator.

use std::collections::BTreeSet;
use std::future::{Future, Ready, ready};
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use crate::subscription::{Notices, Others};
use crate::{
    Append, Appended, CachedView, Command, CommandId, Effect, EffectId, Error, Event, Journal, NewCommand,
    NewView, Number, Record, Result, Seq, Slot, Stream, StreamId, Submitted, Subscription, Time, Timer,
    TimerRef, Version, ViewArchive, Which,
};

mod contents;
mod table;

use contents::Contents;

/// A journal in memory. Clones are handles to one journal. Its futures never wait, but for
/// [`wait`](Journal::wait).
#[derive(Clone, Debug)]
pub struct Memory {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    inner: Mutex<Inner>,
    notices: Notices,
}

#[derive(Debug)]
struct Inner {
    /// Shared with the snapshots; copied by the first write after one.
    contents: Arc<Contents>,
    /// Appends until a fault, 1 being the next, and the fault.
    fault: Option<(u64, Fault)>,
}

/// The way in which an append is made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails, and nothing was written.
    Before,
    /// It fails, though everything was written: the ambiguous outcome.
    After,
}

/// The contents of a journal at a moment, as a disk would have them.
#[derive(Clone, Debug)]
pub struct Snapshot(Arc<Contents>);

impl Memory {
    /// An empty journal with this id.
    #[must_use]
    pub fn new(id: &str) -> Self {
        let mut contents = Contents::default();
        contents.meta.put("id".to_owned(), id.to_owned());
        contents.meta.commit();
        Self::restored(&Snapshot(Arc::new(contents)))
    }

    /// A new journal with the contents of the snapshot: the disk after a crash.
    #[must_use]
    pub fn restored(snapshot: &Snapshot) -> Self {
        let inner = Mutex::new(Inner {
            contents: Arc::clone(&snapshot.0),
            fault: None,
        });
        Self {
            shared: Arc::new(Shared {
                inner,
                notices: Notices::new(),
            }),
        }
    }

    /// The contents now. Cheap; the next write pays for a copy.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(Arc::clone(&self.lock().contents))
    }

    /// Puts the contents back to a snapshot, for every handle, and forgets a fault that has not struck.
    pub fn restore(&self, snapshot: &Snapshot) {
        let mut inner = self.lock();
        inner.contents = Arc::clone(&snapshot.0);
        inner.fault = None;
        drop(inner);
        self.shared.notices.send();
    }

    /// Lets the `nth` append from now (1 is the next) fail with [`Error::Io`], once.
    pub fn fail_append(&self, nth: u64, fault: Fault) {
        self.lock().fault = Some((nth, fault));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.shared.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, read: impl FnOnce(&Contents) -> T) -> Ready<Result<T>> {
        ready(Ok(read(&self.lock().contents)))
    }

    fn write<T>(&self, write: impl FnOnce(&mut Contents) -> Result<T>) -> Ready<Result<T>> {
        let result = Arc::make_mut(&mut self.lock().contents).transaction(write);
        if result.is_ok() {
            self.shared.notices.send();
        }
        ready(result)
    }
}

impl Inner {
    /// The fault that strikes this append, if one does.
    fn strike(&mut self) -> Option<Fault> {
        let (left, fault) = self.fault?;
        self.fault = (left > 1).then_some((left - 1, fault));
        (left <= 1).then_some(fault)
    }
}

fn planted() -> Error {
    let source = Arc::new(std::io::Error::other("planted fault"));
    Error::Io {
        doing: "appending to the journal".to_owned(),
        source,
    }
}

/// At most `limit` of the rows, cloned.
fn page<'a, T: Clone + 'a>(rows: impl Iterator<Item = &'a T>, limit: u32) -> Vec<T> {
    rows.take(limit as usize).cloned().collect()
}

impl Journal for Memory {
    fn append(&self, batch: Vec<Append>) -> impl Future<Output = Result<Vec<Appended>>> + Send {
        let strike = self.lock().strike();
        if strike == Some(Fault::Before) {
            return ready(Err(planted()));
        }
        if let Some(refused) = batch.iter().find_map(|append| append.check().err()) {
            return ready(Err(refused));
        }
        let written = self.write(|contents| batch.iter().map(|append| contents.append(append)).collect());
        match strike {
            None => written,
            Some(Fault::Before | Fault::After) => {
                ready(written.into_inner().and_then(|_durable| Err(planted())))
            }
        }
    }

    fn load(&self, stream: &StreamId) -> impl Future<Output = Result<Option<Stream>>> + Send {
        self.read(|contents| contents.streams.get(stream).cloned())
    }

    fn streams(
        &self,
        which: Which,
        after: Option<&StreamId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Stream>>> + Send {
        let after = after.map_or(Bound::Unbounded, |after| Bound::Excluded(after.clone()));
        self.read(|contents| {
            let rows = contents
                .streams
                .rows()
                .range((after, Bound::Unbounded))
                .map(|(_, stream)| stream);
            page(rows.filter(|stream| which.wants(stream.archived)), limit)
        })
    }

    fn archive(&self, stream: &StreamId) -> impl Future<Output = Result<()>> + Send {
        self.write(|contents| contents.archive(stream))
    }

    fn archived(&self, streams: &[StreamId]) -> impl Future<Output = Result<Vec<Stream>>> + Send {
        let ids: BTreeSet<&StreamId> = streams.iter().collect();
        self.read(|contents| {
            let rows = ids.into_iter().filter_map(|id| contents.streams.get(id));
            rows.filter(|stream| stream.archived).cloned().collect()
        })
    }

    fn events(&self, after: Seq, limit: u32) -> impl Future<Output = Result<Vec<Event>>> + Send {
        self.read(|contents| {
            let rows = contents
                .events
                .rows()
                .range((Bound::Excluded(after), Bound::Unbounded));
            page(rows.map(|(_, event)| event.as_ref()), limit)
        })
    }

    fn events_of(
        &self,
        stream: &StreamId,
        after: Seq,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Event>>> + Send {
        self.read(|contents| page(contents.events_of(stream, after), limit))
    }

    fn event_of(
        &self,
        stream: &StreamId,
        version: Version,
    ) -> impl Future<Output = Result<Option<Event>>> + Send {
        self.read(|contents| {
            let mut latest_first = contents.events_of(stream, Seq(0)).rev();
            latest_first.find(|event| event.version == version).cloned()
        })
    }

    fn head(&self) -> impl Future<Output = Result<Seq>> + Send {
        self.read(Contents::head)
    }

    fn subscribe(&self) -> Subscription {
        self.shared.notices.subscribe(Others::None)
    }

    async fn close(&self) {}

    fn pending(&self, now: Time, limit: u32) -> impl Future<Output = Result<Vec<Effect>>> + Send {
        self.read(|contents| {
            let rows = contents
                .undone
                .rows()
                .keys()
                .filter_map(|id| contents.outbox.get(id));
            page(
                rows.filter(|effect| effect.run_at.is_none_or(|run_at| run_at <= now)),
                limit,
            )
        })
    }

    fn next_run(&self) -> impl Future<Output = Result<Option<Time>>> + Send {
        self.read(|contents| {
            let rows = contents
                .undone
                .rows()
                .keys()
                .filter_map(|id| contents.outbox.get(id));
            rows.filter_map(|effect| effect.run_at).min()
        })
    }

    fn effect(&self, effect: EffectId) -> impl Future<Output = Result<Option<Effect>>> + Send {
        self.read(|contents| contents.outbox.get(&effect).cloned())
    }

    fn tried(
        &self,
        effect: EffectId,
        run_at: Time,
        why: Option<String>,
    ) -> impl Future<Output = Result<()>> + Send {
        self.write(move |contents| contents.tried(effect, run_at, why))
    }

    fn done(&self, effect: EffectId, at: Time) -> impl Future<Output = Result<()>> + Send {
        self.write(|contents| contents.done(effect, at))
    }

    fn due(&self, now: Time, limit: u32) -> impl Future<Output = Result<Vec<Timer>>> + Send {
        self.read(|contents| {
            let rows = contents
                .armed
                .rows()
                .iter()
                .take_while(|((due, ..), _)| *due <= now);
            rows.take(limit as usize)
                .map(|((due, stream, key), generation)| Timer {
                    timer: TimerRef {
                        stream: stream.clone(),
                        key: key.clone(),
                        generation: *generation,
                    },
                    due: *due,
                })
                .collect()
        })
    }

    fn next_due(&self) -> impl Future<Output = Result<Option<Time>>> + Send {
        self.read(|contents| contents.armed.rows().first_key_value().map(|((due, ..), _)| *due))
    }

    fn timers_of(&self, stream: &StreamId) -> impl Future<Output = Result<Vec<Timer>>> + Send {
        self.read(|contents| {
            let rows = contents.timers.rows().range((stream.clone(), String::new())..);
            rows.take_while(|((id, _), _)| id == stream)
                .filter_map(|((_, key), clock)| {
                    let (stream, key, generation) = (stream.clone(), key.clone(), clock.generation);
                    clock.due.map(|due| Timer {
                        timer: TimerRef {
                            stream,
                            key,
                            generation,
                        },
                        due,
                    })
                })
                .collect()
        })
    }

    fn slots(&self) -> impl Future<Output = Result<Vec<Slot>>> + Send {
        self.read(|contents| contents.slots.rows().values().cloned().collect())
    }

    fn submit(&self, command: NewCommand) -> impl Future<Output = Result<Submitted>> + Send {
        match command.check() {
            Ok(()) => self.write(|contents| Ok(contents.submit(command))),
            Err(refused) => ready(Err(refused)),
        }
    }

    fn pending_commands(
        &self,
        after: Number,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Command>>> + Send {
        self.read(|contents| {
            let rows = contents
                .unanswered
                .rows()
                .range((Bound::Excluded(after), Bound::Unbounded));
            page(
                rows.filter_map(|(number, ())| contents.commands.get(number)),
                limit,
            )
        })
    }

    fn command(&self, id: &CommandId) -> impl Future<Output = Result<Option<Command>>> + Send {
        self.read(|contents| contents.command(id))
    }

    fn answer(&self, id: &CommandId, outcome: String, at: Time) -> impl Future<Output = Result<()>> + Send {
        match crate::append::json("answer to", id.as_str(), &outcome) {
            Ok(()) => self.write(|contents| contents.answer(id, &outcome, at)),
            Err(refused) => ready(Err(refused)),
        }
    }

    fn meta(&self, key: &str) -> impl Future<Output = Result<Option<String>>> + Send {
        self.read(|contents| contents.meta.rows().get(key).cloned())
    }

    fn set_meta(&self, key: &str, value: &str) -> impl Future<Output = Result<()>> + Send {
        match crate::journal::own(key) {
            Ok(()) => self.write(|contents| {
                contents.meta.put(key.to_owned(), value.to_owned());
                Ok(())
            }),
            Err(refused) => ready(Err(refused)),
        }
    }

    fn verify(&self) -> impl Future<Output = Result<Vec<String>>> + Send {
        self.read(Contents::verify)
    }
}

impl ViewArchive for Memory {
    fn save_view(
        &self,
        view: NewView,
        records: Vec<Record>,
    ) -> impl Future<Output = Result<Option<Vec<StreamId>>>> + Send {
        if let Err(refused) = crate::append::records(&records) {
            return ready(Err(refused));
        }
        self.write(|contents| contents.save_view(&view, &records))
    }

    fn cached_view(&self) -> impl Future<Output = Result<Option<CachedView>>> + Send {
        self.read(|contents| contents.cached_view.get(&()).copied())
    }

    fn piece(&self, number: u64) -> impl Future<Output = Result<Option<String>>> + Send {
        self.read(|contents| contents.pieces.get(&number).cloned())
    }

    fn record(&self, stream: &StreamId) -> impl Future<Output = Result<Option<Record>>> + Send {
        self.read(|contents| contents.records.get(stream).cloned())
    }

    fn records(
        &self,
        after: Option<&StreamId>,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<Record>>> + Send {
        let after = after.map_or(Bound::Unbounded, |after| Bound::Excluded(after.clone()));
        self.read(|contents| {
            let rows = contents.records.rows().range((after, Bound::Unbounded));
            page(rows.map(|(_, record)| record), limit)
        })
    }

    async fn briefs(&self, after: Option<&StreamId>, limit: u32) -> Result<Vec<Record>> {
        let mut records = self.records(after, limit).await?;
        for record in &mut records {
            record.rest.clear();
        }
        Ok(records)
    }
}
