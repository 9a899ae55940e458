//! Inside: a notifier beside an engine or a server of the same person, in a thread of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::mpsc;
use std::time::Duration;

use client::Place;
use tokio::sync::oneshot;

use crate::notifier::{End, Options, run};
use crate::report::Report;
use crate::settings::Settings;

/// When it is looked again whether there are settings, or another notifier has ended.
const AGAIN: Duration = Duration::from_secs(30);
/// How long whoever ends waits for a notifier that ends a program and closes the journal.
const FAREWELL: Duration = Duration::from_secs(1);

/// A notifier inside another program of crew's. It has its own thread and its own connection to the journal:
/// nothing of it holds the program up. It does nothing while there is no `notify.toml`, or another notifier
/// runs. It ends when this is dropped.
#[derive(Debug)]
pub struct Inside {
    /// Dropped to end it.
    stop: Option<oneshot::Sender<()>>,
    /// Closed once it has ended.
    ended: mpsc::Receiver<()>,
}

impl Inside {
    /// Starts it. `page` is the address of the page that the program serves, if it serves one, without a `/`
    /// at its end: links begin with it where the settings name no other. `warn` is called at most once:
    /// something is wrong, in words. Whatever fails, the caller goes on.
    #[must_use]
    pub fn start(
        place: Place,
        env: BTreeMap<OsString, OsString>,
        page: Option<String>,
        warn: impl FnMut(&str) + Send + 'static,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (ending, ended) = mpsc::channel();
        let thread = std::thread::Builder::new().name("notify".to_owned());
        // Without a thread there is no notifier.
        let _ = thread.spawn(move || {
            let _ending: mpsc::Sender<()> = ending;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Ok(runtime) = runtime {
                runtime.block_on(follow(&place, &env, page, stopped, warn));
            }
        });
        Self {
            stop: Some(stop),
            ended,
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.ended.recv_timeout(FAREWELL);
    }
}

async fn follow(
    place: &Place,
    env: &BTreeMap<OsString, OsString>,
    page: Option<String>,
    mut stopped: oneshot::Receiver<()>,
    mut warn: impl FnMut(&str),
) {
    let mut has_warned = false;
    let mut tell = |report: &Report| {
        let is_wrong = match report {
            Report::Failed { .. } | Report::Warning { .. } => true,
            Report::Begins { .. } | Report::Told { .. } => false,
        };
        if is_wrong && !std::mem::replace(&mut has_warned, true) {
            warn(&format!(
                "notifications: {}\n  `crew doctor` says what fails later on",
                report.words()
            ));
        }
    };
    loop {
        let is_there = crate::path(place).is_some_and(|path| path.exists());
        let ended = match is_there {
            true => {
                let options = Options::inside(env.clone(), page.clone());
                run(place, &options, &mut stopped, &mut tell).await
            }
            false => {
                Settings::forget_fault(place);
                Ok(End::Elsewhere(None))
            }
        };
        match ended {
            Ok(End::Stopped) => return,
            Ok(End::Elsewhere(_) | End::Told | End::NotTold | End::NoSettings) => {}
            Err(error) => tell(&Report::of(&error)),
        }
        tokio::select! {
            () = tokio::time::sleep(AGAIN) => {}
            _ = &mut stopped => return,
        }
    }
}
