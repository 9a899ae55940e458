//! The interface of an agent client.

use std::fmt::Debug;
use std::path::PathBuf;

use process::{Exit, Stream};

use crate::error::Result;
use crate::event::Event;
use crate::outcome::Outcome;
use crate::step::{Launch, Session, StepRequest};
use crate::verdict::Given;

/// An agent client, made from its table in the settings. It holds no state of any step.
pub trait Harness: Debug + Send + Sync {
    /// The name of its [`Kind`](crate::Kind), to be recorded for each run: the run is read by a reader of
    /// that kind.
    fn kind(&self) -> &'static str;

    /// Checks whether the client can be used here. Starts no agent and does not use the network. Errors
    /// have a hint.
    fn check(&self) -> Result<Installation>;

    /// Describes how to start a step. Pure: the same request gives the same launch, and nothing is written
    /// or started.
    fn start(&self, step: &StepRequest) -> Result<Launch>;

    /// Makes a reader for the output of one run that [`start`](Self::start) described, for a step of this
    /// session.
    fn reader(&self, session: &Session) -> Box<dyn Reader>;
}

/// A client that was found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// The program that would be started.
    pub program: PathBuf,
    /// Its version, if it has one.
    pub version: Option<String>,
}

/// Reads the output of one run as it comes.
///
/// The outcome does not depend on how the output is cut into pieces: an engine that adopts a run feeds a
/// new reader from the beginning of the output files, and gets the same outcome. Memory is bounded whatever
/// is fed. No input is an error: output that cannot be understood is noted, or counts as text.
pub trait Reader: Send {
    /// Reads the next bytes of a stream, and returns the events in them. The order of the two streams
    /// relative to each other does not matter.
    fn feed(&mut self, stream: Stream, bytes: &[u8]) -> Vec<Event>;

    /// Whether the output so far states a result of the step, with which the client might now exit. More
    /// output can take that back.
    fn has_result(&self) -> bool;

    /// The last line of the output so far, where it was meant as a verdict. More output can take that back.
    fn verdict(&self) -> Option<&Given>;

    /// Ends the reading, after the run has ended and all its output was fed. Returns the events of the
    /// last, unfinished lines, and the outcome of the step.
    fn end(&mut self, exit: &Exit) -> (Vec<Event>, Outcome);
}
