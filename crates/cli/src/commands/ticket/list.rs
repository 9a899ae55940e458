//! `ls`, `ready`, `blocked`, `closed`.

use client::ticket_folder::{Filter, Listing};

use super::{Call, wrong};
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;

/// How many `closed` shows when it is not told.
const CLOSED: usize = 20;

impl Call<'_> {
    pub(super) fn ls(&mut self) -> Result<Exit> {
        let (filter, _) = self.filter("ls")?;
        self.list(Listing::All, &filter)
    }

    pub(super) fn ready(&mut self) -> Result<Exit> {
        let (filter, _) = self.filter("ready")?;
        self.list(Listing::Ready, &filter)
    }

    pub(super) fn blocked(&mut self) -> Result<Exit> {
        let (filter, _) = self.filter("blocked")?;
        self.list(Listing::Blocked, &filter)
    }

    pub(super) fn closed(&mut self) -> Result<Exit> {
        let (filter, limit) = self.filter("closed")?;
        let limit = limit.unwrap_or(CLOSED);
        self.list(Listing::Closed { limit }, &filter)
    }

    fn list(&mut self, listing: Listing, filter: &Filter) -> Result<Exit> {
        let folder = self.folder()?;
        if self.context.json {
            let listed = folder.listed(listing, filter)?;
            self.context.out.json(&listed)?;
        } else {
            // It may be longer than a terminal.
            let text = folder.list(listing, filter)?;
            ui::page_table(self.context, &text)?;
        }
        Ok(Exit::Done)
    }

    fn filter(&mut self, command: &str) -> Result<(Filter, Option<usize>)> {
        self.takes_json();
        let mut filter = Filter::default();
        let mut limit = None;
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let mut value = || match value.clone().or_else(|| words.next().cloned()) {
                Some(value) => Ok(value),
                None => wrong(format!("{option} needs a value")),
            };
            match (option, command) {
                ("-a" | "--assignee", _) => filter.assignee = Some(value()?),
                ("-T" | "--tag", _) => filter.tag = Some(value()?),
                ("--status", "ls") => filter.status = Some(value()?),
                ("--limit", "closed") => match value()?.parse() {
                    Ok(number) => limit = Some(number),
                    Err(_) => return wrong("--limit needs a number"),
                },
                _ => return wrong(format!("Unknown option: {}", ui::clean(word))),
            }
        }
        Ok((filter, limit))
    }
}
