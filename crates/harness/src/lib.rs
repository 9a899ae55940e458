//! Agent clients: how each is started, and what its output means.
