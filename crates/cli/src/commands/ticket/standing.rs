//! Standing: whose process a command of the queue runs in, and which tickets it may change there.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use client::ticket_folder::{Sought, TicketFolder};
use model::TicketId;
use process::{CALLS_DIR, QUEUE_MARK, Run};
use runtime::{CHECK_MARK, HOOK_TICKET, Place, SET_UP_MARK};

use super::Call;
use crate::context::{Context, Program};
use crate::error::{Error, Result};

/// A hook's program, and the ticket of the notice that it was started for.
pub(super) struct Hook {
    pub(super) key: String,
    pub(super) ticket: Option<TicketId>,
}

impl Call<'_> {
    /// The program of crew's that runs this, where the folder is the queue that it works for; none where a
    /// person does, and for the tickets of a repository of the program's own.
    pub(super) fn program_at(&self, folder: &TicketFolder) -> Option<Program> {
        let program = self.context.program()?;
        let is_its = match program {
            Program::Agent | Program::SetUp => {
                queue(self.context).is_none_or(|queue| is_same(&queue, folder.path()))
            }
            Program::Check => self.place_of(folder).is_some(),
        };
        is_its.then_some(program)
    }

    /// The repository whose queue the folder is, where crew is in use there.
    pub(super) fn place_of(&self, folder: &TicketFolder) -> Option<Place> {
        let place = Place::find(&self.context.dir, &self.context.env).ok()?;
        (is_same(&place.tickets_dir, folder.path()) && place.journal.exists()).then_some(place)
    }

    /// The hook in whose program this runs, where the folder is the queue of its repository.
    pub(super) fn hook_at(&self, folder: &TicketFolder) -> Option<Hook> {
        let key = self.context.hook()?;
        let is_its = queue(self.context).is_none_or(|queue| is_same(&queue, folder.path()));
        let ticket = self.context.var(HOOK_TICKET);
        is_its.then(|| Hook {
            key,
            ticket: ticket.and_then(|id| TicketId::new(id).ok()),
        })
    }

    /// The name of the agent in whose process this runs, where the folder is its queue; none in a person's.
    pub(super) fn agent_at(&self, folder: &TicketFolder) -> Option<String> {
        let name = || {
            self.context
                .env
                .get("CREW_AGENT")
                .map_or("unknown", String::as_str)
        };
        match self.program_at(folder)? {
            Program::Agent | Program::SetUp => Some(name().to_owned()),
            Program::Check => None,
        }
    }

    /// Refuses a change of these tickets to a program of crew's, but for those that its agent has made: in
    /// which order people's tickets are done is people's word.
    pub(super) fn expect_may_change(&self, folder: &TicketFolder, ids: &[&str]) -> Result<()> {
        let Some(program) = self.program_at(folder) else {
            return Ok(());
        };
        expect_agent(program, "which tickets wait for which is a person's word")?;
        let agent = self.agent_at(folder);
        for id in ids {
            let (id, maker) = folder.maker_of(id)?;
            if maker.is_none() || maker != agent {
                return Err(Error::refused(
                    format!(
                        "an agent of crew changes no tickets but those that it has made, and {id} is none of them"
                    ),
                    "the tool `team_comment` tells people what is to be changed, and `ask` asks them",
                ));
            }
        }
        Ok(())
    }
}

/// Refuses a set-up or a check what only an agent or a person does.
pub(super) fn expect_agent(program: Program, what: &str) -> Result<()> {
    let (who, hint) = match program {
        Program::Agent => return Ok(()),
        Program::SetUp => (
            format!("the set-up of a workspace runs this ({SET_UP_MARK} is set)"),
            "take it out of `[workspace] setup`, and of what those commands call",
        ),
        Program::Check => (
            format!("a check of crew's runs this ({CHECK_MARK} is set)"),
            "take it out of the check",
        ),
    };
    Err(Error::usage(format!("{who}, and {what}"), hint))
}

/// The folder that `TICKETS_DIR` names. Where crew itself has set it for an agent, tickets of a repository of
/// the agent's own are meant without it: those that stand beside its work are no copy of the queue.
pub(super) fn given(context: &Context) -> Option<PathBuf> {
    let given = context.var("TICKETS_DIR").map(PathBuf::from)?;
    let is_inherited = queue(context).is_some_and(|queue| is_same(&queue, &given));
    (!is_inherited || !stands_in_its_own(context, &given)).then_some(given)
}

fn stands_in_its_own(context: &Context, queue: &Path) -> bool {
    let is_own = || {
        let run = context.whole_env.get(OsStr::new(CALLS_DIR))?;
        let workspace = Run::open(Path::new(run)).ok()?.spec().ok()?.cwd;
        let nearest = TicketFolder::find(&Sought::Nearest(&context.dir)).ok()?;
        let around = nearest.path().parent()?.canonicalize().ok()?;
        let is_copy = workspace.canonicalize().ok()?.starts_with(around);
        Some(!is_copy && !is_same(queue, nearest.path()))
    };
    is_own().unwrap_or(false)
}

/// The queue that a program of crew's works for.
fn queue(context: &Context) -> Option<PathBuf> {
    let queue = context.whole_env.get(OsStr::new(QUEUE_MARK))?;
    Some(PathBuf::from(queue))
}

fn is_same(one: &Path, other: &Path) -> bool {
    let found = one.canonicalize().ok().zip(other.canonicalize().ok());
    found.is_some_and(|(one, other)| one == other)
}
