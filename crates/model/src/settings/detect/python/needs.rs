//! The requirements of a Python package's tests: extras, groups and files that list them.

use super::super::files::Files;
use super::manifest::{Lists, Manifest, PYPROJECT};

/// Names of extras, groups and files with the requirements of tests.
const TESTS: [&str; 5] = ["test", "tests", "testing", "pytest", "unittest"];
/// Names of those with the requirements of developers. They are taken where none for tests has pytest.
const DEVELOPERS: [&str; 4] = ["dev", "develop", "development", "devel"];
const REQUIREMENTS: &str = "requirements.txt";

/// The requirements of the tests.
#[derive(Debug, Default)]
pub(super) struct Needs {
    pub(super) extras: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) files: Vec<Listed>,
    /// The file that names pytest; none where pytest has to be installed beside.
    pub(super) pytest_in: Option<String>,
}

/// A file that lists requirements.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) path: String,
    /// Whether it names the digests of what it lists.
    pub(super) has_hashes: bool,
    has_pytest: bool,
}

impl Needs {
    pub(super) fn of(files: &Files<'_>, manifest: &Manifest) -> Self {
        let (extras, groups) = chosen(&manifest.extras, &manifest.groups);
        let mut needs = Self {
            extras,
            groups,
            ..Self::default()
        };
        let is_named = any_has_pytest(&manifest.extras, &needs.extras)
            || any_has_pytest(&manifest.groups, &needs.groups)
            || has_pytest(&manifest.dependencies);
        let pipfile = || files.toml("Pipfile").unwrap_or_default();
        if is_named {
            let of_it = files.first_of(&[PYPROJECT, "setup.cfg", "setup.py"]);
            needs.pytest_in = of_it.map(str::to_owned);
        } else if ["/packages/pytest", "/dev-packages/pytest"]
            .iter()
            .any(|key| pipfile().pointer(key).is_some())
        {
            needs.pytest_in = Some("Pipfile".to_owned());
        } else {
            needs.files = listed(files);
        }
        let own = Listed::read(files, REQUIREMENTS);
        let lacks_pytest = needs.pytest_in.is_none() && !needs.files.iter().any(|file| file.has_pytest);
        needs.files.extend(own.filter(|own| {
            // The dependencies of a package stand in its manifest.
            !manifest.is_package || (own.has_pytest && lacks_pytest)
        }));
        let with_pytest = needs.files.iter().find(|file| file.has_pytest);
        needs.pytest_in = needs
            .pytest_in
            .take()
            .or(with_pytest.map(|file| file.path.clone()));
        needs
    }
}

impl Listed {
    fn read(files: &Files<'_>, path: &str) -> Option<Self> {
        let text = files.text(path)?;
        let lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
        Some(Self {
            path: path.to_owned(),
            has_hashes: text.contains("--hash="),
            has_pytest: has_pytest(&lines),
        })
    }
}

/// The extras and groups to install: those for tests, those for developers where these lack pytest, and any
/// that has pytest where none of these has.
fn chosen(extras: &Lists, groups: &Lists) -> (Vec<String>, Vec<String>) {
    let named = |lists: &Lists, names: &[&str]| -> Vec<String> {
        let names = names.iter().filter(|name| lists.contains_key(**name));
        names.map(|name| (*name).to_owned()).collect()
    };
    let lacks = |chosen: &(Vec<String>, Vec<String>)| {
        !any_has_pytest(extras, &chosen.0) && !any_has_pytest(groups, &chosen.1)
    };
    // Nothing is known about the requirements of an empty list.
    let useful = |lists: &Lists, names: Vec<String>| -> Vec<String> {
        let is_useful = |name: &String| {
            lists
                .get(name)
                .is_some_and(|list| list.is_empty() || has_pytest(list))
        };
        names.into_iter().filter(is_useful).collect()
    };
    let any = |lists: &Lists| -> Option<String> {
        let is_word = |name: &str| {
            name.chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        };
        let mut named = lists
            .iter()
            .filter(|(name, list)| is_word(name) && has_pytest(list));
        named.next().map(|(name, _)| name.clone())
    };
    let mut chosen = (named(extras, &TESTS), named(groups, &TESTS));
    if lacks(&chosen) {
        chosen.0.extend(useful(extras, named(extras, &DEVELOPERS)));
        chosen.1.extend(useful(groups, named(groups, &DEVELOPERS)));
    }
    if lacks(&chosen) {
        match any(groups) {
            Some(group) => chosen.1.push(group),
            None => chosen.0.extend(any(extras)),
        }
    }
    chosen
}

/// The files with requirements of tests, or else of developers.
fn listed(files: &Files<'_>) -> Vec<Listed> {
    let named = |names: &[&str]| {
        let paths = files.all(|path| lists_for(path, names));
        let listed = paths.into_iter().filter_map(|path| Listed::read(files, path));
        listed.collect::<Vec<_>>()
    };
    let for_tests = named(&TESTS);
    match for_tests.is_empty() {
        true => named(&DEVELOPERS),
        false => for_tests,
    }
}

/// Whether a file such as `requirements-test.txt` or `requirements/dev.txt` is one of these names.
fn lists_for(path: &str, names: &[&str]) -> bool {
    let Some(stem) = path
        .strip_suffix(".txt")
        .filter(|stem| stem.matches('/').count() < 2)
    else {
        return false;
    };
    let stem = stem.to_lowercase();
    let (requirements, others): (Vec<&str>, Vec<&str>) = stem
        .split(['/', '-', '_', '.'])
        .partition(|word| *word == "requirements");
    !requirements.is_empty() && !others.is_empty() && others.iter().all(|word| names.contains(word))
}

fn any_has_pytest(lists: &Lists, names: &[String]) -> bool {
    let mut lists = names.iter().filter_map(|name| lists.get(name));
    lists.any(|list| has_pytest(list))
}

/// Whether one of the requirements brings pytest: pytest itself, or a plugin.
fn has_pytest(requirements: &[String]) -> bool {
    requirements
        .iter()
        .any(|one| is_called(one, "pytest") || name_of(one).starts_with("pytest-"))
}

/// Whether a requirement is one for the package of that name.
pub(super) fn is_called(requirement: &str, name: &str) -> bool {
    name_of(requirement) == name
}

/// The name of the package in a requirement, such as `pytest` of `PyTest>=8`.
fn name_of(requirement: &str) -> String {
    let is_name = |c: &char| c.is_ascii_alphanumeric() || "._-".contains(*c);
    let name: String = requirement.chars().take_while(is_name).collect();
    name.to_lowercase().replace(['_', '.'], "-")
}
