//! What every surface shows: one fold.
