//! `gh`, GitHub's own client, by which crew makes pull requests and looks at them.

mod address;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use harness::environment::Environment;
use process::{Answer, Exchange, NoAnswer};
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub(crate) use address::{is_address, number_of};
use address::{is_word, place_of, repository_of};

/// The time that one call has, unless it is told otherwise.
const LIMIT: Duration = Duration::from_secs(60);
/// The exit code by which `gh` says that it has no credentials.
const NEEDS_LOGIN: i32 = 4;
/// The variables that `gh` gets: its own, its way to its settings and to a keyring, certificates, proxies.
const PASSED: [&str; 31] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_HOST",
    "GH_CONFIG_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];
/// The variables that keep it from asking, from colours and pagers, and from looking for a newer version.
const SET: [(&str, &str); 8] = [
    ("GH_PROMPT_DISABLED", "1"),
    ("GH_NO_UPDATE_NOTIFIER", "1"),
    ("GH_NO_EXTENSION_UPDATE_NOTIFIER", "1"),
    ("GH_SPINNER_DISABLED", "1"),
    ("GH_PAGER", "cat"),
    ("NO_COLOR", "1"),
    ("CLICOLOR_FORCE", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// The people whose words may count, in the words of the host's interface.
const TRUSTED: [&str; 3] = ["OWNER", "MEMBER", "COLLABORATOR"];

/// `gh`, as crew runs it: without a terminal or a question, and with a time limit.
#[derive(Clone, Debug)]
pub(crate) struct Gh {
    program: PathBuf,
    env: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
    /// `host/owner/name`, where the address of the remote says it; else `gh` finds out from the repository.
    repository: Option<String>,
    /// The time that one call has.
    limit: Duration,
}

/// Why `gh` did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GhError {
    /// The host cannot be reached, or has no time: that may pass without a person.
    #[error("{0}")]
    Away(String),
    /// A person has to mend it.
    #[error("{0}")]
    Refused(String),
}

type Result<T> = std::result::Result<T, GhError>;

/// A pull request in a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    pub(crate) number: u64,
    pub(crate) url: String,
    pub(crate) state: String,
    pub(crate) head_ref_oid: String,
    /// Whether its branch is that of another repository, a fork.
    #[serde(default)]
    pub(crate) is_cross_repository: bool,
}

/// A pull request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Viewed {
    pub(crate) state: String,
    pub(crate) head_ref_oid: String,
    pub(crate) base_ref_name: String,
    pub(crate) is_draft: bool,
    pub(crate) mergeable: String,
    /// Empty where the host asks for no review.
    #[serde(default)]
    pub(crate) review_decision: Option<String>,
    #[serde(default)]
    pub(crate) merge_commit: Option<Commit>,
}

/// A commit of a pull request.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Commit {
    pub(crate) oid: String,
}

/// A review of a pull request, in the words of the host's interface.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Review {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) user: Option<User>,
    #[serde(default)]
    pub(crate) body: Option<String>,
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) commit_id: Option<String>,
}

/// A comment on a line, which belongs to a review.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Comment {
    #[serde(default)]
    pub(crate) pull_request_review_id: Option<u64>,
    #[serde(default)]
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) line: Option<u64>,
    #[serde(default)]
    pub(crate) original_line: Option<u64>,
    #[serde(default)]
    pub(crate) body: String,
}

/// Somebody at the host.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct User {
    pub(crate) login: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MergesAllowed {
    merge_commit_allowed: bool,
    squash_merge_allowed: bool,
    rebase_merge_allowed: bool,
}

/// A pull request that is to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New<'a> {
    pub(crate) head: &'a str,
    pub(crate) base: &'a str,
    pub(crate) title: &'a str,
    pub(crate) body: &'a str,
    pub(crate) is_draft: bool,
    pub(crate) labels: &'a std::collections::BTreeSet<String>,
}

