//! The program that a command of the settings starts first, as far as its text shows that.

/// Commands of the shell that need no program, and after which another command may follow.
const BUILTINS: [&str; 11] = [
    "cd", "echo", "printf", "set", "test", "[", ":", "true", "false", "umask", "ulimit",
];
/// Characters behind which the text alone does not show what is started.
const OPAQUE: [char; 10] = ['`', '$', '(', ')', '{', '}', '\\', '#', '<', '\n'];

/// The program that a command line for `sh -c` starts first, by its name on `PATH`. None where the text does
/// not show that: a path, a variable, a keyword of the shell, a program that may fail (`a || b`).
#[must_use]
pub fn first_program(command: &str) -> Option<&str> {
    let mut rest = command;
    loop {
        let (part, after) = match rest.find(['&', ';', '|', '\'', '"']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let mut words = part
            .split_whitespace()
            .skip_while(|word| is_assignment(word) && !word.starts_with("PATH="));
        let word = words.next()?;
        if BUILTINS.contains(&word) {
            // What a quoted text has in it is not known.
            rest = after.strip_prefix("&&").or_else(|| after.strip_prefix(';'))?;
            continue;
        }
        let is_name = !word.contains(['/', '=', '*', '?', '~', '!']) && !word.contains(OPAQUE);
        let may_fail = after.starts_with("||");
        let is_of_shell = SHELL.contains(&word);
        return (is_name && !may_fail && !is_of_shell).then_some(word);
    }
}

/// Words of the shell that are no programs, and after which nothing is known.
const SHELL: [&str; 25] = [
    ".", "alias", "case", "command", "do", "eval", "exec", "exit", "export", "for", "function", "if",
    "local", "read", "return", "select", "source", "then", "time", "trap", "type", "unset", "until", "wait",
    "while",
];

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::first_program;

    #[test]
    fn the_first_program_is_known_where_the_text_shows_it() {
        for (command, program) in [
            ("uv run pytest", "uv"),
            ("uv sync --locked --extra 'test;x'", "uv"),
            ("cd web && npm test", "npm"),
            ("CI=1 LANG=C npm test | tail", "npm"),
            ("echo begin; make check", "make"),
            ("[ -d x ] && make check", "make"),
            ("bundle exec rspec", "bundle"),
        ] {
            assert_eq!(first_program(command), Some(program), "{command}");
        }
        for command in [
            "",
            ".venv/bin/python -m pytest",
            "PATH=\"$PWD/.venv/bin:$PATH\" .venv/bin/python -m pytest",
            "PATH=/opt/bin:$PATH uv run pytest",
            "$RUNNER test",
            "if [ -e x ]; then make; fi",
            "(cd web; npm test)",
            "uv --version || pip install uv",
            ". ./env.sh && uv run pytest",
            "echo 'a && b' && make",
            "test -e x || make",
            "'my program' x",
            "! grep x y",
        ] {
            assert_eq!(first_program(command), None, "{command}");
        }
    }
}
