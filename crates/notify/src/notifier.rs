//! The notifier: follows the inbox, and has the programs of the settings run with what is due.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use client::follow::{Changes, Follow};
use client::notifications::{Health, folder};
use client::repository::{journal, settings_or_default};
use client::{Error, GiveUp, Place, clock, engine, follow, inbox};
use model::Time;
use model::view::{Item, Snapshot};
use store::Ledger;
use tokio::sync::mpsc;

use crate::kept::{Kept, write_health};
use crate::lock::{Lock, Taken};
use crate::message::{Facts, Message};
use crate::plan::{Moment, Waiting, plan};
use crate::program::{Failure, send};
use crate::report::Report;
use crate::secrets::Secrets;
use crate::settings::{self, PAGE, Settings, To};

/// The longest time between two looks at the inbox when nothing reports a change: a disk may be full again,
/// and of some things nobody is told.
const POLL: Duration = Duration::from_secs(30);
/// A change is reported a little before it can be seen: it is looked again after each.
const AGAIN: Duration = Duration::from_millis(500);
/// The looks at that distance that follow a change.
const LOOKS: u32 = 4;
/// How long a notifier that ends waits for a program that it has ended.
const FAREWELL: Duration = Duration::from_secs(1);

/// How a notifier runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The caller's environment: programs get a part of it.
    env: BTreeMap<OsString, OsString>,
    /// The address that links begin with where the settings name none.
    page: String,
    mode: Mode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Once,
    Follow,
    Inside,
}

impl Options {
    /// Tells what is due now, and ends.
    #[must_use]
    pub fn once(env: BTreeMap<OsString, OsString>) -> Self {
        Self {
            env,
            page: PAGE.to_owned(),
            mode: Mode::Once,
        }
    }

    /// Goes on until it is stopped.
    #[must_use]
    pub fn follow(env: BTreeMap<OsString, OsString>) -> Self {
        Self {
            env,
            page: PAGE.to_owned(),
            mode: Mode::Follow,
        }
    }

    /// Goes on until it is stopped, or there are no settings any more.
    pub(crate) fn inside(env: BTreeMap<OsString, OsString>, page: Option<String>) -> Self {
        Self {
            env,
            page: page.unwrap_or_else(|| PAGE.to_owned()),
            mode: Mode::Inside,
        }
    }
}

/// How a notifier has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was stopped.
    Stopped,
    /// Everything that was due is told.
    Told,
    /// A program has not taken a message: the next notifier tries again.
    NotTold,
    /// Another notifier runs for this person and repository: which process, where that is known.
    Elsewhere(Option<u32>),
    /// The settings file is gone.
    NoSettings,
}

/// Follows the inbox of a repository, and has the programs of `notify.toml` run with what is due, until
/// `stop` comes. `tell` is called with what it does.
///
/// # Errors
/// The settings cannot be used at the beginning; what it has told cannot be kept; the journal cannot be read.
pub async fn run(
    place: &Place,
    options: &Options,
    stop: impl Future + Unpin,
    mut tell: impl FnMut(&Report),
) -> client::Result<End> {
    let read = Settings::read(place);
    let Some(folder) = folder(place) else {
        return Err(Error::refused(
            "neither HOME nor XDG_STATE_HOME is set, so there is no place for what was told",
            "set HOME",
        ));
    };
    let lock = match Lock::take(&folder)? {
        Taken::Here(lock) => lock,
        Taken::Elsewhere(pid) => {
            // The fault of the settings is the nearer one.
            read?;
            return Ok(End::Elsewhere(pid));
        }
    };
    let settings = match read {
        Ok(settings) => settings,
        Err(error) => {
            let health = Health {
                settings: Some(fault(&error)),
                ..Health::default()
            };
            write_health(&folder, &health)?;
            return Err(error);
        }
    };
    let (ended, ends) = mpsc::unbounded_channel();
    let notifier = Notifier {
        place,
        options,
        kept: Kept::load(&folder),
        folder,
        settings,
        fault: None,
        first_seen: BTreeMap::new(),
        flying: BTreeMap::new(),
        has_failed: false,
        health: None,
        ended,
        _lock: lock,
    };
    let programs = notifier.settings.to.iter().map(|to| to.program().to_owned());
    let programs: BTreeSet<String> = programs.collect();
    tell(&Report::Begins {
        programs: programs.into_iter().collect(),
    });
    notifier.follow(stop, ends, &mut tell).await
}

