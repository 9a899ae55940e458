//! How a new ticket comes into the queue: a person's is written here, an agent's is made by the tool
//! `create_ticket`, with all that holds for it, and a hook's names the ticket that it was told of.

use std::time::Duration;

use client::ticket_folder::{Id, New, TicketFolder};
use client::vouch;
use mcp::Caller;
use model::call::{MOST_GENERATIONS, MOST_TICKETS_OF_ONE, made_of, maker_of};
use model::policy::delegation::LEADER_TAG;
use model::{Actor, TicketId};
use serde_json::{Map, Value, json};

use super::Call;
use super::standing::{Hook, expect_agent};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;
use crate::wait::wait;

/// How often, and how many times, the file of a ticket that the engine writes is looked for.
const LOOK: Duration = Duration::from_millis(20);
const LOOKS: u32 = 250;

impl Call<'_> {
    /// Makes a ticket below a parent, and behind the tickets that it depends on: each by its id, which may be
    /// shortened.
    pub(super) fn make(
        &mut self,
        folder: &TicketFolder,
        mut new: New,
        (parent, deps): (Option<&str>, &[String]),
    ) -> Result<Exit> {
        new.deps = folder.resolve_all(deps)?;
        if let Some(program) = self.program_at(folder) {
            expect_agent(program, "it makes no tickets")?;
            return self.make_by_tool(folder, new, parent);
        }
        if let Some(hook) = self.hook_at(folder) {
            let id = make_by_hook(folder, new, parent, &hook)?;
            return self.print(&format!("{id}\n"));
        }
        let leads = new.tags.iter().any(|tag| tag == LEADER_TAG);
        let text = folder.create(new, parent)?;
        self.vouch_for(folder, text.trim_end(), leads);
        self.print(&text)
    }

    /// Tells crew that a new ticket is a person's. It stands, whatever becomes of that.
    fn vouch_for(&self, folder: &TicketFolder, id: &str, leads: bool) {
        let (Some(place), Ok(id)) = (self.place_of(folder), TicketId::new(id)) else {
            return;
        };
        let submitter = self.context.submitter(place.clone());
        let told = wait(async {
            vouch::vouch_for_new(&submitter, &place, &id, leads).await?;
            Ok(Exit::Done)
        });
        if let Err(error) = told {
            ui::warn(&format!(
                "crew could not be told that {id} is a person's ({}): `crew explain {id}` says what follows",
                text::with_causes(&error)
            ));
        }
    }

    /// Makes a ticket for the agent in whose step this runs. The limits, and what its own ticket passes on,
    /// are the engine's.
    fn make_by_tool(&mut self, folder: &TicketFolder, new: New, parent: Option<&str>) -> Result<Exit> {
        for (option, is_given) in [
            ("-a", new.assignee.is_some()),
            ("--external-ref", new.external_ref.is_some()),
        ] {
            if is_given {
                return Err(Error::refused(
                    format!(
                        "an agent of crew makes a ticket without {option}: who does it, and what it is elsewhere, people say"
                    ),
                    format!("leave {option} out; the tool `team_comment` tells people"),
                ));
            }
        }
        let parent = parent.map(|parent| folder.resolve(parent)).transpose()?;
        let default = New::default();
        let texts = [
            ("title", Some(new.title)),
            ("description", new.description),
            ("design", new.design),
            ("acceptance", new.acceptance),
            ("type", Some(new.kind).filter(|kind| *kind != default.kind)),
            ("parent", parent),
        ];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let mut arguments: Map<String, Value> = texts
            .map(|(name, text)| (name.to_owned(), Value::from(text)))
            .collect();
        if !new.deps.is_empty() {
            let deps: Vec<&str> = new.deps.iter().map(Id::as_str).collect();
            arguments.insert("deps".to_owned(), json!(deps));
        }
        if !new.tags.is_empty() {
            arguments.insert("tags".to_owned(), json!(new.tags));
        }
        if new.priority != default.priority {
            arguments.insert("priority".to_owned(), json!(new.priority));
        }
        let over = |error: mcp::Error| Error::refused(text::with_causes(&error), error.hint());
        let caller = Caller::of(&self.context.env).map_err(over)?;
        let reply = caller
            .call("create_ticket", Value::Object(arguments))
            .map_err(over)?;
        if !reply.accepted {
            let hint = "`crew tool` lists what you can call";
            return Err(Error::refused(reply.says, hint));
        }
        let Some((id, is_before)) = made_of(&reply.says) else {
            // No engine runs, which will name it.
            ui::warn(&reply.says);
            return Ok(Exit::Done);
        };
        if is_before {
            ui::warn(&reply.says);
        }
        wait_for(folder, &id);
        self.print(&format!("{id}\n"))
    }
}

/// Waits until the file of a ticket is there, so that whoever made it can name it at once.
#[expect(
    clippy::disallowed_methods,
    reason = "a wait for the file of an engine that may be killed has a deadline"
)]
fn wait_for(folder: &TicketFolder, id: &TicketId) {
    for _ in 0..LOOKS {
        if folder.has(id.as_str()) {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

/// Makes a ticket for a hook's program. A hook for `completed` that makes one would start itself without end:
/// the new ticket's id says which ticket it comes from, and the row of such tickets ends.
fn make_by_hook(folder: &TicketFolder, mut new: New, parent: Option<&str>, hook: &Hook) -> Result<String> {
    if new.tags.iter().any(|tag| tag == LEADER_TAG) {
        return Err(Error::refused(
            format!("only a person gives a ticket the tag `{LEADER_TAG}`, with which its agent may delegate"),
            "leave it out",
        ));
    }
    new.made_by = Some(
        Actor::Hook {
            key: hook.key.clone(),
        }
        .to_string(),
    );
    let Some(of) = &hook.ticket else {
        return Ok(folder.create(new, parent)?.trim_end().to_owned());
    };
    let is_made = |id: &TicketId| matches!(folder.maker_of(id.as_str()), Ok((_, Some(_))));
    let row = std::iter::successors(Some(of.clone()), maker_of).take_while(is_made);
    let row = u32::try_from(row.count()).unwrap_or(u32::MAX);
    if row >= MOST_GENERATIONS {
        return Err(Error::refused(
            format!(
                "{of} is the ticket number {row} in a row that a hook or an agent made, and no hook makes another after it"
            ),
            "a person makes it",
        ));
    }
    match folder.create_next(&format!("{of}-h"), MOST_TICKETS_OF_ONE, new, parent)? {
        Some(id) => Ok(id),
        None => Err(Error::refused(
            format!("hooks have made {MOST_TICKETS_OF_ONE} tickets for {of}, which are the most"),
            "a person makes more",
        )),
    }
}
