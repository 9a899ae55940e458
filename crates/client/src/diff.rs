//! Diffs: the change that a ticket would make on the target, or has made there; and where it is made.

mod brought;
pub mod lines;

use std::path::PathBuf;

pub use brought::Brought;
pub use git::{FileChange, FileChangeKind, PatchForm};
use git::{Id, KeptKind, Limits, Oid, Present, Repository, Workspace};
use model::settings::Settings;
use model::ticket::{Done, Secret, State, Ticket, Why};
use model::view::{Role, Snapshot};
use model::{AgentName, TicketId};
use runtime::Place;

use crate::error::{Error, Result};
use crate::lookup::{Either, either};
use crate::workspaces::{base_of, is_crews, workspace_of};

/// The state of the work of which a diff is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// The files of its workspace as they are now.
    Workspace {
        /// Whether some of them are in no commit of the agent's; none where that cannot be seen.
        has_uncommitted: Option<bool>,
    },
    /// Its branch, which is not merged on the target yet, or is in conflict with it.
    Branch,
    /// The merge of its branch that is checked, and lands as it is unless the target moves.
    Candidate,
    /// The merge as which it has landed.
    Landed,
    /// Work that did not land.
    Kept {
        /// The ref that keeps it.
        reference: String,
    },
}

/// A patch for reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readable {
    /// The patch, as git prints it. It may have control sequences.
    pub text: String,
    /// Whether values in it are masked.
    pub has_secrets: bool,
}

/// The change of a ticket.
#[derive(Debug)]
pub struct Diff {
    /// The ticket.
    pub ticket: TicketId,
    /// The agent that has done the work, where it is known.
    pub agent: Option<AgentName>,
    /// The state of the work.
    pub of: Of,
    /// The commit with which the work is compared.
    pub old: Oid,
    /// The commit that has all of the work; none where some of it is in no commit, or crew does not have the
    /// commit yet.
    pub commit: Option<Oid>,
    /// Files of the workspace that cannot be read, and that the diff does not have.
    pub unread: Vec<String>,
    /// What looks like secrets in it, and waits for a person's word.
    pub secrets: Vec<Secret>,
    /// The commit or tree that is compared.
    new: Oid,
    repository: Repository,
    /// Its objects last as long as this does.
    _present: Option<Present>,
}

impl Diff {
    /// The diff of a ticket. `crew` has the ticket, also one that was archived.
    ///
    /// # Errors
    /// Nothing was done at the ticket yet; the target is gone; git fails.
    pub fn of(place: &Place, settings: &Settings, crew: &Snapshot, id: &TicketId) -> Result<Self> {
        let looking = Looking {
            place,
            settings,
            crew,
            id,
        };
        let ticket = crew.tickets.get(id);
        Ok(Self {
            secrets: ticket.map_or_else(Vec::new, |ticket| ticket.secrets_to_approve().to_vec()),
            ..looking.diff()?
        })
    }

    /// The change as a patch for reading. Values that look like secrets are masked in it.
    ///
    /// # Errors
    /// It is larger than 64 MiB; git fails.
    pub fn readable(&self) -> Result<Readable> {
        let whole = self.patch(PatchForm::Read)?;
        let masked = runtime::secrets::without_in_patch(&whole);
        Ok(Readable {
            has_secrets: masked.is_some(),
            text: String::from_utf8_lossy(&masked.unwrap_or(whole)).into_owned(),
        })
    }

    /// The change as a patch, as git prints it, with the values of secrets.
    ///
    /// # Errors
    /// It is larger than 64 MiB; git fails.
    pub fn patch(&self, form: PatchForm) -> Result<Vec<u8>> {
        let patch = self.repository.patch_for_people(&self.old, &self.new, form);
        patch.map_err(|error| match error {
            git::Error::OutputTooLarge { .. } => Error::refused(
                format!("the change of {} is larger than 64 MiB", self.ticket),
                format!("`crew diff {} --stat` shows its files", self.ticket),
            ),
            other => other.into(),
        })
    }

    /// The files that differ.
    ///
    /// # Errors
    /// git fails.
    pub fn files(&self) -> Result<Vec<FileChange>> {
        Ok(self.repository.files_changed(&self.old, &self.new)?)
    }

