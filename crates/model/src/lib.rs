//! The pure half: machines, ids, events, effects, commands, settings, policies and views.
//!
//! Nothing here reads a clock, the environment or a file; times, ids and facts arrive as values.

pub mod attempt;
pub mod audit;
pub mod command;
pub mod diagram;
pub mod ids;
pub mod journal;
pub mod machine;
pub mod moment;
pub mod money;
pub mod policy;
pub mod project;
pub mod samples;
pub mod session;
pub mod settings;
pub mod ticket;
pub mod time;
pub mod view;
pub mod worker;

pub use ids::{AgentName, Fence, Oid, RunId, SessionId, TicketId};
pub use moment::Moment;
pub use time::Time;
