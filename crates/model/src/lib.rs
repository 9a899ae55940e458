//! The pure half: machines, ids, events, effects, commands, settings, policies and views.
//!
//! Nothing here reads a clock, the environment or a file; times, ids and facts arrive as values.

#![cfg_attr(
    not(test),
    deny(
        clippy::wildcard_enum_match_arm,
        reason = "a new variant must be considered at every match"
    )
)]

pub mod actor;
pub mod attempt;
pub mod audit;
pub mod call;
pub mod command;
pub mod commitment;
pub mod conversation;
pub mod diagram;
pub mod ids;
pub mod journal;
pub mod look;
pub mod machine;
pub mod moment;
pub mod money;
pub mod moved;
pub mod policy;
pub mod project;
pub mod samples;
pub mod session;
pub mod settings;
pub mod target;
pub mod ticket;
pub mod time;
pub mod view;
pub mod worker;

pub use actor::Actor;
pub use ids::{AgentName, Fence, Oid, RunId, SessionId, TicketId};
pub use look::Look;
pub use moment::Moment;
pub use time::Time;
