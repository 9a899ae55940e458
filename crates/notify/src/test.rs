//! `crew notify --test`: a message to every program of the settings.

use std::collections::BTreeMap;
use std::ffi::OsString;

use client::{GiveUp, Place, clock};

use crate::message::Message;
use crate::notifier::repository;
use crate::program::{Failure, send};
use crate::settings::{PAGE, Settings};

/// Sends a message to every program of the settings, one after the other. Gives each program's name, with its
/// failure in a line where it has failed. Nothing of it is kept.
///
/// # Errors
/// The settings cannot be used.
pub fn test(
    place: &Place,
    env: &BTreeMap<OsString, OsString>,
) -> client::Result<Vec<(String, Option<String>)>> {
    let settings = Settings::read(place)?;
    let repository = repository(place);
    let of = |nth: usize| format!("test:{}:{nth}", clock::now().0);
    let tried = settings.to.iter().zip(1..).map(|(to, nth)| {
        let message = Message::trial(&repository, settings.url.as_deref().unwrap_or(PAGE), of(nth));
        let message = if to.brief { message.brief() } else { message };
        let failed = match send(to, &message, env, &GiveUp::default()) {
            Ok(()) => None,
            Err(Failure::Failed(why)) => Some(why),
            Err(Failure::GivenUp) => Some("it was ended".to_owned()),
        };
        (to.program().to_owned(), failed)
    });
    Ok(tried.collect())
}
