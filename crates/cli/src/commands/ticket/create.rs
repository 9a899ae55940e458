//! `create`.

use client::ticket_folder::{New, TicketFolder};

use super::{Call, wrong};
use crate::error::Result;
use crate::exit::Exit;
use crate::ui;

impl Call<'_> {
    pub(super) fn create(&mut self) -> Result<Exit> {
        let words = std::mem::take(&mut self.words);
        let mut new = New::default();
        let mut parent = None;
        let mut words = words.into_iter();
        let mut is_over = false;
        while let Some(word) = words.next() {
            if is_over || !word.starts_with('-') || word == "-" {
                new.title = word;
                continue;
            }
            if word == "--" {
                is_over = true;
                continue;
            }
            let (option, value) = match word.split_once('=') {
                Some((option, value)) if option.starts_with("--") => {
                    (option.to_owned(), Some(value.to_owned()))
                }
                Some(_) | None => (word.clone(), None),
            };
            if !OPTIONS.contains(&option.as_str()) {
                return wrong(format!("Unknown option: {}", ui::clean(&word)));
            }
            let Some(value) = value.or_else(|| words.next()) else {
                return wrong(format!("{option} needs a value"));
            };
            match option.as_str() {
                "-d" | "--description" => new.description = Some(value),
                "--design" => new.design = Some(value),
                "--acceptance" => new.acceptance = Some(value),
                "-t" | "--type" => new.kind = value,
                "-p" | "--priority" => new.priority = New::priority(&value)?,
                "-a" | "--assignee" => new.assignee = Some(value).filter(|value| !value.is_empty()),
                "--external-ref" => new.external_ref = Some(value),
                "--parent" => parent = Some(value),
                _ => new.tags = New::tags(&value),
            }
        }
        let folder = TicketFolder::find_or_create(self.given.as_deref(), &self.start)?;
        let text = folder.create(new, parent.as_deref())?;
        self.print(&text)
    }
}

const OPTIONS: [&str; 13] = [
    "-d",
    "--description",
    "--design",
    "--acceptance",
    "-t",
    "--type",
    "-p",
    "--priority",
    "-a",
    "--assignee",
    "--external-ref",
    "--parent",
    "--tags",
];