/// Waits for a change in a folder; for ever where there is none.
async fn told(changes: &mut Option<Changes>) {
    match changes {
        Some(changes) => changes.told().await,
        None => std::future::pending().await,
    }
}

/// The fault of the settings, in a line.
fn fault(error: &Error) -> String {
    let Report::Warning { what, .. } = Report::of(error) else {
        return String::new();
    };
    what.lines().next().unwrap_or_default().to_owned()
}

/// The name of a repository: its folder's.
pub(crate) fn repository(place: &Place) -> String {
    let name = place.root.file_name().unwrap_or_default().to_string_lossy();
    text::sanitise::line(&name)
}

/// A program that has ended.
struct Ended {
    to: To,
    message: Message,
    result: Result<(), Failure>,
}

struct Notifier<'a> {
    place: &'a Place,
    options: &'a Options,
    folder: PathBuf,
    kept: Kept,
    settings: Settings,
    /// The fault of the settings file since they were read last.
    fault: Option<String>,
    /// When each item was seen first that does not say since when it waits.
    first_seen: BTreeMap<String, Time>,
    /// The program that runs for each way, by its key.
    flying: BTreeMap<String, GiveUp>,
    /// The ways that have failed in this run.
    has_failed: bool,
    /// The health that was written last.
    health: Option<Health>,
    ended: mpsc::UnboundedSender<Ended>,
    _lock: Lock,
}

/// The journal as it is followed.
struct Journal {
    ledger: Ledger,
    rows: Follow,
}

