//! Completion in the real shells, at a terminal, installed as docs/completion.md says.

use testkit::pty::Pty;
use testkit::wait::until;

use crate::commands::repo::{Repo, env};

/// A title in which every shell would find something to do.
const TITLE: &str = "It's \"one\": $(touch pwned) `touch pwned`; touch pwned % \\ *";
/// A folder that an agent may have made.
const FOLDER: &str = "zz $(touch pwned)";
const PROMPT: &str = "ready>";

/// A shell at a terminal, in a repository with the agent `ada` and the tickets `t-1` and `t-22`.
struct Shell {
    repo: Repo,
    terminal: Pty,
}

impl Shell {
    /// `files`: of the home. The words are the shell's own.
    fn start(files: &[(&str, &str)], words: &[&str]) -> Self {
        let name = words[0];
        let there = env().args([name, "--version"]).output();
        assert!(
            there.is_ok_and(|said| said.status.success()),
            "{name} is needed for this test: install the package `{name}`"
        );
        let repo = Repo::with_crew();
        repo.ticket("t-1", TITLE, "");
        repo.ticket("t-22", "Two", "");
        repo.ticket("t-33", "Three", "parent: \"no id: $(touch pwned)\"");
        repo.crew(&["spawn", "ada"]).ok();
        std::fs::create_dir(repo.root.join(FOLDER)).unwrap();
        for (path, text) in files {
            let path = repo.home().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let terminal = repo.shell(words, (170, 90));
        let shell = Self { repo, terminal };
        shell.at_prompt();
        shell
    }

    /// Waits until nothing but the prompt is on the screen.
    #[track_caller]
    fn at_prompt(&self) {
        until("the prompt", || {
            (self.terminal.screen().trim() == PROMPT).then_some(())
        });
    }

    /// Takes away what stands there, by keys that no shell needs a signal for: Ctrl-E, Ctrl-U, Ctrl-L.
    #[track_caller]
    fn clear(&mut self) {
        self.terminal.press("\x05\x15\x0c");
        self.at_prompt();
    }

    /// Types a line and presses the key; all of these are on the screen then, and none of those.
    #[track_caller]
    fn offers(&mut self, line: &str, wanted: &[&str], unwanted: &[&str]) {
        self.terminal.press(&format!("{line}\t"));
        for text in wanted {
            self.terminal.until(text);
        }
        let screen = self.terminal.screen();
        for text in unwanted {
            assert!(!screen.contains(text), "{line}: {text} in\n{screen}");
        }
        self.clear();
    }

    /// Types a line with keys in it until this stands there, and has the shell carry it out.
    #[track_caller]
    fn runs(&mut self, line: &str, completed: &str, rest: &str, said: &str) {
        self.terminal.press(line);
        self.terminal.until(completed);
        self.terminal.press(&format!("{rest}\r"));
        let prompt = format!("\n{PROMPT}");
        until(said, || {
            let screen = self.terminal.screen();
            (screen.contains(said) && screen.trim_end().ends_with(&prompt)).then_some(())
        });
        self.clear();
    }

    /// Everything that a person may complete.
    #[track_caller]
    fn completes_everything(&mut self) {
        self.offers("crew ", &["commit-to", "ticket", "dashboard"], &["shim"]);
        self.offers("crew ticket ", &["add-note", "reopen", "undep"], &["--json"]);
        self.offers("crew logs ", &["ada", "t-1", "t-22"], &["--follow"]);
        self.offers("crew logs --fol", &["crew logs --follow"], &[]);
        self.offers("crew kill ", &["crew kill ada"], &["t-1"]);
        self.offers("crew assign ada ", &["t-1", "t-22"], &[]);
        self.offers("crew expl t-2", &["crew expl t-22"], &[]);
        self.offers("crew run --harness ", &["crew run --harness agent"], &[]);
        self.offers("crew ticket show t-2", &["crew ticket show t-22"], &[]);
        self.offers("crew ticket dep t-1 t-2", &["crew ticket dep t-1 t-22"], &[]);
        self.offers(
            "crew ticket create --deps t-1,t-2",
            &["crew ticket create --deps t-1,t-22"],
            &[],
        );
        self.offers(
            "crew ticket status t-1 clo",
            &["crew ticket status t-1 closed"],
            &[],
        );
        let elsewhere = format!("cd {}", self.repo.home().display());
        self.runs(&elsewhere, "cd ", "", PROMPT);
        let from_elsewhere = format!("crew -C {} explain t-2", self.repo.root.display());
        self.offers(&from_elsewhere, &["explain t-22"], &[]);
        let back = format!("cd {}", self.repo.root.display());
        self.runs(&back, "cd ", "", PROMPT);
        self.runs("crew explain t-2\t", "explain t-22", "", "Two");
        // What others have named is text on the command line, too.
        self.runs("crew -C zz\t", "pwned", " ps", "AGENT");
        for folder in [&self.repo.root, &self.repo.home(), &self.repo.root.join(FOLDER)] {
            assert!(
                !folder.join("pwned").exists(),
                "it was carried out in {}",
                folder.display()
            );
        }
    }
}

#[test]
fn bash_completes_what_there_is_and_runs_nothing_of_it() {
    let settings = "eval \"$(crew completions bash)\"\nPS1='ready> '\n\
         bind 'set show-all-if-ambiguous on'\nbind 'set page-completions off'\nbind 'set completion-query-items 0'\n";
    let mut shell = Shell::start(&[(".bashrc", settings)], &["bash", "-i"]);
    shell.completes_everything();
}

#[test]
fn zsh_completes_what_there_is_and_runs_nothing_of_it() {
    let settings = "PS1='ready> '\nLISTMAX=0\nunsetopt listambiguous\nautoload -Uz compinit\ncompinit -u\nsource <(crew completions zsh)\n";
    let mut shell = Shell::start(&[(".zshrc", settings)], &["zsh", "-i"]);
    shell.offers(
        "crew explain ",
        &["t-1", "It's \"one\": $(touch pwned) `touch pwned`"],
        &[],
    );
    shell.completes_everything();
}

#[test]
fn zsh_completes_at_the_first_key_by_a_file_of_its_path() {
    let script = Repo::none().crew(&["completions", "zsh"]).ok().out;
    let settings = "PS1='ready> '\nLISTMAX=0\nunsetopt listambiguous\nfpath=(~/functions $fpath)\nautoload -Uz compinit\ncompinit -u\n";
    let files = [(".zshrc", settings), ("functions/_crew", script.as_str())];
    let mut shell = Shell::start(&files, &["zsh", "-i"]);
    shell.offers("crew explain t-2", &["crew explain t-22"], &[]);
    shell.offers("crew explain t-2", &["crew explain t-22"], &[]);
}

#[test]
fn fish_completes_what_there_is_and_runs_nothing_of_it() {
    let script = Repo::none().crew(&["completions", "fish"]).ok().out;
    let settings = "function fish_prompt; echo 'ready> '; end\nset -g fish_greeting\nset -g fish_autosuggestion_enabled 0\n";
    let files = [
        (".config/fish/config.fish", settings),
        (".config/fish/completions/crew.fish", script.as_str()),
    ];
    let mut shell = Shell::start(&files, &["fish", "-i"]);
    shell.offers(
        "crew explain ",
        &["t-1", "It's \"one\": $(touch pwned) `touch pwned`"],
        &[],
    );
    shell.completes_everything();
}

/// The words that fish is offered behind these, and that nothing is said beside them.
#[track_caller]
fn offered(repo: &Repo, words: &[&str]) -> Vec<String> {
    let mut command = repo.program(&repo.root);
    let crew = command.pop().unwrap();
    command.extend(["CREW_COMPLETE=fish".to_owned(), crew, "--".to_owned()]);
    let said = repo.run(&command, words).ok();
    assert_eq!(said.err, "", "{words:?}");
    let word = |line: &str| line.split('\t').next().unwrap().to_owned();
    said.out.lines().map(word).collect()
}

#[test]
fn where_nothing_can_be_read_the_commands_are_offered_and_nothing_is_said() {
    let bare = Repo::none();
    let damaged = Repo::with_crew();
    damaged.crew(&["spawn", "ada"]).ok();
    assert_eq!(offered(&damaged, &["crew", "kill", ""]), ["ada"]);
    damaged.write(".crew/journal.db", "no journal");
    let unset = Repo::with_crew();
    unset.ticket("t-1", "One", "");
    unset.write("crew.toml", "[");
    for repo in [&bare, &damaged, &unset] {
        assert!(offered(repo, &["crew", ""]).contains(&"kill".to_owned()));
        assert!(!offered(repo, &["crew", "kill", ""]).contains(&"ada".to_owned()));
    }
    assert_eq!(offered(&unset, &["crew", "retry", ""]), ["t-1"]);
    assert_eq!(
        offered(&unset, &["crew", "-C", "/nowhere", "retry", "t"]),
        [""; 0]
    );
}

#[test]
fn what_is_over_is_offered_last_and_by_its_file() {
    let repo = Repo::with_crew();
    repo.ticket("t-2", "Two", "");
    repo.ticket("t-1", "One", "");
    repo.crew(&["ticket", "close", "t-1"]).ok();
    assert_eq!(offered(&repo, &["crew", "ticket", "reopen", ""]), ["t-2", "t-1"]);
    assert!(!offered(&repo, &["crew", "ticket", "reopen", "-"]).contains(&"--json".to_owned()));
    assert!(offered(&repo, &["crew", "retry", "-"]).contains(&"--json".to_owned()));
}
