//! Programs: one is run for a moment, without a shell, with a message in its arguments and on its input.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use client::{Exchange, GiveUp, NoAnswer, find_program};
use serde::Serialize;

use crate::message::Message;
use crate::settings::{Stdin, To};

/// The time that a program has for a message; then its process group is killed.
const LIMIT: Duration = Duration::from_secs(10);
/// Characters of what a program said when it failed.
const MOST: usize = 200;

/// Variables that every program gets: what programs need to find a desktop, a mail box, a proxy, their own
/// settings and their words. None of them is crew's, an agent's or a secret.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_TIME",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_DATA_DIRS",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_TYPE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
];

/// The placeholders of arguments, each a name in braces.
pub(crate) struct Placeholders(&'static [&'static str]);

/// All of them.
pub(crate) const PLACEHOLDERS: Placeholders =
    Placeholders(&["title", "body", "id", "url", "kind", "ticket", "repository"]);

/// A piece of an argument.
enum Piece<'w> {
    Text(&'w str),
    /// The name between braces.
    Name(&'w str),
}

/// The argument in pieces. Braces around anything but lower-case letters and `_` are text, such as JSON's.
fn pieces(word: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut text, mut at) = (0, 0);
    while let Some(open) = word[at..].find('{').map(|open| at + open) {
        let rest = &word[open + 1..];
        let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        match end.filter(|end| *end > 0 && rest[*end..].starts_with('}')) {
            Some(end) => {
                pieces.push(Piece::Text(&word[text..open]));
                pieces.push(Piece::Name(&rest[..end]));
                text = open + end + 2;
                at = text;
            }
            None => at = open + 1,
        }
    }
    pieces.push(Piece::Text(&word[text..]));
    pieces.retain(|piece| !matches!(piece, Piece::Text("")));
    pieces
}

impl Placeholders {
    /// The names in braces that are no placeholders.
    pub(crate) fn unknown<'w>(&self, word: &'w str) -> Vec<&'w str> {
        let names = pieces(word).into_iter().filter_map(|piece| match piece {
            Piece::Name(name) if !self.0.contains(&name) => Some(name),
            Piece::Name(_) | Piece::Text(_) => None,
        });
        names.collect()
    }

    /// Whether an argument has one.
    pub(crate) fn is_in(&self, word: &str) -> bool {
        pieces(word).iter().any(|piece| matches!(piece, Piece::Name(_)))
    }

    /// All of them, as a person writes them.
    pub(crate) fn shown(&self) -> String {
        let all: Vec<String> = self.0.iter().map(|name| format!("{{{name}}}")).collect();
        all.join(" ")
    }

    /// An argument for a message. What is put in is put in once: its own braces are text. Where it stands at
    /// the beginning, the argument cannot become an option, or the name of a file to read (`@`). The body
    /// keeps its lines where it is the whole argument, and is one line inside another text, such as a header.
    fn filled(&self, word: &str, message: &Message) -> String {
        let pieces = pieces(word);
        let is_whole = pieces.len() == 1;
        let begins = matches!(pieces.first(), Some(Piece::Name(_)));
        let value = |name: &str| match name {
            "title" => message.title.clone(),
            "body" if is_whole => message.body.clone(),
            "body" => message.body.replace('\n', " "),
            "id" => message.id.clone(),
            "url" => message.url.clone(),
            "kind" => message.kind.clone(),
            "ticket" => message.ticket.clone().unwrap_or_default(),
            "repository" => message.repository.clone(),
            // The settings were refused for it.
            other => format!("{{{other}}}"),
        };
        let filled: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => (*text).to_owned(),
                Piece::Name(name) => value(name),
            })
            .collect();
        let filled = filled.replace('\0', "");
        if begins && filled.starts_with(['-', '@']) {
            format!(" {filled}")
        } else {
            filled
        }
    }
}

/// The message as a program reads it.
#[derive(Serialize)]
struct Document<'m> {
    #[serde(flatten)]
    message: &'m Message,
    /// The title, the body and the link in one.
    text: String,
}

