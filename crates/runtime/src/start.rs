//! Entry points: run the engine, or carry out one command without one.

use std::collections::BTreeMap;

use engine::{Duty, Rest};
use harness::Harness;
use model::TicketId;
use model::command::{Command, OnStop};
use model::settings;
use store::Ledger;
use tokio::sync::watch;

use crate::dispatcher::{Dispatcher, Until};
use crate::executor::{Executor, Work, prompts_dir};
use crate::log::{self, Log};
use crate::prompt::Prompts;
use crate::{Error, Place, Result};

/// How the engine is to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// End when nothing can move any more.
    pub until_idle: bool,
    /// Start agents although the target does not pass its own checks.
    pub anyway: bool,
    /// Agents busy at once, instead of the settings' number.
    pub agents: Option<u32>,
    /// The harness, instead of the settings' one.
    pub harness: Option<String>,
    /// How to start a shim; the default is this executable, with the argument `shim`.
    pub shim: Option<process::Shim>,
    /// The log for operators; none: nothing is logged.
    pub log: Option<Log>,
    /// The caller's environment. Agents get those of its variables that the settings allow.
    pub env: BTreeMap<std::ffi::OsString, std::ffi::OsString>,
}

impl Options {
    /// The settings, with the options of the command line in their place.
    pub(crate) fn over(&self, mut settings: settings::Settings) -> settings::Settings {
        if let Some(count) = self.agents {
            settings.agents.count = count;
            settings.agents.names.clear();
        }
        if let Some(name) = &self.harness
            && settings.harness.contains_key(name)
        {
            settings.agents.harness = Some(name.clone());
        }
        settings
    }
}

/// A wish of the terminal's, sent as a signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signal {
    /// Nothing.
    #[default]
    None,
    /// Stop, as the settings say.
    Stop,
    /// Stop now, and leave running steps to the next engine.
    Leave,
}

/// Runs the engine on its journal until it is stopped, or until nothing can move any more. Gives what waits
/// for a person then.
///
/// # Errors
/// [`Error::Held`] when another engine runs here; any error that keeps this one from starting or going on.
pub async fn run(
    place: Place,
    ledger: Ledger,
    options: Options,
    signals: watch::Receiver<Signal>,
) -> Result<Rest> {
    let settings = options.over(place.settings()?);
    let on_stop = match settings.run.on_stop {
        settings::OnStop::Finish => OnStop::Finish,
        settings::OnStop::Leave => OnStop::Leave,
        settings::OnStop::Kill => OnStop::Kill,
    };
    let executor = tokio::select! {
        executor = executor(&place, &settings, &options) => executor?,
        () = asked(signals.clone()) => return Ok(Rest::default()),
    };
    let until = if options.until_idle {
        Until::Idle
    } else {
        Until::Stopped
    };
    // Open until the end, with a hold of the repository of its own: no other engine writes the file
    // meanwhile.
    let _writer = options.log.as_ref().map(|log| executor.open_log(log));
    log::engine_started();
    let ended = async {
        let mut dispatcher = Dispatcher::start(ledger, executor, options, Duty::Drain).await?;
        dispatcher.run(until, on_stop, Some(signals)).await
    };
    let ended = ended.await;
    log::engine_ended(&ended);
    ended
}

/// The engine's working parts, among them the lock of the repository.
async fn executor(place: &Place, settings: &settings::Settings, options: &Options) -> Result<Executor> {
    loop {
        match Executor::new(place, settings, options, Work::All) {
            // A command holds the repository. Once it is gone, another one may.
            Err(Error::Held { .. }) => {
                let lasting = place.lasting_holder(|waits| tracing::warn!("{waits}")).await?;
                if let Some(by) = lasting {
                    return Err(Error::Held { by });
                }
            }
            taken => return taken,
        }
    }
}

