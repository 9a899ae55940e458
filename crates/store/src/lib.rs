//! The journal: an append-only record of every fact, behind one trait.
