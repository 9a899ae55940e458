//! `create`: what its words ask for.

use client::ticket_folder::{New, Sought, TicketFolder};

use super::{Call, Whose, help, is_help, wrong};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;

impl Call<'_> {
    pub(super) fn create(&mut self) -> Result<Exit> {
        let words = std::mem::take(&mut self.words);
        let mut new = New::default();
        let (mut parent, mut deps) = (None, Vec::new());
        let mut titles = Vec::new();
        let mut words = words.into_iter();
        let mut is_over = false;
        while let Some(word) = words.next() {
            if is_over || !word.starts_with('-') || word == "-" {
                titles.push(word);
                continue;
            }
            if word == "--" {
                is_over = true;
                continue;
            }
            if is_help(&word) {
                let help = help::help(self.context, self.whose);
                self.context.out.write(&help)?;
                return Ok(Exit::Done);
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
                "--deps" => deps = New::tags(&value),
                _ => new.tags = New::tags(&value),
            }
        }
        match (self.whose, titles.as_slice()) {
            (Whose::Tk, []) => {}
            (_, [title]) if !title.trim().is_empty() => new.title.clone_from(title),
            (_, [] | [_]) => return no_title(),
            (_, several) => return several_titles(several),
        }
        let folder = match (self.outside.take(), &self.given) {
            // A folder made here would be read by no engine.
            (Some(outside), None) => {
                TicketFolder::find(&Sought::Nearest(&self.start)).map_err(|_| outside)?
            }
            (_, _) => TicketFolder::find_or_create(&self.sought())?,
        };
        self.make(&folder, new, (parent.as_deref(), &deps))
    }
}

/// A ticket without a title would be given to an agent that cannot know its task.
fn no_title<T>() -> Result<T> {
    Err(Error::refused(
        "the ticket has no title",
        "crew ticket create \"Fix the login page\" -d \"How one sees that it is done.\"",
    ))
}

/// A title without quotes would be cut down to one of its words.
fn several_titles<T>(words: &[String]) -> Result<T> {
    let title = ui::clean(&words.join(" ")).replace(['"', '\\', '$', '`'], "");
    Err(Error::refused(
        format!("{} titles were given, and a ticket has one", words.len()),
        format!("put it in quotes: crew ticket create \"{title}\""),
    ))
}

const OPTIONS: [&str; 14] = [
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
    "--deps",
    "--tags",
];
