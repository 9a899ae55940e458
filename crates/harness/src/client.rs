//! What every agent client can do for crew.

use std::fmt::Debug;
use std::path::PathBuf;

use process::{Exit, Stream};

use crate::error::Result;
use crate::event::Event;
use crate::outcome::Outcome;
use crate::step::{Launch, Session, StepRequest};

/// An agent client. Made from its table in the settings and the environment; holds no state of any step.
pub trait Harness: Debug + Send + Sync {
    /// Its kind, as the settings call it: `command`, `claude` …
    fn kind(&self) -> &'static str;

    /// Whether it can be used here: looks, starts no agent, touches no network. Errors have a hint.
    fn check(&self) -> Result<Installation>;

    /// How to start a step. Pure: the same request gives the same launch, and nothing is written or started.
    fn start(&self, step: &StepRequest) -> Result<Launch>;

    /// A reader for the output of one run that [`start`](Self::start) described, for a step of this session.
    fn reader(&self, session: &Session) -> Box<dyn Reader>;
}

/// What is known of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The program that would be started.
    pub program: PathBuf,
    /// Its version, when it has one.
    pub version: Option<String>,
}

/// Makes sense of one run's output as it comes.
///
/// Deterministic, and independent of how the output is cut into pieces: an engine that adopts a run feeds a new reader
/// from the beginning of the output files and comes to the same outcome. Memory is bounded whatever is fed, and
/// nothing that is fed is an error: what makes no sense is noted or counts as text.
pub trait Reader: Send {
    /// The next bytes of a stream: what they tell. The order of the two streams against each other does not matter.
    fn feed(&mut self, stream: Stream, bytes: &[u8]) -> Vec<Event>;

    /// The run has ended and all its output was fed. What the last, unfinished lines tell, and what the step came to.
    fn end(&mut self, exit: &Exit) -> (Vec<Event>, Outcome);
}
