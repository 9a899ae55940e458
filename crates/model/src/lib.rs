//! The pure half: machines, ids, events, effects, commands, settings, policies and views.