    /// What a person is to know before the lines: what the diff does not have, and each thing in it that
    /// looks like a secret, with its place and kind.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let unread = self.unread.iter();
        let unread = unread.map(|path| format!("{path} cannot be read, and is not in this diff"));
        let secrets = self.secrets.iter();
        let secrets = secrets.map(|secret| format!("looks like a secret: {}", secret.words()));
        unread.chain(secrets).collect()
    }

    /// What the diff is of and what it is compared with, as a line for people. `target`: the branch.
    #[must_use]
    pub fn words(&self, target: &str) -> String {
        let Self { ticket, of, .. } = self;
        let old = self.old.short();
        let new = self.commit.as_ref().unwrap_or(&self.new).short();
        match of {
            Of::Workspace { has_uncommitted } => {
                let agent = self.agent.as_ref().map(|agent| format!(" of {agent}"));
                let agent = agent.unwrap_or_default();
                let what = match has_uncommitted {
                    Some(true) => "as they are now, some of them not committed",
                    Some(false) => "as they are now, all committed",
                    None => "as they are now",
                };
                format!("{ticket}: the files{agent} {what}, against {old} of {target}")
            }
            Of::Branch => format!("{ticket}: its branch at {new}, not merged on {target}, against {old}"),
            Of::Candidate if self.is_overtaken(target) => {
                format!(
                    "{ticket}: its merge {new}, against {old}; {target} has moved, and it is merged anew before it lands"
                )
            }
            Of::Candidate => {
                format!("{ticket}: its merge {new}, which lands on {target} as it is, against {old}")
            }
            Of::Landed => format!("{ticket}: landed on {target} as {new}, against {old}"),
            Of::Kept { reference } => {
                format!("{ticket}: work that did not land, kept as {reference}, against {old} of {target}")
            }
        }
    }

    /// Whether the target has commits that are not in it.
    fn is_overtaken(&self, target: &str) -> bool {
        let tip = git::Branch::parse(target).and_then(|branch| self.repository.target(&branch));
        let is_in = tip.and_then(|tip| self.repository.is_ancestor(&tip, &self.new));
        matches!(is_in, Ok(false))
    }
}

/// The user's pager, as their git has it in its settings; none where these name none. The settings of the
/// repository do not count: a person may stand in the workspace of an agent.
#[must_use]
pub fn pager(place: &Place) -> Option<String> {
    place.repository.git().users_pager()
}

/// The workspace of a ticket or an agent, or the checkout of a gatekeeper: the folder in which its processes
/// work.
///
/// # Errors
/// There is none.
pub fn path(place: &Place, settings: &Settings, crew: &Snapshot, asked: &str) -> Result<PathBuf> {
    let found = either(crew, place, asked)?;
    if let Either::Agent(name) = &found
        && let Some(agent) = crew.agent(name)
        && agent.role == Role::Gatekeeper
        && let Some(ticket) = &agent.ticket
    {
        let folder = place.review_dir(name, ticket)?.join("checkout");
        return match folder.is_dir() {
            true => Ok(folder),
            false => Err(no_folder(&format!("{name} has no checkout now"))),
        };
    }
    let id = ticket_of(crew, found)?;
    let looking = Looking {
        place,
        settings,
        crew,
        id: &id,
    };
    match crew.tickets.get(&id).map(|ticket| looking.workspace(ticket)) {
        Some(workspace) => match workspace? {
            Some(workspace) => Ok(workspace.path()),
            None => Err(no_folder(&format!("{id} has no workspace now"))),
        },
        None => Err(no_folder(&format!("{id} has no workspace yet"))),
    }
}

fn no_folder(what: &str) -> Error {
    Error::refused(
        what,
        "a workspace stands from the moment an agent gets the ticket until its work has landed or is kept: `crew ps`",
    )
}

/// The ticket that is meant by its own name or by that of the agent at it.
///
/// # Errors
/// The agent has no ticket.
pub fn ticket_of(crew: &Snapshot, found: Either) -> Result<TicketId> {
    let name = match found {
        Either::Ticket(id) => return Ok(id),
        Either::Agent(name) => name,
    };
    let ticket = crew.agent(&name).and_then(|agent| agent.ticket);
    ticket.ok_or_else(|| {
        Error::refused(
            format!("{name} has no ticket now"),
            format!("name the ticket: `crew summary {name}` lists what {name} did"),
        )
    })
}

struct Looking<'a> {
    place: &'a Place,
    settings: &'a Settings,
    crew: &'a Snapshot,
    id: &'a TicketId,
}

