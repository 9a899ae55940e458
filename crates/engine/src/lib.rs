//! The engine's core: synchronous and deterministic.
