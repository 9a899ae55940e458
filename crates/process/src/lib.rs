//! Processes: the shim, its run directory, process trees and signals.
