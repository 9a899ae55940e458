//! Target `names`: a valid name is valid to git, is one component of a path, and never looks like an option;
//! and the mark of a ticket that was seen is read as it was written.

use model::command::Seen;
use model::journal::Stream;
use model::settings::branch_name;
use model::{AgentName, TicketId};

use crate::shown;

pub(crate) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let ticket = TicketId::new(&*text);
    let file = tickets::Id::new(&text);
    assert_eq!(
        ticket.is_ok(),
        file.is_ok(),
        "a ticket's id is the name of a ticket's file: {text:?}"
    );
    match &ticket {
        Ok(id) => {
            check_component(id.as_str());
            let stream = Stream::Ticket(id.clone());
            assert_eq!(Stream::parse(&stream.to_string()), Some(stream));
        }
        Err(why) => shown::one_line(&why.to_string()),
    }
    if let Err(why) = file {
        shown::one_line(&why.to_string());
    }
    match AgentName::new(&*text) {
        Ok(name) => {
            check_component(name.as_str());
            ticket.unwrap_or_else(|why| panic!("an agent's name could be an id: {why}"));
        }
        Err(why) => shown::one_line(&why.to_string()),
    }
    match branch_name(&text) {
        Ok(()) => assert!(is_branch(&text), "{text:?} is no branch to git"),
        Err(why) => shown::one_line(why),
    }
    let seen = |mark: &str| Seen::from_mark(TicketId::new("t-1").ok()?, mark);
    if let Some(mark) = seen(&text) {
        assert_eq!(seen(&mark.mark()), Some(mark), "{text:?}");
    }
    if let Some(Stream::Ticket(id)) = Stream::parse(&text) {
        assert_eq!(format!("ticket/{id}"), text);
    }
}

/// Panics unless a name is one component of a path and of a branch name, without characters that a shell
/// interprets.
#[track_caller]
fn check_component(name: &str) {
    assert!(is_branch(&format!("agent/{name}")), "{name:?}");
    assert!(
        !name.starts_with(['-', '.']) && !name.contains('/') && name.is_ascii(),
        "{name:?}"
    );
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    assert!(name.chars().all(is_plain), "{name:?}");
}

/// Whether a name follows the rules of git-check-ref-format(1) for `refs/heads/<name>`, and cannot be taken
/// for an option.
fn is_branch(name: &str) -> bool {
    let refused = [" ", "~", "^", ":", "?", "*", "[", "\\", "..", "@{", "//"];
    !name.is_empty()
        && !name.starts_with(['-', '/'])
        && !name.ends_with(['/', '.'])
        && name != "@"
        && name != "HEAD"
        && !refused.iter().any(|refused| name.contains(refused))
        && !name.bytes().any(|byte| byte < 32 || byte == 127)
        && name
            .split('/')
            .all(|part| !part.starts_with(['.', '-']) && !part.ends_with('.') && !part.ends_with(".lock"))
        && !name.contains(|c: char| c.is_whitespace() || shown::is_harmful(c))
}
