use crate::commands::repo::Repo;

#[test]
fn init_writes_settings_that_can_be_read_and_says_what_guards_the_target() {
    let repo = Repo::new();
    repo.write("Makefile", "test:\n\ttrue\n");
    insta::assert_snapshot!(repo.seen(&["init", "--yes"]));
    insta::assert_snapshot!(repo.seen(&["config"]));
    assert!(repo.root.join(".tickets").is_dir());
    assert!(
        repo.read(".git/info/exclude")
            .lines()
            .any(|line| line == "/.crew/")
    );
    assert_eq!(
        repo.git(&["status", "--porcelain"]),
        "?? Makefile\n?? crew.toml\n"
    );
}

#[test]
fn init_says_plainly_when_nothing_guards_the_target() {
    let repo = Repo::new();
    repo.script("");
    let said = repo.crew(&["init", "--yes", "--agent", "./agent.sh"]).ok();
    assert!(said.out.contains("nothing guards the target"), "{said}");
    assert!(
        repo.read("crew.toml").contains("command = [\"./agent.sh\"]"),
        "{}",
        repo.read("crew.toml")
    );
}

#[test]
fn init_splits_the_agents_program_as_a_shell_would() {
    let repo = Repo::new();
    repo.crew(&["init", "--yes", "--agent", "sh -c 'cat; echo DONE' -"])
        .ok();
    let settings = repo.read("crew.toml");
    assert!(
        settings.contains(r#"command = ["sh", "-c", "cat; echo DONE", "-"]"#),
        "{settings}"
    );
}

#[test]
fn init_names_the_table_of_a_program_after_it() {
    for (program, table) in [
        ("codex", "codex"),
        ("my client.sh", "my-client"),
        ("claude.sh", "agent"),
        ("…", "agent"),
    ] {
        let repo = Repo::new();
        repo.script("");
        std::fs::rename(repo.root.join("agent.sh"), repo.root.join(program)).unwrap();
        repo.crew(&["init", "--yes", "--agent", &format!("'./{program}' exec -")])
            .ok();
        let settings = repo.read("crew.toml");
        assert!(settings.contains(&format!("[harness.{table}]")), "{settings}");
        assert!(settings.contains(&format!("harness = \"{table}\"")), "{settings}");
        repo.crew(&["config"]).ok();
    }
}

#[test]
fn init_refuses_a_program_that_cannot_be_started_before_anything_is_written() {
    let repo = Repo::new();
    for (agent, why) in [
        ("no-such-program-anywhere exec -", "no-such-program-anywhere"),
        ("./missing.sh", "missing.sh"),
        ("./README", "README"),
        ("sh -c 'cat", "not closed"),
        (" ", "cannot be empty"),
        ("''", "cannot be empty"),
    ] {
        let said = repo.crew(&["init", "--yes", "--agent", agent]);
        assert_ne!(said.code, 0, "{agent}: {said}");
        assert!(said.err.contains(why), "{agent}: {said}");
        assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "", "{agent}");
    }
}