impl Gh {
    /// Finds `gh` in the caller's `PATH`. `address`: that of the remote; `root`: the user's repository.
    pub(crate) fn find(env: &Environment, address: Option<&str>, root: &Path) -> Result<Self> {
        let path = env.get(OsStr::new("PATH")).map(OsString::as_os_str);
        let program = process::find_program(Path::new("gh"), path, root).map_err(|error| {
            GhError::Refused(format!(
                "{error}; pull requests need GitHub's client: install it (https://cli.github.com), then `gh auth login`"
            ))
        })?;
        let passed = PASSED.into_iter().map(OsStr::new);
        let passed = passed.filter_map(|name| Some((name.to_owned(), env.get(name)?.clone())));
        let set = SET.into_iter().map(|(name, value)| (name.into(), value.into()));
        let repository = address.and_then(repository_of);
        Ok(Self {
            program,
            env: passed.chain(set).collect(),
            cwd: match repository {
                Some(_) => PathBuf::from("/"),
                None => root.to_owned(),
            },
            repository,
            limit: LIMIT,
        })
    }

    /// The program, if it has credentials for the host.
    pub(crate) fn logged_in(&self) -> Result<PathBuf> {
        let host = self.repository.as_deref().and_then(|name| name.split('/').next());
        let host = host.into_iter().flat_map(|host| ["--hostname", host]);
        let args: Vec<&str> = ["auth", "status"].into_iter().chain(host).collect();
        // Another account of the host, which is not used, may have credentials that have run out. An older gh
        // looks at all of them.
        let active = [args.as_slice(), &["--active"]].concat();
        match self.run(&active, "auth status", &[]) {
            Err(GhError::Refused(why)) if why.contains("unknown flag") => {
                self.run(&args, "auth status", &[])?;
            }
            said => drop(said?),
        }
        Ok(self.program.clone())
    }

    /// The pull requests of a branch, the newest first.
    pub(crate) fn list(&self, head: &str, base: &str) -> Result<Vec<Listed>> {
        let fields = "number,url,state,headRefOid,isCrossRepository";
        // Forks may have a branch of the same name, and gh names thirty unless it is told otherwise.
        let args = ["pr", "list", "--head", head, "--base", base, "--state", "all"];
        let args = [args.as_slice(), &["--limit", "1000", "--json", fields]].concat();
        let listed: Vec<Listed> = self.json(&self.here(&args), "pr list")?;
        Ok(listed
            .into_iter()
            .filter(|one| !one.is_cross_repository)
            .collect())
    }

    /// Makes a pull request; gives its number and its address.
    pub(crate) fn create(&self, new: New<'_>) -> Result<(u64, String)> {
        let args = ["pr", "create", "--head", new.head, "--base", new.base];
        let mut args: Vec<&str> = [args.as_slice(), &["--title", new.title, "--body-file", "-"]].concat();
        if new.is_draft {
            args.push("--draft");
        }
        for label in new.labels {
            args.extend(["--label", label]);
        }
        let said = self.run(&self.here(&args), "pr create", new.body.as_bytes())?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let addresses = said.split_whitespace().rev();
        let found = addresses.filter_map(|word| Some((place_of(word)?.number, word.to_owned())));
        found.into_iter().next().ok_or_else(|| {
            GhError::Refused(format!("`gh pr create` names no pull request: {}", shown(&said)))
        })
    }

    /// A pull request, by its address.
    pub(crate) fn view(&self, url: &str) -> Result<Viewed> {
        let fields = "state,headRefOid,baseRefName,isDraft,mergeable,reviewDecision,mergeCommit";
        self.json(&["pr", "view", url, "--json", fields], "pr view")
    }

    /// The reviews of a pull request by people who may have a say in its repository, the oldest first.
    pub(crate) fn reviews(&self, url: &str) -> Result<Vec<Review>> {
        self.each_of(url, "reviews")
    }

    /// The comments on lines of a pull request by the same people.
    pub(crate) fn comments(&self, url: &str) -> Result<Vec<Comment>> {
        self.each_of(url, "comments")
    }

