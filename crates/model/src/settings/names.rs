//! Names that reach refs, paths and command lines: refused here, so that nothing behind has to quote them.

/// The longest name of a harness, in bytes.
const MAX_NAME: usize = 64;
/// The longest branch name, in bytes: it must fit a file name, with a lock's suffix.
const MAX_BRANCH: usize = 200;

/// Checks the name of a harness, by the grammar of agents' names. It becomes a part of paths and messages.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence that began with the name.
pub(super) fn harness_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("is empty");
    }
    if name.len() > MAX_NAME {
        return Err("is longer than 64 characters");
    }
    if name.starts_with(['-', '.']) {
        return Err("begins with a dash or a dot");
    }
    if !name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    {
        return Err("has a character other than letters, digits, `.`, `_` and `-`");
    }
    Ok(())
}

/// Checks the short name of a branch by git's own rules (`git check-ref-format --branch`), and by crew's: no
/// leading dash, not a full ref, and nothing in the way of crew's own branches `agent/…`.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence that began with the name.
pub fn branch_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("is empty");
    }
    if name.len() > MAX_BRANCH {
        return Err("is longer than 200 bytes");
    }
    if name.starts_with('-') {
        return Err("begins with a dash");
    }
    if name == "HEAD" || name == "@" {
        return Err("is not a branch but what is checked out");
    }
    if name.starts_with("refs/") {
        return Err("is a full ref; write the branch's name alone, without `refs/heads/`");
    }
    if name == "agent" || name.starts_with("agent/") {
        return Err("is where crew keeps its agents' branches");
    }
    if name
        .bytes()
        .any(|b| b.is_ascii_control() || matches!(b, b' ' | b'~' | b'^' | b':' | b'?' | b'*' | b'[' | b'\\'))
    {
        return Err("has a character that git refuses in a branch name");
    }
    if name.chars().any(is_unseen) {
        return Err("has a character that cannot be seen or turns the text round");
    }
    if name.contains("..") || name.contains("@{") {
        return Err("has `..` or `@{`, which git refuses in a branch name");
    }
    if name.ends_with('.') {
        return Err("ends with a dot, which git refuses");
    }
    for part in name.split('/') {
        if part.is_empty() {
            return Err("has an empty part around a `/`");
        }
        if part.starts_with('-') || part.ends_with('.') {
            return Err("has a part that begins with a dash or ends with a dot");
        }
        if part.starts_with('.') || part.ends_with(".lock") {
            return Err("has a part that begins with a dot or ends with `.lock`, which git refuses");
        }
    }
    Ok(())
}

/// White space, and characters that cannot be seen or that change the order of the others.
pub(super) fn is_unseen(c: char) -> bool {
    c.is_whitespace() || text::hides(c)
}

/// Checks a path inside the repository and gives it in its plain form: no `./`, no doubled or trailing `/`.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence that began with the key.
pub(super) fn inner_path(path: &str) -> Result<String, &'static str> {
    if path.trim().is_empty() {
        return Err("is empty");
    }
    if path.chars().any(char::is_control) {
        return Err("has a control character");
    }
    if path.starts_with('/') {
        return Err("is absolute; write it relative to the repository's root");
    }
    if path.starts_with('~') {
        return Err("begins with `~`, which is not expanded; write it relative to the repository's root");
    }
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if parts.contains(&"..") {
        return Err("leaves the repository by `..`");
    }
    if parts.is_empty() {
        return Err("is the repository itself; name a file or folder in it");
    }
    if parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return Err("is inside of git's own folder");
    }
    Ok(parts.join("/"))
}

/// Checks the name of an environment variable that an agent gets from the settings.
///
/// # Errors
///
/// What is wrong with it, as the end of a sentence that began with the name.
pub(super) fn variable(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("is empty");
    }
    if name.starts_with(|c: char| c.is_ascii_digit())
        || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    {
        return Err("is no variable's name: letters, digits and `_`, no digit first");
    }
    if name.starts_with("CREW_") || name == "TICKETS_DIR" {
        return Err("is set by crew itself");
    }
    Ok(())
}
