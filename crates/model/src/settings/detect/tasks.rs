//! Runners of tasks in any language: make and just.

use super::files::Files;
use super::{Detected, Runner};

/// The tasks that run tests, the first that is there is taken. GNU's convention names the target `check`.
const TASKS: [&str; 2] = ["test", "check"];

pub(super) fn find(files: &Files<'_>) -> Vec<Detected> {
    make(files).into_iter().chain(just(files)).collect()
}

fn make(files: &Files<'_>) -> Option<Detected> {
    // The order in which make itself looks.
    let name = files.first_of(&["GNUmakefile", "makefile", "Makefile"])?;
    let makefile = files.text(name)?;
    let target = TASKS.iter().find(|target| has_target(&makefile, target))?;
    Some(Detected::new(Runner::Make, name, format!("make {target}")).needs("make"))
}

fn just(files: &Files<'_>) -> Option<Detected> {
    // just takes any capitals.
    let name = files.find(|path| ["justfile", ".justfile"].contains(&path.to_lowercase().as_str()))?;
    let justfile = files.text(name)?;
    let recipe = TASKS
        .iter()
        .find(|recipe| has_recipe(&justfile, aliased(&justfile, recipe).unwrap_or(recipe)))?;
    Some(Detected::new(Runner::Just, name, format!("just {recipe}")).needs("just"))
}

/// The recipe for which a justfile has this other name.
fn aliased<'j>(justfile: &'j str, wanted: &str) -> Option<&'j str> {
    justfile.lines().find_map(|line| {
        let (name, recipe) = line.strip_prefix("alias ")?.split_once(":=")?;
        let recipe = recipe.split('#').next().unwrap_or_default().trim();
        (name.trim() == wanted).then_some(recipe)
    })
}

/// True if a justfile has a recipe of that name that can be run without arguments.
fn has_recipe(justfile: &str, wanted: &str) -> bool {
    justfile.lines().any(|line| {
        let Some(rest) = line.trim_start_matches('@').strip_prefix(wanted) else {
            return false;
        };
        let Some((parameters, after)) = rest.split_once(':') else {
            return false;
        };
        let is_name = parameters.is_empty() || parameters.starts_with([' ', '\t']);
        let is_optional = |parameter: &str| parameter.contains('=') || parameter.starts_with('*');
        is_name && !after.starts_with('=') && parameters.split_whitespace().all(is_optional)
    })
}

/// True if a makefile has a rule for `wanted`: not an assignment, not a recipe's line, not a mention in
/// `.PHONY`.
fn has_target(makefile: &str, wanted: &str) -> bool {
    let joined = makefile.replace("\\\r\n", " ").replace("\\\n", " ");
    let mut in_define = false;
    joined.lines().any(|line| {
        if line.starts_with('\t') {
            return false;
        }
        let line = line.split('#').next().unwrap_or_default().trim();
        let word = line.split_whitespace().next().unwrap_or_default();
        if word == "define" || word == "endef" {
            in_define = word == "define";
            return false;
        }
        let Some((targets, rest)) = line.split_once(':') else {
            return false;
        };
        let rest = rest.trim_start_matches(':');
        // `test := x`, `test ::= x`, and `X = a:b`; `test: X = 1` only sets a variable for a rule that is
        // elsewhere.
        let sets = rest.starts_with('=')
            || targets.contains('=')
            || rest.split(';').next().is_some_and(|needs| needs.contains('='));
        !in_define && !sets && targets.split_whitespace().any(|target| target == wanted)
    })
}
