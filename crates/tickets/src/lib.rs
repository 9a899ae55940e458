//! Ticket files, as tk keeps them.
