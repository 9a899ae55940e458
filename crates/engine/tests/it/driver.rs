//! The driver, over the journal that a scene has written: which actions it asks of its shell, and when.

mod batches;
mod finish;
mod load;
mod queues;
mod runs;
mod shell;
mod timers;
mod wanted;
