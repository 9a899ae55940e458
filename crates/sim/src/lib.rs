//! The engine's core against a simulated world, from a seed.
