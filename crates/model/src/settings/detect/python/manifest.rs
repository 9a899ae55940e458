//! The manifests of a Python package: `pyproject.toml`, `setup.cfg` and `setup.py`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::files::Files;
use super::needs::is_called;

pub(super) const PYPROJECT: &str = "pyproject.toml";

/// Names of requirements by the name of their extra or group.
pub(super) type Lists = BTreeMap<String, Vec<String>>;

/// The parts of a package's manifests that say how its tests are run.
pub(super) struct Manifest {
    pyproject: Value,
    /// Whether pip can install it.
    pub(super) is_package: bool,
    /// Whether `pyproject.toml` has a project, which need not be a package.
    pub(super) is_project: bool,
    /// Whether it has parts that are compiled as it is installed: those of a later commit have to be
    /// installed again.
    pub(super) is_compiled: bool,
    /// Whether it has programs that are installed with it: its tests may call them by their names.
    pub(super) has_programs: bool,
    pub(super) name: Option<String>,
    pub(super) dependencies: Vec<String>,
    pub(super) extras: Lists,
    pub(super) groups: Lists,
}

/// Packages that build what is compiled.
const COMPILERS: [&str; 9] = [
    "maturin",
    "setuptools-rust",
    "scikit-build",
    "scikit-build-core",
    "meson-python",
    "cython",
    "pybind11",
    "nanobind",
    "mypy",
];

impl Manifest {
    pub(super) fn read(files: &Files<'_>) -> Self {
        let pyproject = files.toml(PYPROJECT).unwrap_or_default();
        let setup_cfg = files.text("setup.cfg").unwrap_or_default();
        let setup_py = files.text("setup.py").unwrap_or_default();
        let project = pyproject.get("project");
        let has_metadata = setup_cfg.lines().any(|line| line.trim_end() == "[metadata]");
        let builders = strings(pyproject.pointer("/build-system/requires"));
        let builds = |requirement: &String| COMPILERS.iter().any(|name| is_called(requirement, name));
        let mut extras = lists(pyproject.pointer("/project/optional-dependencies"));
        extras.extend(lists(pyproject.pointer("/tool/poetry/extras")));
        extras.extend(extras_of_setup_cfg(&setup_cfg));
        extras.extend(extras_of_setup_py(&setup_py));
        let mut dependencies = strings(pyproject.pointer("/project/dependencies"));
        dependencies.extend(keys(pyproject.pointer("/tool/poetry/dependencies")));
        let has_programs = |key| !keys(pyproject.pointer(key)).is_empty();
        Self {
            has_programs: has_programs("/project/scripts")
                || has_programs("/tool/poetry/scripts")
                || [&setup_cfg, &setup_py]
                    .iter()
                    .any(|text| text.contains("console_scripts")),
            is_package: project.is_some()
                || pyproject.get("build-system").is_some()
                || files.has("setup.py")
                || has_metadata,
            is_project: project.is_some() || pyproject.pointer("/tool/poetry").is_some(),
            is_compiled: builders.iter().any(builds) || setup_py.contains("ext_modules"),
            name: project
                .and_then(|project| project.get("name"))
                .and_then(Value::as_str)
                .map(str::to_owned),
            dependencies,
            extras,
            groups: groups(&pyproject),
            pyproject,
        }
    }

    /// Whether `pyproject.toml` has settings of a tool.
    pub(super) fn has_tool(&self, tool: &str) -> bool {
        self.pyproject.pointer(&format!("/tool/{tool}")).is_some()
    }

    /// A setting of a tool.
    pub(super) fn tool(&self, tool: &str, key: &str) -> Option<&Value> {
        self.pyproject.pointer(&format!("/tool/{tool}/{key}"))
    }

    /// Whether Poetry installs a group only if it is asked to.
    pub(super) fn is_optional_group(&self, group: &str) -> bool {
        let group = self.pyproject.pointer(&format!("/tool/poetry/group/{group}"));
        let optional = group.and_then(|group| group.get("optional"));
        optional.and_then(Value::as_bool).unwrap_or_default()
    }
}

/// The groups of `pyproject.toml`, in each form that there is.
fn groups(pyproject: &Value) -> Lists {
    let standard = pyproject.get("dependency-groups");
    let mut groups = lists(standard);
    // A group may stand in another one.
    let entries = standard.and_then(Value::as_object).into_iter().flatten();
    for (name, items) in entries {
        let items = items.as_array().into_iter().flatten();
        let included = items.filter_map(|item| item.get("include-group")?.as_str());
        let inner: Vec<String> = included
            .flat_map(|included| strings(standard.and_then(|all| all.get(included))))
            .collect();
        groups.entry(name.clone()).or_default().extend(inner);
    }
    let uv = strings(pyproject.pointer("/tool/uv/dev-dependencies"));
    let poetry = keys(pyproject.pointer("/tool/poetry/dev-dependencies"));
    let old: Vec<String> = uv.into_iter().chain(poetry).collect();
    if !old.is_empty() {
        groups.entry("dev".to_owned()).or_default().extend(old);
    }
    let of_poetry = pyproject.pointer("/tool/poetry/group").and_then(Value::as_object);
    for (name, group) in of_poetry.into_iter().flatten() {
        let requirements = keys(group.get("dependencies"));
        groups.entry(name.clone()).or_default().extend(requirements);
    }
    groups
}

fn lists(table: Option<&Value>) -> Lists {
    let entries = table.and_then(Value::as_object).into_iter().flatten();
    entries
        .map(|(name, items)| (name.clone(), strings(Some(items))))
        .collect()
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}

fn keys(table: Option<&Value>) -> Vec<String> {
    let entries = table.and_then(Value::as_object).into_iter().flatten();
    entries.map(|(name, _)| name.clone()).collect()
}

/// The extras of a `setup.cfg`: a key, and its requirements behind it or in indented lines below.
fn extras_of_setup_cfg(text: &str) -> Lists {
    let mut extras = Lists::new();
    let mut in_section = false;
    let mut current = None;
    for line in text.lines() {
        if line.starts_with('[') {
            in_section = line.trim_end() == "[options.extras_require]";
            current = None;
        } else if !in_section {
        } else if line.starts_with([' ', '\t']) {
            if let Some(extra) = &current {
                let list = extras.entry(String::clone(extra)).or_default();
                list.push(line.trim().to_owned());
            }
        } else if let Some((key, value)) = line.split_once('=') {
            let key = key.trim().to_owned();
            let list = value.split(';').map(str::trim).filter(|item| !item.is_empty());
            extras.insert(key.clone(), list.map(str::to_owned).collect());
            current = Some(key);
        }
    }
    extras
}

/// The extras of a `setup.py`: it is a program, so only names in quotes before a colon are seen, and nothing
/// is known about their requirements.
fn extras_of_setup_py(text: &str) -> Lists {
    let Some((_, text)) = text.split_once("extras_require") else {
        return Lists::new();
    };
    let mut extras = Lists::new();
    for quote in ['"', '\''] {
        let parts: Vec<&str> = text.split(quote).collect();
        for pair in parts.windows(2) {
            if pair[1].trim_start().starts_with(':') {
                extras.insert(pair[0].to_owned(), Vec::new());
            }
        }
    }
    extras
}
