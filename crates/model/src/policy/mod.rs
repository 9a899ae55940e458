//! The policies: pure functions from facts to decisions.