    /// Whether somebody may write to the repository of a pull request. A member of its organisation need not.
    pub(crate) fn may_write(&self, url: &str, login: &str) -> Result<bool> {
        let place = place_of(url).ok_or_else(|| not_an_address(url))?;
        // An app is no collaborator.
        if !is_word(login) {
            return Ok(false);
        }
        let path = format!("repos/{}/collaborators/{login}/permission", place.repository);
        let args = ["api", "--hostname", place.host, "--jq", ".permission", &path];
        let said = match self.run(&args, "api", &[]) {
            // Nobody has this name any more.
            Err(GhError::Refused(why)) if why.contains("HTTP 404") => return Ok(false),
            said => said?,
        };
        Ok(matches!(said.trim_ascii(), b"admin" | b"write"))
    }

    /// Merges a pull request, if its branch is at this commit, in the first of the ways that the repository
    /// allows and the rules of the branch do not refuse.
    pub(crate) fn merge(&self, url: &str, head: &str) -> Result<()> {
        let place = place_of(url).ok_or_else(|| not_an_address(url))?;
        let repository = format!("{}/{}", place.host, place.repository);
        let fields = "mergeCommitAllowed,squashMergeAllowed,rebaseMergeAllowed";
        let allowed: MergesAllowed =
            self.json(&["repo", "view", &repository, "--json", fields], "repo view")?;
        let ways = [
            (allowed.merge_commit_allowed, "--merge"),
            (allowed.squash_merge_allowed, "--squash"),
            (allowed.rebase_merge_allowed, "--rebase"),
        ];
        let mut ways = ways
            .into_iter()
            .filter_map(|(is_allowed, way)| is_allowed.then_some(way));
        let mut way = ways.next().unwrap_or("--merge");
        loop {
            let args = ["pr", "merge", url, way, "--match-head-commit", head];
            match self.run(&args, "pr merge", &[]) {
                Err(GhError::Refused(why)) if is_about_the_way(&why) => match ways.next() {
                    Some(next) => way = next,
                    None => return Err(GhError::Refused(why)),
                },
                said => return said.map(drop),
            }
        }
    }

    fn each_of<T: DeserializeOwned>(&self, url: &str, what: &str) -> Result<Vec<T>> {
        let place = place_of(url).ok_or_else(|| not_an_address(url))?;
        let path = format!(
            "repos/{}/pulls/{}/{what}?per_page=100",
            place.repository, place.number
        );
        // Anybody can write on a public repository, and so more than crew reads.
        let by = TRUSTED.map(|who| format!(".author_association==\"{who}\""));
        let which = format!(".[]|select({})", by.join(" or "));
        let args = [
            "api",
            "--hostname",
            place.host,
            "--paginate",
            "--jq",
            &which,
            &path,
        ];
        let said = self.run(&args, "api", &[])?;
        let each = serde_json::Deserializer::from_slice(&said).into_iter::<T>();
        let all: std::result::Result<Vec<T>, _> = each.collect();
        all.map_err(|error| nonsense("api", &error, &said))
    }

    /// The arguments with the repository, where crew knows its name.
    fn here<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let repository = self.repository.as_deref();
        let named = repository.into_iter().flat_map(|name| ["--repo", name]);
        args.iter().copied().chain(named).collect()
    }

    fn json<T: DeserializeOwned>(&self, args: &[&str], what: &str) -> Result<T> {
        let said = self.run(args, what, &[])?;
        serde_json::from_slice(&said).map_err(|error| nonsense(what, &error, &said))
    }

    fn run(&self, args: &[&str], what: &str, input: &[u8]) -> Result<Vec<u8>> {
        let exchange = Exchange {
            program: self.program.clone(),
            args: args.iter().map(OsString::from).collect(),
            env: self.env.clone(),
            cwd: self.cwd.clone(),
            input: input.to_vec(),
            limit: self.limit,
        };
        match exchange.ask() {
            Ok(Answer {
                code: Some(0),
                stdout,
                ..
            }) => Ok(stdout),
            Ok(answer) => Err(failed(what, &answer)),
            Err(error @ NoAnswer::TooSlow(_)) => Err(GhError::Away(format!("`gh {what}`: {error}"))),
            Err(error @ (NoAnswer::Failed(_) | NoAnswer::GivenUp)) => {
                Err(GhError::Refused(format!("`gh {what}`: {error}")))
            }
        }
    }
}

