//! What the end-to-end tests share: repositories with a queue, terminals, a scripted model, waiting for
//! facts.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]
#![expect(
    clippy::new_without_default,
    reason = "a world is made: there is no default one"
)]

pub mod client;
pub mod normal;
pub mod pty;
pub mod readme;
pub mod scene;
pub mod wait;
pub mod world;