impl Notifier<'_> {
    async fn follow(
        mut self,
        stop: impl Future + Unpin,
        mut ends: mpsc::UnboundedReceiver<Ended>,
        tell: &mut impl FnMut(&Report),
    ) -> client::Result<End> {
        let ledger = journal(self.place).await?;
        let mut crew = follow::present(ledger.as_ref()).await?;
        let mut rows = ledger.map(|ledger| Journal {
            rows: Follow::new(ledger.clone(), crew.seq),
            ledger,
        });
        let looked = self
            .until_stopped(stop, &mut ends, &mut crew, &mut rows, tell)
            .await;
        for give_up in self.flying.values() {
            give_up.now();
        }
        let all_ended = async {
            while !self.flying.is_empty()
                && let Some(ended) = ends.recv().await
            {
                self.flying.remove(&ended.to.key);
            }
        };
        // A program that cannot be ended is left.
        let _ = tokio::time::timeout(FAREWELL, all_ended).await;
        if let Some(journal) = rows {
            // Nobody else waits for the threads that have the journal open.
            journal.ledger.close().await;
        }
        looked
    }

    async fn until_stopped(
        &mut self,
        mut stop: impl Future + Unpin,
        ends: &mut mpsc::UnboundedReceiver<Ended>,
        crew: &mut Snapshot,
        journal: &mut Option<Journal>,
        tell: &mut impl FnMut(&Report),
    ) -> client::Result<End> {
        let mut files = Changes::of(&self.place.tickets_dir);
        let own = settings::path(self.place);
        let mut own = own.as_deref().and_then(Path::parent).map(Changes::of);
        let mut looks: u32 = 0;
        let mut failed_look = None;
        loop {
            if !self.renew(tell)? {
                return Ok(End::NoSettings);
            }
            let mut next = None;
            match self.look(crew, journal, &mut next).await {
                Ok(()) => failed_look = None,
                // It may be a moment's: the inbox is looked at again.
                Err(error) if self.options.mode != Mode::Once => {
                    let report = Report::of(&error);
                    if failed_look.as_ref() != Some(&report) {
                        tell(&report);
                        failed_look = Some(report);
                    }
                }
                Err(error) => return Err(error),
            }
            self.start(&mut next)?;
            self.note_health()?;
            if self.options.mode == Mode::Once && self.flying.is_empty() {
                return Ok(match self.has_failed {
                    true => End::NotTold,
                    false => End::Told,
                });
            }
            let poll = if looks > 0 { AGAIN } else { POLL };
            let until_due = next.map(|next| next.since(clock::now()));
            let wait = until_due.map_or(poll, |due| due.clamp(Duration::from_millis(10), poll));
            let changed = async {
                match journal.as_mut() {
                    Some(journal) => journal.rows.written().await,
                    None => std::future::pending().await,
                }
            };
            looks = looks.saturating_sub(1);
            tokio::select! {
                biased;
                _ = &mut stop => return Ok(End::Stopped),
                Some(ended) = ends.recv() => self.note(ended, tell)?,
                () = changed => looks = LOOKS,
                () = files.told() => looks = LOOKS,
                () = told(&mut own) => looks = LOOKS,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Reads the settings again. A file that cannot be used any more is told once, and the last good settings
    /// stand. `false` where the notifier is to end, since they are gone.
    fn renew(&mut self, tell: &mut impl FnMut(&Report)) -> client::Result<bool> {
        match Settings::read(self.place) {
            Ok(settings) => {
                self.settings = settings;
                self.fault = None;
            }
            Err(error) => {
                let is_there = settings::path(self.place).is_some_and(|path| path.exists());
                if !is_there && self.options.mode == Mode::Inside {
                    write_health(&self.folder, &Health::default())?;
                    return Ok(false);
                }
                let fault = fault(&error);
                if self.fault.as_ref() != Some(&fault) {
                    tell(&Report::of(&error));
                    self.fault = Some(fault);
                }
            }
        }
        Ok(true)
    }

    /// Looks at the inbox, and notes which messages are due.
    async fn look(
        &mut self,
        crew: &mut Snapshot,
        journal: &mut Option<Journal>,
        next: &mut Option<Time>,
    ) -> client::Result<()> {
        if journal.is_none()
            && let Some(ledger) = client::repository::journal(self.place).await?
        {
            *crew = follow::present(Some(&ledger)).await?;
            let rows = Follow::new(ledger.clone(), crew.seq);
            *journal = Some(Journal { ledger, rows });
        }
        if let Some(Journal { ledger, rows }) = journal {
            loop {
                let more = rows.more().await?;
                if more.is_empty() {
                    break;
                }
                for row in &more {
                    ledger.fold_row(crew, row).await?;
                }
            }
        }
        let settings = settings_or_default(self.place);
        let ledger = journal.as_ref().map(|journal| &journal.ledger);
        let items = inbox::gather(crew, self.place, &settings, ledger).await?;
        let now = clock::now();
        let minute = minute_of_day(now);
        let ids: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
        self.first_seen.retain(|id, _| ids.contains(id.as_str()));
        let is_once = self.options.mode == Mode::Once;
        let mut since = |item: &Item| match item.since {
            Some(since) => since.min(now),
            // Who looks once cannot see it wait.
            None if is_once => Time(0),
            None => *self.first_seen.entry(item.id.clone()).or_insert(now),
        };
        let waiting: Vec<Waiting<'_>> = items
            .iter()
            .map(|item| Waiting {
                since: since(item),
                item,
            })
            .collect();
        let names = self.settings.to.iter().flat_map(|to| &to.pass_env);
        let secrets = Secrets::of(&settings.0, names, &self.options.env);
        let facts = Facts {
            repository: &repository(self.place),
            url: self.settings.url.as_deref().unwrap_or(&self.options.page),
            crew,
            look: engine::look(engine::Engine::of(self.place)?.as_ref()),
            secrets: &secrets,
        };
        let before = self.kept.clone();
        *next = plan(
            &mut self.kept,
            &self.settings,
            &waiting,
            &facts,
            Moment { now, minute },
        );
        if self.kept != before {
            self.kept.save(&self.folder)?;
        }
        Ok(())
    }

    /// Has a program run for each way that has a message and no program that runs. `next` becomes the time at
    /// which there is more to do, if it is earlier.
    fn start(&mut self, next: &mut Option<Time>) -> client::Result<()> {
        let now = clock::now();
        let at = Moment {
            now,
            minute: minute_of_day(now),
        };
        let is_once = self.options.mode == Mode::Once;
        for to in &self.settings.to {
            // Who looks once tries each program until it fails.
            let has_failed = || self.kept.failure(to).is_some_and(|failed| failed.next > now.0);
            if self.flying.contains_key(&to.key) || (is_once && self.has_failed && has_failed()) {
                continue;
            }
            let Some(message) = self.kept.begin(to, at, is_once, next) else {
                continue;
            };
            self.kept.save(&self.folder)?;
            failpoint::hit("notify.noted");
            let give_up = GiveUp::default();
            self.flying.insert(to.key.clone(), give_up.clone());
            let (to, env, ended) = (to.clone(), self.options.env.clone(), self.ended.clone());
            let fly = {
                let (to, message, ended) = (to.clone(), message.clone(), ended.clone());
                move || {
                    let result = send(&to, &message, &env, &give_up);
                    // Nobody waits for it any more.
                    let _ = ended.send(Ended { to, message, result });
                }
            };
            let thread = std::thread::Builder::new().name("notify-program".to_owned());
            if let Err(error) = thread.spawn(fly) {
                let why = format!("no thread can be started: {}", text::os_message(&error));
                let result = Err(Failure::Failed(why));
                let _ = ended.send(Ended { to, message, result });
            }
        }
        Ok(())
    }

    /// Notes how a program has ended.
    fn note(&mut self, ended: Ended, tell: &mut impl FnMut(&Report)) -> client::Result<()> {
        let Ended { to, message, result } = ended;
        self.flying.remove(&to.key);
        let (program, id, title) = (to.program().to_owned(), message.id.clone(), message.title.clone());
        let report = match result {
            Ok(()) => {
                failpoint::hit("notify.sent");
                self.kept.delivered(&to, &message);
                Report::Told { program, id, title }
            }
            Err(Failure::GivenUp) => return Ok(()),
            Err(Failure::Failed(why)) => {
                self.has_failed = true;
                let given_up = self.kept.failed(&to, &message, why.clone(), clock::now());
                let failure = self.kept.failure(&to);
                Report::Failed {
                    program,
                    id,
                    title,
                    why,
                    tries: failure.map_or(1, |failure| failure.tries),
                    next: failure.map(|failure| Time(failure.next)).filter(|_| !given_up),
                }
            }
        };
        self.kept.save(&self.folder)?;
        failpoint::hit("notify.told");
        tell(&report);
        Ok(())
    }

    /// Writes which programs fail, for those who examine the repository.
    fn note_health(&mut self) -> client::Result<()> {
        let health = Health {
            settings: self.fault.clone(),
            failing: self.kept.failing(&self.settings),
        };
        if self.health.as_ref() != Some(&health) {
            write_health(&self.folder, &health)?;
            self.health = Some(health);
        }
        Ok(())
    }
}

impl Settings {
    /// Forgets the faults of a notifier that does nothing any more, since there are no settings.
    pub(crate) fn forget_fault(place: &Place) {
        let Some(folder) = folder(place).filter(|folder| Health::file(folder).exists()) else {
            return;
        };
        // Another notifier writes it itself; what cannot be removed is shown by the doctor.
        if let Ok(Taken::Here(_lock)) = Lock::take(&folder) {
            let _ = write_health(Path::new(&folder), &Health::default());
        }
    }
}

/// The minute of the day, local time.
fn minute_of_day(now: Time) -> u16 {
    let time = clock::local_time(now);
    let mut parts = time.split(':').map_while(|part| part.parse::<u16>().ok());
    let (hour, minute) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    hour * 60 + minute
}