/// The failure of a call, by what a person can do about it.
fn failed(what: &str, answer: &Answer) -> GhError {
    let words = String::from_utf8_lossy(&answer.stderr).into_owned();
    let said = match words.trim() {
        "" => "it does not say why".to_owned(),
        _ => shown(&words),
    };
    let why = format!("`gh {what}` failed: {said}");
    let words = words.to_lowercase();
    let needs_login = answer.code == Some(NEEDS_LOGIN)
        || ["http 401", "bad credentials", "gh auth login"]
            .iter()
            .any(|sign| words.contains(sign));
    if needs_login {
        return GhError::Refused(format!(
            "{why}; `gh auth login` logs it in, `gh auth status` shows how it is"
        ));
    }
    let is_away = AWAY.iter().any(|sign| words.contains(sign)) || answer.code.is_none();
    match is_away {
        true => GhError::Away(why),
        false => GhError::Refused(why),
    }
}

/// Words of `gh` for a network or a host that is away, or that has no time, in small letters.
const AWAY: [&str; 18] = [
    "error connecting to",
    "rate limit",
    "http 429",
    "http 500",
    "http 502",
    "http 503",
    "http 504",
    "timeout",
    "timed out",
    "no such host",
    "connection refused",
    "connection reset",
    "network is unreachable",
    "network is down",
    "no route to host",
    "stream error",
    "unexpected eof",
    ": eof",
];

/// Whether a merge is refused for the way in which it is made: a branch may allow less than the repository.
fn is_about_the_way(why: &str) -> bool {
    let why = why.to_lowercase();
    [
        "merge method",
        "merge commit",
        "linear history",
        "merges are not allowed",
    ]
    .iter()
    .any(|sign| why.contains(sign))
}

fn nonsense(what: &str, error: &serde_json::Error, said: &[u8]) -> GhError {
    let said = shown(&String::from_utf8_lossy(said));
    GhError::Refused(format!(
        "`gh {what}` printed what crew cannot read ({error}): {said}; is it GitHub's own client, and new enough?"
    ))
}

fn not_an_address(url: &str) -> GhError {
    GhError::Refused(format!("{} is no address of a pull request", shown(url)))
}

fn shown(text: &str) -> String {
    text::sanitise::fit(&text::sanitise::line(text.trim()), 400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_whether_it_may_pass() {
        let of = |code, stderr: &str| {
            let answer = Answer {
                code,
                stdout: Vec::new(),
                stderr: stderr.as_bytes().to_vec(),
            };
            matches!(failed("pr view", &answer), GhError::Away(_))
        };
        assert!(of(Some(1), "error connecting to api.github.com"));
        assert!(of(Some(1), "HTTP 403: API rate limit exceeded for user ID 1."));
        assert!(of(Some(1), "Post \"https://api.github.com/graphql\": EOF"));
        assert!(of(Some(1), "dial tcp 192.0.2.1:443: connect: no route to host"));
        assert!(!of(
            Some(4),
            "To get started with GitHub CLI, please run:  gh auth login"
        ));
        assert!(!of(
            Some(1),
            "HTTP 401: Bad credentials (https://api.github.com/graphql)"
        ));
        assert!(!of(Some(1), "could not add label: 'x' not found"));
    }

    #[test]
    fn a_gh_that_does_not_end_is_away() {
        use std::os::unix::fs::PermissionsExt as _;

        let bin = tempfile::tempdir().unwrap();
        let program = bin.path().join("gh");
        std::fs::write(&program, "#!/bin/sh\nwhile :; do read x < /dev/zero; done\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let env = Environment::from([("PATH".into(), bin.path().into())]);
        let gh = Gh {
            limit: Duration::from_millis(200),
            ..Gh::find(&env, None, bin.path()).unwrap()
        };
        let error = gh.view("https://github.com/team/it/pull/1").unwrap_err();
        assert!(matches!(error, GhError::Away(_)), "{error}");
    }
}
