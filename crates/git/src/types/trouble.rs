//! Trouble with a remote, by what a person can do about it.

/// The kind of trouble that a remote makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The repository has no remote of that name.
    Unnamed,
    /// The remote has several addresses, or takes a push at another repository than it is fetched from.
    Addresses,
    /// No answer: the network, the host or its service is away. It may pass without a person.
    Away,
    /// Nothing is at the remote's address, or not for this user.
    Gone,
    /// The remote wants credentials that git does not find, or does not take those that it finds.
    Credentials,
    /// The remote does not have the target branch.
    NoBranch,
    /// The remote's rules refuse the push: a hook, or the protection of the branch.
    Refused,
    /// Somebody else has pushed to the branch of a pull request.
    Foreign,
    /// The work has files in Git LFS, and there is no `git-lfs`, or it is not set up here.
    NoLfs,
    /// Git LFS could not send the content of files.
    Lfs,
    /// Anything else; git's words are all that is known.
    Other,
}

impl Trouble {
    /// The kind of a failed call, by what git printed on standard error. Messages of the remote itself, which
    /// begin with `remote:`, may hold any word and so do not count.
    pub(crate) fn of(stderr: &str) -> Self {
        let own = stderr
            .lines()
            .filter(|line| !line.trim_start().starts_with("remote:"));
        let said = own.collect::<Vec<_>>().join("\n").to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
        if has(REFUSED) {
            Self::Refused
        } else if has(CREDENTIALS) {
            Self::Credentials
        } else if has(AWAY) {
            Self::Away
        } else if has(GONE) {
            Self::Gone
        } else {
            Self::Other
        }
    }

    pub(crate) fn sentence(self, remote: &str, says: &str) -> String {
        match self {
            Self::Unnamed => {
                format!("this repository has no remote `{remote}`, which [land] of crew.toml names")
            }
            Self::Addresses => format!("the remote {remote} is not one repository: {says}"),
            Self::Away => format!("the remote {remote} cannot be reached: {says}"),
            Self::Gone => format!("there is no repository at the remote {remote}: {says}"),
            Self::Credentials => {
                format!("the remote {remote} does not take git's credentials, or git has none for it: {says}")
            }
            Self::NoBranch => {
                format!("the remote {remote} has no branch {says}: git push {remote} {says} makes it")
            }
            Self::Refused => format!("the remote {remote} refuses the push: {says}"),
            Self::Foreign => format!("nothing was pushed to {remote}: {says}"),
            Self::NoLfs => {
                format!("nothing was pushed to {remote}, since the work has files in Git LFS: {says}")
            }
            Self::Lfs => {
                format!("Git LFS could not send the content of files to the remote {remote}: {says}")
            }
            Self::Other => format!("git failed at the remote {remote}: {says}"),
        }
    }

    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Unnamed => {
                "`git remote -v` lists the remotes; name one as `[land] remote`, or write mode = \"local\""
            }
            Self::Addresses => {
                "`git remote get-url --all --push <name>` shows where a push goes; `git remote set-url` leaves one address"
            }
            Self::Away => "crew tries again by itself",
            Self::Gone => "`git remote get-url <name>` shows the address, `git remote set-url` mends it",
            Self::Credentials => {
                "make `git ls-remote <name>` work without a question: a helper of credentials for https, an agent \
                 with the key for ssh"
            }
            Self::NoBranch => "if it was renamed there, name it as `[project] target` in crew.toml instead",
            Self::Refused => "change the rule there, or the work",
            Self::Foreign => "`crew retry` goes on then",
            Self::NoLfs => {
                "install git-lfs where crew finds it in its PATH, run `git lfs install`, and start crew again"
            }
            Self::Lfs => "what Git LFS says must be mended first",
            Self::Other => "what git says must be mended first",
        }
    }
}

/// A hook that keeps the refs from moving ends the connection, too.
const REFUSED: &[&str] = &["ref updates aborted by hook"];

const CREDENTIALS: &[&str] = &[
    "authentication failed",
    "could not read username",
    "could not read password",
    "terminal prompts disabled",
    "permission denied (",
    "host key verification failed",
    "returned error: 401",
    "returned error: 403",
    "requested url returned error: 407",
    // In the words of Git LFS.
    "git credentials for",
    "authorization error",
    "authentication required",
];

const AWAY: &[&str] = &[
    "could not resolve",
    "couldn't resolve",
    "temporary failure in name resolution",
    "connection refused",
    "connection timed out",
    "connection reset",
    "connection closed",
    "operation timed out",
    "network is unreachable",
    "no route to host",
    "failed to connect",
    "couldn't connect",
    "unexpected disconnect",
    "the remote end hung up",
    "early eof",
    "rpc failed",
    "operation too slow",
    "recv failure",
    "returned error: 5",
    "returned error: 429",
    // In the words of Git LFS.
    "no such host",
    "i/o timeout",
    "tls handshake timeout",
    "server error",
    "rate limit exceeded",
];

const GONE: &[&str] = &[
    "does not appear to be a git repository",
    "repository not found",
    "returned error: 404",
    "' not found",
    "no such file or directory",
    "could not read from remote repository",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_git_name_the_trouble_and_those_of_the_remote_do_not() {
        for (said, trouble) in [
            (
                "fatal: unable to access 'https://h/': Could not resolve host: h",
                Trouble::Away,
            ),
            (
                "ssh: connect to host h port 22: Connection refused\nfatal: Could not read from remote repository.",
                Trouble::Away,
            ),
            (
                "fatal: could not read Username for 'https://h': terminal prompts disabled",
                Trouble::Credentials,
            ),
            (
                "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.",
                Trouble::Credentials,
            ),
            (
                "fatal: '/nowhere' does not appear to be a git repository\nfatal: Could not read from remote repository.",
                Trouble::Gone,
            ),
            (
                "no refs today\nfatal: ref updates aborted by hook\nfatal: the remote end hung up unexpectedly",
                Trouble::Refused,
            ),
            (
                "batch response: Post \"https://h/objects/batch\": dial tcp: lookup h: no such host",
                Trouble::Away,
            ),
            (
                "batch response: Git credentials for https://h/it.git not found.",
                Trouble::Credentials,
            ),
            (
                "remote: Connection refused\nerror: failed to push some refs to 'h'",
                Trouble::Other,
            ),
        ] {
            assert_eq!(Trouble::of(said), trouble, "{said}");
        }
    }
}