/// Runs the program of a way of telling, with a message, and waits for its end. `env` is the notifier's own
/// environment. Gives the failure in a line; none once it ended well.
pub(crate) fn send(
    to: &To,
    message: &Message,
    env: &BTreeMap<OsString, OsString>,
    give_up: &GiveUp,
) -> Result<(), Failure> {
    let failed = |why: String| Failure::Failed(cut(&text::sanitise::line(&why)));
    let of_program = environment(to, env);
    let home = env.get(OsStr::new("HOME")).map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    let mut words = to.command.iter().map(|word| at_home(word, home.as_deref()));
    let program = words.next().unwrap_or_default();
    let path = of_program.get(OsStr::new("PATH")).map(AsRef::as_ref);
    let root = Path::new("/");
    let program = find_program(Path::new(&program), path, root).map_err(|not| failed(not.why))?;
    let exchange = Exchange {
        program,
        args: words
            .map(|word| PLACEHOLDERS.filled(&word, message).into())
            .collect(),
        env: of_program,
        cwd: home
            .filter(|home| home.is_dir())
            .unwrap_or_else(|| root.to_owned()),
        input: input(to.stdin, message),
        limit: LIMIT,
    };
    let answer = match exchange.ask_unless(give_up) {
        Ok(answer) => answer,
        Err(NoAnswer::GivenUp) => return Err(Failure::GivenUp),
        Err(NoAnswer::TooSlow(limit)) => {
            return Err(failed(format!(
                "it did not end within {} s, and was ended",
                limit.as_secs()
            )));
        }
        Err(error @ NoAnswer::Failed(_)) => return Err(failed(error.to_string())),
    };
    if answer.code == Some(0) {
        return Ok(());
    }
    let how = match answer.code {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    };
    let said = [&answer.stderr, &answer.stdout].into_iter().find_map(|said| {
        let said = String::from_utf8_lossy(said).into_owned();
        let last = said.lines().rev().map(text::sanitise::output_line);
        last.into_iter().find(|line| !line.is_empty())
    });
    Err(failed(match said {
        Some(said) => format!("{how}: {said}"),
        None => how,
    }))
}

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The program failed, in a line.
    Failed(String),
    /// The notifier ended: nobody knows how far the program came.
    GivenUp,
}

/// A word that begins with `~/` has the home folder there.
fn at_home(word: &str, home: Option<&Path>) -> String {
    match (word.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        (Some(_) | None, _) => word.to_owned(),
    }
}

fn environment(to: &To, env: &BTreeMap<OsString, OsString>) -> BTreeMap<OsString, OsString> {
    let names = PASSED
        .iter()
        .copied()
        .chain(to.pass_env.iter().map(String::as_str));
    let passed = names.filter_map(|name| Some((OsString::from(name), env.get(OsStr::new(name))?.clone())));
    passed.collect()
}

fn input(stdin: Stdin, message: &Message) -> Vec<u8> {
    match stdin {
        Stdin::Json => {
            let document = Document {
                message,
                text: message.text(),
            };
            let mut json = serde_json::to_vec(&document).unwrap_or_default();
            json.push(b'\n');
            json
        }
        Stdin::Body => {
            let parts = [&message.body, &message.url].map(String::as_str);
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            (parts.join("\n\n") + "\n").into_bytes()
        }
        Stdin::Mail => mail(message).into_bytes(),
    }
}

/// The message as a mail. Sender, receiver and date are the mailer's.
fn mail(message: &Message) -> String {
    let body: Vec<&str> = [message.body.as_str(), message.url.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let headers = [
        ("Subject", message.title.as_str()),
        ("X-Crew-Id", message.id.as_str()),
        ("MIME-Version", "1.0"),
        ("Content-Type", "text/plain; charset=UTF-8"),
        ("Content-Transfer-Encoding", "8bit"),
        ("Auto-Submitted", "auto-generated"),
    ];
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}\n", header(value)))
        .collect();
    format!("{headers}\n{}\n", body.join("\n\n"))
}