impl Looking<'_> {
    fn diff(&self) -> Result<Diff> {
        let Some(ticket) = self.crew.tickets.get(self.id) else {
            return Err(self.nothing("no engine has seen it yet"));
        };
        let agent = ticket.attempt().map(|attempt| attempt.claim.agent.clone());
        if let Some(work) = ticket.delegated().and_then(|it| it.work.as_ref()) {
            let of = match &ticket.state {
                State::Done(Done::Landed { .. }) => Of::Landed,
                State::New | State::Open | State::InProgress(_) | State::Verify(_) | State::Done(_) => {
                    Of::Branch
                }
            };
            return self.between(of, agent, oid(&work.from)?, oid(&work.tip)?);
        }
        match &ticket.state {
            State::Done(Done::Landed { commit, agent, .. }) => {
                let new = oid(commit)?;
                let old = self.repository().resolve(&format!("{new}^1"))?;
                self.between(Of::Landed, Some(agent.clone()), old, new)
            }
            State::Verify(_) => match (ticket.candidate(), held_tip(ticket)) {
                (Some(candidate), _) => {
                    let (old, new) = (oid(&candidate.target)?, oid(&candidate.commit)?);
                    self.between(Of::Candidate, agent, old, new)
                }
                (None, Some(tip)) => self.branch(agent, oid(tip)?),
                (None, None) => self.at_work(ticket, agent),
            },
            State::InProgress(_) => self.at_work(ticket, agent),
            State::New | State::Open => self.kept("no agent has it"),
            State::Done(Done::Replaced { by, .. }) => self.kept(&format!("{by} has landed in its place")),
            State::Done(
                Done::Failed { .. } | Done::NotNeeded | Done::Dropped { .. } | Done::ClosedByPerson,
            ) => self.kept("it is over"),
        }
    }

    fn repository(&self) -> &Repository {
        &self.place.repository
    }

    fn target(&self) -> Result<Oid> {
        let branch = git::Branch::parse(&self.settings.project.target)?;
        Ok(self.repository().target(&branch)?)
    }

    /// The workspace in which the ticket is worked on, where it stands: its own, or that of its parent.
    fn workspace(&self, ticket: &Ticket) -> Result<Option<Workspace>> {
        let Some(attempt) = ticket.attempt() else {
            return Ok(None);
        };
        let (agent, of, number) = match ticket.shared_workspace() {
            Some(shared) => (&shared.agent, &shared.of, shared.number),
            None => (&attempt.claim.agent, self.id, attempt.claim.number),
        };
        let root = self.place.workspaces_dir(self.settings)?;
        if !is_crews(&root, (agent, of))? {
            return Ok(None);
        }
        let base = base_of(self.repository(), of, attempt.claim.base.as_ref())?;
        let workspace = workspace_of(&root, (agent, of), number, &base)?;
        Ok(workspace.exists().then_some(workspace))
    }

    /// Work that is under way: the files of the workspace, else the branch as it was last taken over.
    fn at_work(&self, ticket: &Ticket, agent: Option<AgentName>) -> Result<Diff> {
        let target = self.target()?;
        let Some(workspace) = self.workspace(ticket)? else {
            let tip = agent.as_ref().and_then(|agent| self.tip_of(agent));
            return match tip {
                Some(tip) => self.branch(agent, tip),
                None => self.kept("its workspace is not there"),
            };
        };
        let present = self
            .repository()
            .present(&workspace, &target, &Limits::default())?;
        // The files of a child lie among those of its parent: what was there before is not its work.
        let began = ticket.delegated().and(ticket.attempt());
        let began = began.and_then(|attempt| attempt.claim.base.as_ref());
        let old = match began {
            Some(began) => oid(began)?,
            None => present.base.clone(),
        };
        let shown = |unsaved: &git::Unsaved| text::sanitise::line(&unsaved.path.to_string_lossy());
        Ok(Diff {
            ticket: self.id.clone(),
            agent,
            of: Of::Workspace {
                has_uncommitted: present.has_uncommitted,
            },
            old,
            commit: present
                .head
                .clone()
                .filter(|_| present.has_uncommitted == Some(false)),
            unread: present.unread.iter().map(shown).collect(),
            secrets: Vec::new(),
            new: present.tree.clone(),
            repository: present.repository.clone(),
            _present: Some(present),
        })
    }

    fn tip_of(&self, agent: &AgentName) -> Option<Oid> {
        let (agent, ticket) = (Id::parse(agent.as_str()).ok()?, Id::parse(self.id.as_str()).ok()?);
        let branch = git::Branch::of_agent(&agent, &ticket);
        self.repository().branch_tip(&branch).ok()?
    }

    fn branch(&self, agent: Option<AgentName>, tip: Oid) -> Result<Diff> {
        let old = self.fork(&tip)?;
        self.between(Of::Branch, agent, old, tip)
    }

    /// The newest work that is kept of its attempts.
    fn kept(&self, why: &str) -> Result<Diff> {
        let id = Id::parse(self.id.as_str())?;
        let kept = self.repository().kept(Some(&id))?;
        let last = kept.into_iter().rfind(|kept| kept.kind == KeptKind::Attempt);
        let Some(last) = last else {
            return Err(self.nothing(why));
        };
        let old = self.fork(&last.commit)?;
        let of = Of::Kept { reference: last.name };
        self.between(of, None, old, last.commit)
    }

    /// The last commit that a tip and the target have in common.
    fn fork(&self, tip: &Oid) -> Result<Oid> {
        let target = self.target()?;
        Ok(self.repository().fork(&target, tip)?.unwrap_or(target))
    }

    fn between(&self, of: Of, agent: Option<AgentName>, old: Oid, new: Oid) -> Result<Diff> {
        Ok(Diff {
            ticket: self.id.clone(),
            agent,
            of,
            old,
            commit: Some(new.clone()),
            unread: Vec::new(),
            secrets: Vec::new(),
            new,
            repository: self.repository().clone(),
            _present: None,
        })
    }

    fn nothing(&self, why: &str) -> Error {
        let id = self.id;
        Error::refused(
            format!("there is no work of {id}: {why}"),
            format!("`crew explain {id}` says how it stands"),
        )
    }
}

/// The tip of work that waits for a person before it is merged.
fn held_tip(ticket: &Ticket) -> Option<&model::Oid> {
    match ticket.held.as_ref().map(|held| &held.why) {
        Some(Why::Paths { tip, .. } | Why::Secrets { tip, .. }) => Some(tip),
        Some(_) | None => None,
    }
}

fn oid(oid: &model::Oid) -> Result<Oid> {
    Ok(Oid::parse(oid.as_str())?)
}