/// Waits until a terminal asks for anything.
async fn asked(mut signals: watch::Receiver<Signal>) {
    if signals.wait_for(|asked| *asked != Signal::None).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Runs the dispatcher for one command of the inbox, while no engine runs: until its own effects are done.
///
/// # Errors
/// As [`run`].
pub async fn carry_out(place: Place, options: Options, command: &str) -> Result<()> {
    let settings = place.settings()?;
    let executor = Executor::new(&place, &settings, &options, Work::Command)?;
    let ledger = place.open_journal().await?;
    let asked = ledger
        .asked(0, crate::clock::now())
        .await?
        .into_iter()
        .find(|asked| asked.id == command);
    let mut lands: Option<TicketId> = None;
    if let Some(Command::Merge { ticket }) = asked.as_ref().map(|asked| asked.command.bare()) {
        lands = Some(ticket.clone());
    }
    let mut dispatcher =
        Dispatcher::start(ledger.clone(), executor, options, Duty::Command { lands }).await?;
    dispatcher
        .run(Until::CarriedOut(command.to_owned()), OnStop::Leave, None)
        .await?;
    ledger.close().await;
    Ok(())
}

/// The facts about a client that the settings name, among them whether it can be started here. Starts no
/// agent.
///
/// # Errors
/// There is no such table in the settings; [`Error::Harness`] when it cannot be used.
pub fn client(
    place: &Place,
    settings: &settings::Settings,
    options: &Options,
    name: &str,
) -> Result<harness::Installation> {
    let options = Options {
        harness: Some(name.to_owned()),
        ..options.clone()
    };
    Ok(chosen_client(place, settings, &options)?.1.check()?)
}

/// Tries out the prompt templates: those in `prompts_dir`, and the built-in ones for the rest.
///
/// # Errors
/// [`Error::Prompt`] for a template that cannot be used; the folder cannot be read.
pub fn try_prompts(place: &Place, settings: &settings::Settings) -> Result<()> {
    Prompts::load(prompts_dir(place, settings).as_deref()).map(drop)
}

/// The client that new attempts work with, and its name in the settings.
pub(crate) fn chosen_client(
    place: &Place,
    settings: &settings::Settings,
    options: &Options,
) -> Result<(String, Box<dyn Harness>)> {
    let asked = options.harness.as_deref();
    let Some((name, chosen)) = settings.chosen_harness(asked) else {
        return Err(asked.map_or(Error::NoHarness, |name| Error::UnknownHarness {
            name: name.to_owned(),
        }));
    };
    Ok((name.to_owned(), client_of(place, options, name, chosen)?))
}

/// The client that a table `[harness.<name>]` of the settings describes.
pub(crate) fn client_of(
    place: &Place,
    options: &Options,
    name: &str,
    chosen: &settings::Harness,
) -> Result<Box<dyn Harness>> {
    let table = harness::Table {
        name: name.to_owned(),
        command: chosen.command.clone(),
        args: chosen.args.clone(),
        model: chosen.model.clone(),
        price: chosen.price.map(|price| harness::Price {
            input: price.input.dollars(),
            output: price.output.dollars(),
            cache_read: price.cache_read.dollars(),
            cache_write: price.cache_write.dollars(),
        }),
        env: chosen.env.clone(),
        pass_env: chosen.pass_env.clone(),
        root: place.root.clone(),
        is_root: process::is_root(),
    };
    let Some(kind) = harness::kind(chosen.kind.name()) else {
        return Err(Error::UnknownHarness {
            name: name.to_owned(),
        });
    };
    Ok(kind.client(&table, &options.env)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::tests::place_in;

    #[test]
    fn every_kind_of_harness_that_the_settings_accept_has_a_client() {
        for kind in settings::HarnessKind::ALL {
            assert!(harness::kind(kind.name()).is_some(), "{kind:?}");
        }
    }

    #[tokio::test]
    async fn whoever_asks_it_to_stop_is_heard_while_it_waits_for_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let place = place_in(folder.path());
        let options = Options::default();
        let settings = place.settings().unwrap();
        let ledger = place.open_journal().await.unwrap();
        let command = Executor::new(&place, &settings, &options, Work::Command).unwrap();
        let (ask, asked) = watch::channel(Signal::None);
        let engine = tokio::spawn(run(place.clone(), ledger, options, asked));
        ask.send_replace(Signal::Stop);
        assert_eq!(engine.await.unwrap().unwrap(), Rest::default());
        assert!(place.holder().unwrap().is_some_and(|holder| holder.is_command));
        drop(command);
    }

    #[tokio::test]
    async fn it_is_turned_away_by_who_holds_the_repository_then() {
        let folder = tempfile::tempdir().unwrap();
        let place = place_in(folder.path());
        let options = Options::default();
        let settings = place.settings().unwrap();
        let ledger = place.open_journal().await.unwrap();
        let command = Executor::new(&place, &settings, &options, Work::Command).unwrap();
        let (_ask, asked) = watch::channel(Signal::None);
        let engine = tokio::spawn(run(place.clone(), ledger, options, asked));
        // On this one thread, the engine runs until it waits before the test goes on.
        tokio::task::yield_now().await;
        let lock = place.repository.lock_path();
        let says = std::fs::read_to_string(&lock).unwrap();
        std::fs::write(&lock, says.replace("for=command\n", "")).unwrap();
        match engine.await.unwrap() {
            Err(Error::Held { by }) => assert!(!by.is_command, "{by}"),
            other => panic!("{other:?}"),
        }
        drop(command);
    }
}