/// The value of a header: as it is where it is plain, else in encoded words (RFC 2047).
fn header(value: &str) -> String {
    // With the longest name of a header, a line stays below 78 characters.
    const WORD: usize = 48;
    if value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) && !value.contains("=?") {
        return value.to_owned();
    }
    let mut words = vec![String::new()];
    for c in value.chars() {
        let mut bytes = [0; 4];
        let encoded: String = match c {
            c if c.is_ascii_alphanumeric() => c.to_string(),
            ' ' => "_".to_owned(),
            c => c
                .encode_utf8(&mut bytes)
                .bytes()
                .map(|byte| format!("={byte:02X}"))
                .collect(),
        };
        if words.last().is_none_or(|word| word.len() + encoded.len() > WORD) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push_str(&encoded);
        }
    }
    let words: Vec<String> = words.iter().map(|word| format!("=?UTF-8?Q?{word}?=")).collect();
    words.join("\n ")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        Message {
            title: "ada asks about t-1 (p)".to_owned(),
            body: "ada wrote:\n> {url} $HOME `id`".to_owned(),
            url: "http://x/r/p/inbox/q".to_owned(),
            ..Message::trial("p", "http://x", "q".to_owned())
        }
    }

    #[test]
    fn an_argument_gets_the_message_once_and_no_shell_reads_it() {
        let filled = |word: &str| PLACEHOLDERS.filled(word, &message());
        assert_eq!(filled("Title: {title}"), "Title: ada asks about t-1 (p)");
        assert_eq!(filled("{body}"), "ada wrote:\n> {url} $HOME `id`");
        assert_eq!(filled("X-Body: {body}"), "X-Body: ada wrote: > {url} $HOME `id`");
        assert_eq!(filled("{\"id\": 1} {} {ID}"), "{\"id\": 1} {} {ID}");
        assert_eq!(filled("{{url}}"), "{http://x/r/p/inbox/q}");
        assert_eq!(PLACEHOLDERS.unknown("{titel}{url}{x"), ["titel"]);
    }

    #[test]
    fn what_is_put_in_makes_no_option_and_names_no_file() {
        for value in ["--config=/tmp/x", "-o/tmp/x", "@/etc/passwd", "-"] {
            let message = Message {
                title: value.to_owned(),
                repository: value.to_owned(),
                ..message()
            };
            for word in ["{title}", "{repository}", "{title}{url}"] {
                let filled = PLACEHOLDERS.filled(word, &message);
                assert!(filled.starts_with(&format!(" {value}")), "{word}: {filled}");
            }
            let after_text = PLACEHOLDERS.filled("--text={title}", &message);
            assert_eq!(after_text, format!("--text={value}"));
        }
    }

    #[test]
    fn a_program_gets_the_usual_variables_and_those_that_it_is_allowed() {
        let env = ["PATH", "HOME", "CREW_WORKER", "ANTHROPIC_API_KEY", "NTFY_TOKEN"];
        let env = env.map(|name| (OsString::from(name), OsString::from("x"))).into();
        let text = "[[to]]\ncommand = [\"a\"]\npass_env = [\"NTFY_TOKEN\"]\n";
        let settings = crate::Settings::parse(text, "notify.toml").unwrap();
        let given = environment(&settings.to[0], &env);
        assert_eq!(
            given.into_keys().collect::<Vec<_>>(),
            ["HOME", "NTFY_TOKEN", "PATH"]
        );
    }

    #[test]
    fn a_mail_has_its_subject_in_one_header_whatever_is_in_it() {
        let message = Message {
            title: "“Zoë”: a question about something that is quite long, in fact\nBcc: x@example.org"
                .to_owned(),
            ..message()
        };
        let mail = mail(&message);
        let (headers, body) = mail.split_once("\n\n").unwrap();
        assert!(!headers.contains("\nBcc"), "{headers}");
        assert!(
            headers.starts_with("Subject: =?UTF-8?Q?=E2=80=9CZo=C3=AB=E2=80=9D=3A_a_"),
            "{headers}"
        );
        assert!(headers.lines().all(|line| line.len() <= 78), "{headers}");
        assert_eq!(body, "ada wrote:\n> {url} $HOME `id`\n\nhttp://x/r/p/inbox/q\n");
    }
}
