//! A failing case made small: everything is left out that it fails without.

use std::collections::BTreeSet;

use crate::chance::{Fault, Site};
use crate::{Case, Failure};

/// Runs that shrinking may take.
const RUNS: u32 = 600;

struct Shrinking {
    best: Box<Failure>,
    runs: u32,
}

/// Gives a smaller case that breaks the same invariant, and its failure.
#[must_use]
pub fn shrink(failure: Box<Failure>) -> Box<Failure> {
    let mut shrinking = Shrinking {
        best: failure,
        runs: 0,
    };
    // A fault that one round leaves out makes room for the next.
    loop {
        let before = shrinking.best.case.clone();
        shrinking.switch_sites_off();
        shrinking.leave_faults_out();
        shrinking.lessen();
        if shrinking.best.case == before || shrinking.runs >= RUNS {
            return shrinking.best;
        }
    }
}

impl Shrinking {
    /// Takes a case that still fails in the same way.
    fn tries(&mut self, case: &Case) -> bool {
        if self.runs >= RUNS || *case == self.best.case {
            return false;
        }
        self.runs += 1;
        match case.run() {
            Err(failure) if failure.invariant == self.best.invariant => {
                self.best = failure;
                true
            }
            Ok(_) | Err(_) => false,
        }
    }

    fn switch_sites_off(&mut self) {
        let struck: BTreeSet<Site> = self.best.struck.iter().map(|fault| fault.site).collect();
        for site in Site::ALL {
            let mut case = self.best.case.clone();
            if !case.off.insert(*site) {
                continue;
            }
            // A site that did not strike is left out for nothing.
            if struck.contains(site) {
                self.tries(&case);
            }
        }
    }

    /// Leaves out halves of the faults that struck, then quarters, down to single faults.
    fn leave_faults_out(&mut self) {
        let mut size = self.best.struck.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < self.best.struck.len() {
                let some: Vec<Fault> = self.best.struck.iter().skip(at).take(size).copied().collect();
                let mut case = self.best.case.clone();
                case.with.retain(|fault| !some.contains(fault));
                case.without.extend(some);
                if !self.tries(&case) {
                    at += size;
                }
                if self.runs >= RUNS {
                    return;
                }
            }
            size /= 2;
        }
    }

    /// Fewer tickets, and calm sooner.
    fn lessen(&mut self) {
        for tickets in 1..self.best.case.tickets.unwrap_or(6) {
            let tickets = Some(tickets);
            if self.tries(&Case {
                tickets,
                ..self.best.case.clone()
            }) {
                break;
            }
        }
        let mut inputs = self.best.inputs;
        while inputs > 8 {
            inputs = inputs * 2 / 3;
            let inputs = Some(inputs);
            if !self.tries(&Case {
                inputs,
                ..self.best.case.clone()
            }) {
                break;
            }
        }
    }
}
