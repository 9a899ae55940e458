//! Bounded everything: the memory of crew's processes and what another agent notices, whatever one agent does
//! and however long the queue is. The real binary, git and processes; figures are the kernel's own (`VmHWM`).

mod deep;
mod long_line;
mod memory;
