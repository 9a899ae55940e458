//! That each cell of the matrix, fault by operation, has a test whose name says it: `f<fault>_<operation>_…`, several where it
//! proves several.
//!
//! What a fault is: F1 SIGKILL at a point, F2 again during recovery, F3 TERM and INT twice, F4 an agent that dies or does
//! nothing, F5 one that is silent or busy, F6 one that floods, F7 one that leaves things lying about, F8 one that tampers,
//! F9 a git killed with its lock left, F10 no room or no writing, F11 no descriptors or processes, F12 the n-th effect fails,
//! F13 a busy journal, F15 a commit whose outcome is unknown, F16 a stopped engine, F17 a clock that jumps, F18 power lost,
//! F19 a target that others move, F20 conflicts, F21 green alone and red together, F22 bad checks, F23 damage, F24 two of
//! one, F25 another version. F14 comes with journals that many hosts share.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The cells that must be proved: submit, claim, provision, spawn, step, submit work, gate, land, clean up, recover.
const WANTED: &str = "
f1  su cl pr sp st wk ga la cu re
f2  cl pr sp wk ga la cu re
f3  su cl pr sp st wk ga la cu re
f4  sp st wk ga cu re
f5  st ga
f6  st wk ga
f7  wk ga la cu re
f8  st wk ga la cu re
f9  pr wk ga la cu re
f10 su cl pr sp st wk ga la cu re
f11 pr sp st ga la re
f12 su cl pr sp st wk ga la cu re
f13 su cl st wk ga la cu re
f15 su cl st wk ga la cu re
f16 cl pr sp st wk ga la cu re
f17 cl ga la re
f18 su cl pr wk la re
f19 ga la re
f20 wk la re
f21 ga la
f22 ga la cu
f23 pr la re
f24 su cl pr wk la cu re
f25 su cl re
";

/// The operations, as a test's name has them.
const OPERATIONS: [&str; 10] = ["su", "cl", "pr", "sp", "st", "wk", "ga", "la", "cu", "re"];

fn cells(line: &str) -> Vec<String> {
    let mut words = line.split_whitespace();
    let fault = words.next().unwrap();
    words.map(|operation| format!("{fault}_{operation}")).collect()
}

/// The cells that a test's name says: `f9_la_re_a_git_is_killed` is of two, and so is `f5_ga_f22_ga_a_check_hangs`.
fn cells_of(name: &str) -> Vec<String> {
    let mut cells = Vec::new();
    let mut fault = None;
    for word in name.split('_') {
        let number = word.strip_prefix('f').unwrap_or_default();
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            fault = Some(word);
        } else if let Some(fault) = fault.filter(|_| OPERATIONS.contains(&word)) {
            cells.push(format!("{fault}_{word}"));
        } else {
            break;
        }
    }
    cells
}

#[test]
fn a_name_says_its_cells() {
    let said = |name| cells_of(name).join(" ");
    assert_eq!(said("f9_la_re_a_git_is_killed"), "f9_la f9_re");
    assert_eq!(said("f5_ga_f22_ga_la_a_check_hangs"), "f5_ga f22_ga f22_la");
    assert_eq!(said("a_ga"), "");
    assert_eq!(said("folders_of_re"), "");
}

#[test]
fn every_cell_has_a_test_that_says_so() {
    let wanted: BTreeSet<String> = WANTED
        .lines()
        .filter(|line| !line.is_empty())
        .flat_map(cells)
        .collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut sources = Vec::new();
    read(crates, &mut sources);
    let mut there: BTreeSet<String> = sources.iter().flat_map(|source| tests_in(source)).collect();
    there.extend(tests_of_this());
    let proved: BTreeSet<String> = there.iter().flat_map(|name| cells_of(name)).collect();
    let missing: Vec<_> = wanted.difference(&proved).collect();
    assert!(missing.is_empty(), "no test is named after {missing:?}");
}

/// The tests of this suite that are run when nothing is asked for.
fn tests_of_this() -> BTreeSet<String> {
    let listed = |more: &[&str]| {
        let mut this = crate::faults::mounts::program(std::env::current_exe().unwrap().to_str().unwrap());
        let output = this.args(["--list", "--format", "terse"]).args(more).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
        names
            .map(|name| name.rsplit("::").next().unwrap().to_owned())
            .collect::<BTreeSet<_>>()
    };
    let (all, ignored) = (listed(&[]), listed(&["--ignored"]));
    all.difference(&ignored).cloned().collect()
}

/// The tests that a file has, those that a macro of its own makes of names too; neither what is commented out nor what is ignored.
fn tests_in(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // Attributes of what comes next; the macros that make tests of names, and whether one of them is called here.
    let (mut attributes, mut makers, mut called) = (String::new(), Vec::new(), false);
    let mut defined = None;
    for line in source.lines() {
        let code = line.trim();
        if code.starts_with("//") || code.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix("macro_rules! ") {
            defined = name.split_whitespace().next().map(str::to_owned);
        }
        if line == "}" {
            (defined, called) = (None, false);
        } else if called {
            found.extend(code.split_whitespace().map(str::to_owned));
        } else if code.starts_with("#[") || (!attributes.is_empty() && !attributes.ends_with(']')) {
            attributes.push_str(code);
        } else {
            let is_test = attributes.contains("#[test]") || attributes.contains("#[tokio::test");
            let name = code.split_once("fn ").and_then(|(_, rest)| rest.split_once('('));
            if let (true, Some((name, _))) = (is_test && !attributes.contains("#[ignore"), name) {
                found.insert(name.to_owned());
                if name.starts_with('$') {
                    makers.extend(defined.clone());
                }
            }
            attributes.clear();
            called = makers.iter().any(|maker| line == format!("{maker}! {{"));
        }
    }
    found
}

#[test]
fn what_is_commented_out_or_ignored_is_no_test() {
    let source = "#[test]\nfn one() {}\n// #[test]\n// fn two() {}\n#[test]\n#[ignore = \"slow\"]\nfn three() {}\nfn four() {}\n\
        macro_rules! made {\n    ($($name:ident)*) => {\n        #[test]\n        fn $name() {}\n    };\n}\nmade! {\n    five 5\n    \
        // six 6\n}\n#[test]\n#[expect(\n    lint,\n)]\nfn seven() {}\n";
    let found = tests_in(source);
    for (name, is) in [
        ("one", true),
        ("two", false),
        ("three", false),
        ("four", false),
        ("five", true),
        ("six", false),
        ("seven", true),
    ] {
        assert_eq!(found.contains(name), is, "{name} of {found:?}");
    }
}

/// What each of the Rust files below a folder says.
fn read(folder: &Path, sources: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(fs::read_to_string(&path).unwrap());
        }
    }
}