#[test]
fn init_takes_claude_where_it_is_installed_and_names_the_variables_it_needs() {
    use std::os::unix::fs::PermissionsExt as _;
    let repo = Repo::new();
    let bin = repo.home().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let claude = bin.join("claude");
    std::fs::write(&claude, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = repo.program(&repo.root);
    let path = command.iter_mut().find(|word| word.starts_with("PATH=")).unwrap();
    *path = format!("PATH={}:{}", bin.display(), &path["PATH=".len()..]);
    command.insert(2, "ANTHROPIC_API_KEY=canary".to_owned());
    let said = repo.run(&command, &["init", "--yes"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(said.out.contains("agents run on   claude"), "{said}");
    let written = repo.read("crew.toml");
    for line in [
        "harness = \"claude\"",
        "[harness.claude]",
        "pass_env = [\"ANTHROPIC_API_KEY\"]",
    ] {
        assert!(written.contains(line), "{line} is missing:\n{written}");
    }
    assert!(!written.contains("canary") && !said.to_string().contains("canary"));
    repo.crew(&["config"]).ok();
}

#[test]
fn init_writes_nothing_over_settings_and_asks_where_nobody_can_answer() {
    let repo = Repo::new();
    let said = repo.crew(&["init"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.contains("crew init --yes"), "{said}");
    assert!(!repo.root.join("crew.toml").exists());
    repo.write("crew.toml", "# mine\n");
    let said = repo.crew(&["init", "--yes"]);
    assert_eq!(said.code, 1, "{said}");
    assert_eq!(repo.read("crew.toml"), "# mine\n");
}

#[test]
fn init_in_a_folder_of_the_repository_makes_the_whole_of_it_ready() {
    let repo = Repo::new();
    std::fs::create_dir(repo.root.join("deep")).unwrap();
    repo.crew_in(&repo.root.join("deep"), &["init", "--yes"]).ok();
    assert!(repo.root.join("crew.toml").is_file());
    repo.crew_in(&repo.home(), &["-C", "../repo/deep", "ps"]).ok();
}

#[test]
fn a_target_that_cannot_be_one_is_refused() {
    let repo = Repo::new();
    repo.git(&["switch", "--quiet", "--create", "agent/x"]);
    let said = repo.crew(&["init", "--yes"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(
        said.err.contains("where crew keeps its agents' branches"),
        "{said}"
    );
    assert!(!repo.root.join("crew.toml").exists());
}

#[test]
fn init_says_that_there_is_nothing_to_try() {
    let repo = Repo::new();
    let said = repo.crew(&["init", "--yes", "--try"]).ok();
    assert!(
        said.out.contains("nothing was tried: there are no checks"),
        "{said}"
    );
}

/// Whether a program can be run with these arguments.
fn runs(repo: &Repo, command: &[&str]) -> bool {
    let program = [command[0].to_owned()];
    repo.run(&program, &command[1..]).code == 0
}

/// A build backend that needs nothing of an index: an editable install is a path to `src`.
const BACKEND: &str = r#"
import os, zipfile

NAME = "pkg-1-py3-none-any.whl"
META = "Metadata-Version: 2.1\nName: pkg\nVersion: 1\nProvides-Extra: test\nRequires-Dist: pytest; extra == 'test'\n"

def get_requires_for_build_editable(config_settings=None):
    return []

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(os.path.join(wheel_directory, NAME), "w") as wheel:
        wheel.writestr("pkg.pth", os.path.abspath("src") + "\n")
        wheel.writestr("pkg-1.dist-info/METADATA", META)
        wheel.writestr("pkg-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("pkg-1.dist-info/RECORD", "")
    return NAME
"#;

/// Makes a package `pytest` that runs the functions of `tests/test_pkg.py`.
const PYTEST: &str = r#"
import sys, zipfile

with zipfile.ZipFile(sys.argv[1] + "/pytest-9-py3-none-any.whl", "w") as wheel:
    wheel.writestr("pytest/__init__.py", "")
    wheel.writestr("pytest/__main__.py", "import runpy\nfor name, it in runpy.run_path('tests/test_pkg.py').items():\n    if name.startswith('test_'): it()\nprint('1 passed')\n")
    wheel.writestr("pytest-9.dist-info/METADATA", "Metadata-Version: 2.1\nName: pytest\nVersion: 9\n")
    wheel.writestr("pytest-9.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("pytest-9.dist-info/RECORD", "")
"#;

/// A Python package in `src`, whose tests can only import it where it is installed. pip finds everything in a
/// folder of the home.
fn python_package() -> Repo {
    let repo = Repo::new();
    let wheels = repo.home().join("wheels");
    let pip = repo.home().join(".config/pip");
    for folder in [&wheels, &pip] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let settings = format!("[global]\nno-index = true\nfind-links = {}\n", wheels.display());
    std::fs::write(pip.join("pip.conf"), settings).unwrap();
    let made = repo.run(&["python3".to_owned()], &["-c", PYTEST, wheels.to_str().unwrap()]);
    assert_eq!(made.code, 0, "{made}");
    for (path, text) in [
        (
            "pyproject.toml",
            "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['tools']\n\
             [project]\nname = 'pkg'\nversion = '1'\n[project.optional-dependencies]\ntest = ['pytest']\n",
        ),
        ("tools/backend.py", BACKEND),
        ("src/pkg.py", "def two():\n    return 2\n"),
        (
            "tests/test_pkg.py",
            "import pkg\n\ndef test_two():\n    assert pkg.two() == 2, 'this is not two'\n",
        ),
        (".gitignore", ".venv\n__pycache__\n"),
    ] {
        repo.write(path, text);
    }
    repo.commit("package");
    repo
}

#[test]
fn a_python_package_in_src_is_checked_by_the_proposal_alone() {
    if !runs(&Repo::none(), &["python3", "-m", "ensurepip", "--version"]) {
        eprintln!("skipped: there is no Python with venv here");
        return;
    }
    let repo = python_package();
    let said = repo.crew(&["init", "--yes", "--try"]);
    assert_eq!(said.code, 0, "{said}");
    for line in [
        "set up by       python3 -m venv .venv",
        ".venv/bin/pip install -e '.[test]'",
        "runs on main, .venv/bin/python -m pytest",
        "with broken sources: .venv/bin/python -m pytest",
        "main passes its checks",
    ] {
        assert!(said.out.contains(line), "{line} is missing: {said}");
    }
    let written = repo.read("crew.toml");
    let setup = r#"setup = ["python3 -m venv .venv", ".venv/bin/pip install -e '.[test]'"]"#;
    let live = written.lines().filter(|line| line.starts_with(setup)).count();
    assert_eq!(live, 2, "workspaces and checks: {written}");
    // The same settings find that the sources are wrong.
    repo.write("src/pkg.py", "def two():\n    return 3\n");
    repo.commit("break it");
    std::fs::remove_file(repo.root.join("crew.toml")).unwrap();
    let said = repo.crew(&["init", "--yes", "--try"]);
    assert_eq!(said.code, 3, "{said}");
    assert!(said.out.contains("this is not two"), "{said}");
}

#[test]
fn a_node_package_with_a_lock_file_is_checked_by_the_proposal_alone() {
    if !runs(&Repo::none(), &["npm", "--version"]) {
        eprintln!("skipped: npm is not here");
        return;
    }
    let repo = Repo::new();
    let lock = r#"{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x","version":"1.0.0"}}}"#;
    for (path, text) in [
        (
            "package.json",
            r#"{"name":"x","version":"1.0.0","scripts":{"test":"node test.js"}}"#,
        ),
        ("package-lock.json", lock),
        ("index.js", "module.exports = 2;\n"),
        ("test.js", "require('assert').equal(require('./index.js'), 2);\n"),
        ("Makefile", "test:\n\tnpm test\n"),
    ] {
        repo.write(path, text);
    }
    repo.commit("package");
    let said = repo.crew(&["init", "--yes", "--try"]);
    assert_eq!(said.code, 0, "{said}");
    for line in [
        "checked by      npm test   (npm seen in package.json)",
        "set up by       npm ci",
        "also seen       make in Makefile",
        "runs on main, npm test",
        "main passes its checks",
    ] {
        assert!(said.out.contains(line), "{line} is missing: {said}");
    }
    let written = repo.read("crew.toml");
    for line in [
        "setup = [\"npm ci\", \"mkdir -p node_modules && echo '*' > node_modules/.gitignore\"]",
        "# Also seen: make in Makefile: commands = [\"make test\"]",
    ] {
        assert!(written.contains(line), "{line} is missing: {written}");
    }
}

#[test]
fn a_node_package_that_its_installation_builds_is_built_again_by_each_check() {
    if !runs(&Repo::none(), &["npm", "--version"]) {
        eprintln!("skipped: npm is not here");
        return;
    }
    let repo = Repo::new();
    let lock = r#"{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x","version":"1.0.0"}}}"#;
    for (path, text) in [
        (
            "package.json",
            r#"{"name":"x","version":"1.0.0","scripts":{"prepare":"node build.config.js","test":"node test.js"}}"#,
        ),
        ("package-lock.json", lock),
        (".gitignore", "dist\nnode_modules\n"),
        (
            "build.config.js",
            "require('./index.js'); require('fs').cpSync('index.js', 'dist/index.js');\n",
        ),
        ("index.js", "module.exports = 2;\n"),
        (
            "test.js",
            "require('assert').equal(require('./dist/index.js'), 2, 'this is not two');\n",
        ),
    ] {
        repo.write(path, text);
    }
    repo.commit("package");
    let said = repo.crew(&["init", "--yes", "--try"]);
    assert_eq!(said.code, 0, "{said}");
    for line in [
        "checked by      npm run prepare && npm test   (npm seen in package.json)",
        "set up by       npm ci",
        "with broken sources: npm run prepare && npm test",
        "main passes its checks",
    ] {
        assert!(said.out.contains(line), "{line} is missing: {said}");
    }
    // The set-up stays the same, and what it has built is that of the last commit.
    repo.write("index.js", "module.exports = 3;\n");
    repo.commit("break it");
    std::fs::remove_file(repo.root.join("crew.toml")).unwrap();
    let said = repo.crew(&["init", "--yes", "--try"]);
    assert_eq!(said.code, 3, "{said}");
    assert!(said.out.contains("actual: 3"), "{said}");
    // The message stands above the last lines, which are all that is shown here.
    assert!(said.out.contains("crew logs --check"), "{said}");
    let all = repo.crew(&["logs", "--check"]).ok();
    assert!(all.out.contains("this is not two"), "{all}");
}

#[test]
fn what_init_prints_works_where_git_ignores_every_new_file() {
    let repo = Repo::new();
    repo.write(".gitignore", "/*\n!/README\n");
    repo.git(&["add", "--force", ".gitignore"]);
    repo.commit("ignore");
    let said = repo.crew(&["init", "--yes"]).ok();
    assert!(said.out.contains("git add --force crew.toml &&"), "{said}");
    repo.git(&["add", "--force", "crew.toml"]);
}

#[test]
fn init_names_a_program_that_is_not_installed_and_looks_at_no_ignored_file() {
    let repo = Repo::new();
    repo.write("mix.exs", "");
    repo.write("Makefile", "test:\n\ttrue\n");
    repo.write(".gitignore", "Makefile\n");
    let path = repo.home().join("bin");
    std::fs::create_dir(&path).unwrap();
    let mut command = repo.program(&repo.root);
    let git = crate::commands::repo::env()
        .arg("which")
        .arg("git")
        .output()
        .unwrap();
    let git = String::from_utf8(git.stdout).unwrap();
    std::os::unix::fs::symlink(git.trim_end(), path.join("git")).unwrap();
    let entry = command.iter_mut().find(|word| word.starts_with("PATH=")).unwrap();
    *entry = format!("PATH={}", path.display());
    let said = repo.run(&command, &["init", "--yes", "--json"]);
    assert_eq!(said.code, 0, "{said}");
    let said = said.json();
    assert_eq!(said["runner"], "mix", "{said}");
    assert_eq!(said["missing"], serde_json::json!(["mix"]), "{said}");
    assert_eq!(said["also_seen"], serde_json::json!([]), "{said}");
    assert_eq!(said["setup"], serde_json::json!(["mix deps.get"]), "{said}");
    // The first next step is to mend that.
    std::fs::remove_file(repo.root.join("crew.toml")).unwrap();
    let said = repo.run(&command, &["init", "--yes"]).ok();
    let advice = "next:\n  install mix, or set another command in crew.toml under [checks]\n";
    assert!(said.out.contains(advice), "{said}");
}

#[test]
fn init_says_that_run_will_refuse_to_start_where_checks_have_no_place() {
    let repo = Repo::new();
    repo.script("");
    repo.write("Makefile", "test:\n\ttrue\n");
    let mut command = repo.program(&repo.root);
    command.insert(2, format!("XDG_STATE_HOME={}/.state", repo.root.display()));
    let said = repo
        .run(&command, &["init", "--yes", "--agent", "./agent.sh"])
        .ok();
    assert!(
        said.out
            .contains("`crew run` will refuse to start: checks would run in"),
        "{said}"
    );
    assert!(
        said.out
            .contains("next:\n  set XDG_STATE_HOME to a folder outside"),
        "{said}"
    );
    let doctor = repo.run(&command, &["doctor"]);
    assert!(
        doctor.code == 1 && doctor.out.contains("checks would run in"),
        "{doctor}"
    );
    let said = repo.run(&command, &["run", "--until-idle"]);
    assert!(
        said.code == 1 && said.err.contains("checks would run in"),
        "{said}"
    );
}

#[test]
fn init_begins_no_second_crew_on_a_branch_without_the_settings() {
    let repo = Repo::with_agent("echo x > x; git add .; git commit -qm x; echo DONE");
    repo.ticket("t-1", "One", "");
    repo.crew(&["run", "--until-idle"]).ok();
    repo.git(&["checkout", "-q", "-b", "stable", "main~2"]);
    assert!(!repo.root.join("crew.toml").exists());
    let said = repo.crew(&["init", "--yes", "--agent", "./agent.sh"]);
    assert!(
        said.code == 2 && said.err.contains("switch to the branch that has it"),
        "{said}"
    );
    assert!(!repo.root.join("crew.toml").exists());
}
