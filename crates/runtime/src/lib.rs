//! The engine's shell: observes, appends, performs, keeps time.
