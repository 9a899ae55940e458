//! A case: a seed, and the faults that are left out of its draw.

use std::collections::BTreeSet;
use std::fmt;

use crate::chance::{Fault, Site};
use crate::{Failure, Line, Plant, Summary, simulation};

/// One simulation to run. The same case gives the same run, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// The seed.
    pub seed: u64,
    /// A bug that is planted.
    pub plant: Option<Plant>,
    /// Nothing goes wrong but the faults in [`Case::with`]: a short run of two tickets.
    pub kind: bool,
    /// Sites that never strike.
    pub off: BTreeSet<Site>,
    /// Faults that do not strike.
    pub without: BTreeSet<Fault>,
    /// Faults that strike in any case, whatever the seed draws.
    pub with: BTreeSet<Fault>,
    /// Sites that strike one after the other once one of those has, each at its next passage.
    pub then: Vec<Site>,
    /// Inputs before the world is calm; none for as many as the seed draws.
    pub inputs: Option<u32>,
    /// Tickets that are there when it begins; none for as many as the seed draws.
    pub tickets: Option<u64>,
}

impl Case {
    /// Everything as the seed draws it.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// A run in which nothing goes wrong by chance.
    #[must_use]
    pub fn kind(seed: u64) -> Self {
        Self {
            kind: true,
            ..Self::of(seed)
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// [`Failure`] when an invariant does not hold: it prints everything that is needed to look into it.
    pub fn run(&self) -> Result<Summary, Box<Failure>> {
        simulation::Simulation::new(self, false).run().0.or_else(|_| {
            // Nobody reads the trace of a run that holds, so it is kept of one that does not, run again.
            simulation::Simulation::new(self, true).run().0
        })
    }

    /// Runs it, and gives its whole trace: a line for each thing that happened, in order.
    pub fn replay(&self) -> (Result<Summary, Box<Failure>>, Vec<Line>) {
        simulation::Simulation::new(self, true).run()
    }

    /// The regression file: `found` is the promise that the case broke, and when it is none any more it may
    /// not break anything.
    #[must_use]
    pub fn write(&self, found: &str) -> String {
        let list = |of: Vec<String>| {
            let quoted: Vec<String> = of.iter().map(|one| format!("\"{one}\"")).collect();
            format!("[{}]", quoted.join(", "))
        };
        let names = |of: &BTreeSet<Fault>| list(of.iter().map(Fault::to_string).collect());
        let mut text = format!(
            "# What this broke when it was found. Nothing is broken now.\nfound = {found:?}\nseed = {}\n",
            self.seed
        );
        if self.kind {
            text.push_str("kind = true\n");
        }
        if let Some(inputs) = self.inputs {
            text.push_str(&format!("inputs = {inputs}\n"));
        }
        if let Some(tickets) = self.tickets {
            text.push_str(&format!("tickets = {tickets}\n"));
        }
        if !self.off.is_empty() {
            let off = self.off.iter().map(|site| site.name().to_owned()).collect();
            text.push_str(&format!("off = {}\n", list(off)));
        }
        if !self.without.is_empty() {
            text.push_str(&format!("without = {}\n", names(&self.without)));
        }
        if !self.with.is_empty() {
            text.push_str(&format!("with = {}\n", names(&self.with)));
        }
        if !self.then.is_empty() {
            let then = self.then.iter().map(|site| site.name().to_owned()).collect();
            text.push_str(&format!("then = {}\n", list(then)));
        }
        text
    }

    /// Reads a regression file.
    ///
    /// # Errors
    /// What about it cannot be understood.
    pub fn read(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let mut case = Self::default();
        let mut seeded = false;
        for (key, value) in &table {
            let wrong = || format!("`{key}` cannot be {value}");
            let number = || {
                value
                    .as_integer()
                    .and_then(|n| u64::try_from(n).ok())
                    .ok_or_else(wrong)
            };
            let words = || -> Result<Vec<&str>, String> {
                let list = value.as_array().ok_or_else(wrong)?;
                list.iter().map(|one| one.as_str().ok_or_else(wrong)).collect()
            };
            let sites = || -> Result<Vec<Site>, String> {
                let site = |name| Site::ALL.iter().copied().find(|site| site.name() == name);
                words()?
                    .into_iter()
                    .map(|name| site(name).ok_or_else(wrong))
                    .collect()
            };
            let faults = || -> Result<BTreeSet<Fault>, String> {
                words()?
                    .into_iter()
                    .map(|one| Fault::parse(one).ok_or_else(wrong))
                    .collect()
            };
            match key.as_str() {
                "found" => {}
                "seed" => (case.seed, seeded) = (number()?, true),
                "kind" => case.kind = value.as_bool().ok_or_else(wrong)?,
                "inputs" => case.inputs = Some(u32::try_from(number()?).map_err(|_| wrong())?),
                "tickets" => case.tickets = Some(number()?),
                "off" => case.off = sites()?.into_iter().collect(),
                "then" => case.then = sites()?,
                "without" => case.without = faults()?,
                "with" => case.with = faults()?,
                _ => return Err(format!("`{key}` is nothing that a case has")),
            }
        }
        if seeded {
            Ok(case)
        } else {
            Err("it names no seed".to_owned())
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}", self.seed)?;
        if let Some(plant) = self.plant {
            write!(f, " with a planted bug, {plant:?}")?;
        }
        let left_out = self.off.len() + self.without.len();
        if left_out > 0 {
            write!(f, ", without {left_out} of what it draws")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_read_as_it_is_written() {
        let case = Case {
            seed: 7,
            kind: true,
            off: BTreeSet::from([Site::Kill, Site::Person]),
            without: BTreeSet::from([Fault {
                site: Site::Sick,
                hit: 3,
            }]),
            with: BTreeSet::from([Fault {
                site: Site::Late,
                hit: 0,
            }]),
            inputs: Some(30),
            tickets: Some(1),
            ..Case::default()
        };
        assert_eq!(Case::read(&case.write("a \"promise\"")), Ok(case));
    }

    #[test]
    fn what_is_no_case_is_refused_with_its_reason() {
        for (text, wanted) in [
            ("", "it names no seed"),
            ("seed = 1\nsteps = 3", "`steps` is nothing that a case has"),
            ("seed = -1", "`seed` cannot be -1"),
            ("seed = 1\noff = [\"rain\"]", "`off` cannot be [\"rain\"]"),
        ] {
            assert_eq!(Case::read(text), Err(wanted.to_owned()));
        }
    }
}
