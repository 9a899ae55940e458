//! Tests of the dashboard's state and drawing, without a terminal.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod act;
mod any;
mod look;
mod scene;
