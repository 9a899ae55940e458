//! The keys that are offered for what is chosen, and the remedies for an item of the inbox.

use model::attempt;
use model::policy::route::Refusal;
use model::ticket::{Done, State, Ticket};
use model::view::{Act, Item};

use crate::app::App;
use crate::pane::Pane;

/// The line of keys: those of the focused pane, and of what is chosen in it.
pub(crate) fn line(app: &App) -> String {
    let ticket = || app.chosen_ticket().and_then(|id| app.ticket(id));
    let of_ticket = || ticket().map(|ticket| keys_of(app, ticket)).unwrap_or_default();
    let runs = if app.has_other_runs() {
        "[ ] other runs"
    } else {
        ""
    };
    let fold = match (app.log.has_folds(), app.log.unfolded) {
        (false, _) => "",
        (true, true) => "f fold results",
        (true, false) => "f unfold results",
    };
    let scroll = if app.can_scroll(app.focus) {
        "↑↓ scroll"
    } else {
        ""
    };
    let of_pane: Vec<String> = match app.focus {
        Pane::Agents => vec![
            diff_word(app).to_owned(),
            keys_of_agent(app),
            "n spawn".to_owned(),
            "/ filter".to_owned(),
        ],
        Pane::Queue | Pane::Train => vec![diff_word(app).to_owned(), of_ticket(), "/ filter".to_owned()],
        Pane::Inbox => vec![
            diff_word(app).to_owned(),
            app.chosen_item().map(key_words).unwrap_or_default(),
        ],
        Pane::Output => [scroll, runs, fold].map(str::to_owned).to_vec(),
        Pane::History if scroll.is_empty() => Vec::new(),
        Pane::History => vec![scroll.to_owned(), "G end".to_owned()],
        Pane::Cost => vec![scroll.to_owned()],
        Pane::Diff => vec![
            scroll.to_owned(),
            "d read again".to_owned(),
            ticket()
                .map(|ticket| keys_in_diff(app, ticket))
                .unwrap_or_default(),
        ],
    };
    let mut words = vec!["? help".to_owned()];
    words.extend(match app.focus {
        Pane::Diff => vec!["q back".to_owned()],
        Pane::Agents
        | Pane::Queue
        | Pane::Train
        | Pane::Inbox
        | Pane::Output
        | Pane::History
        | Pane::Cost => {
            let engine = if app.engine.is_none() { "R run" } else { "" };
            ["q quit", "Tab pane", "Enter zoom", engine]
                .map(str::to_owned)
                .to_vec()
        }
    });
    words.extend(of_pane);
    words.retain(|word| !word.is_empty());
    words.join("  ")
}

/// The keys that do something to the chosen agent as it stands.
fn keys_of_agent(app: &App) -> String {
    let Some(agent) = app.chosen_agent().and_then(|name| app.crew.agent(name)) else {
        return String::new();
    };
    let Some(ticket) = agent.ticket.as_ref().and_then(|id| app.ticket(id)) else {
        let is_any = app.crew.tickets.values().any(|ticket| can_assign(app, ticket));
        return if is_any { "s assign" } else { "" }.to_owned();
    };
    let asks = ticket.answerable();
    let sleeps = match &ticket.state {
        State::InProgress(attempt) => match &attempt.state {
            attempt::State::WaitingForWakeup { .. } | attempt::State::WaitingForChildren { .. } => true,
            attempt::State::Preparing
            | attempt::State::Ready
            | attempt::State::Working(_)
            | attempt::State::WaitingForInput { .. }
            | attempt::State::Verifying
            | attempt::State::Done
            | attempt::State::Stuck { .. } => false,
        },
        State::New | State::Open | State::Verify(_) | State::Done(_) => false,
    };
    // A gatekeeper is not killed: a person decides in its place.
    let is_worker = ticket
        .attempt()
        .is_some_and(|attempt| attempt.claim.agent == agent.name);
    let keys = [
        (asks.is_some_and(|asked| *asked.agent == agent.name), "a answer"),
        (sleeps, "W wake"),
        (is_worker, "K kill"),
    ];
    let some: Vec<&str> = keys.iter().filter(|(is, _)| *is).map(|(_, key)| *key).collect();
    some.join("  ")
}

/// Whether a person may give a ticket to an agent as it stands.
pub(crate) fn can_assign(app: &App, ticket: &Ticket) -> bool {
    let is_open = matches!(ticket.state, State::Open) && ticket.held.is_none() && ticket.spec.kind != "epic";
    is_open
        && match app.files.beside.refusals.get(&ticket.id) {
            // An agent that is idle takes it, and a person need not wait for the file to be still.
            None
            | Some(Refusal::NoAgentFree { .. } | Refusal::Debouncing { .. } | Refusal::TakenByPerson) => true,
            Some(_) => false,
        }
}

/// The keys that act from a diff: on the work that it shows, and on no other.
fn keys_in_diff(app: &App, ticket: &Ticket) -> String {
    let is_read = app
        .diff
        .as_ref()
        .is_some_and(|looked| matches!(looked.read, Some(Ok(_))));
    let offered = if is_read {
        keys_of(app, ticket)
    } else {
        String::new()
    };
    let acts = offered.split("  ");
    let acts: Vec<&str> = acts.filter(|act| act.starts_with(['p', 'x', 'D'])).collect();
    acts.join("  ")
}

/// The key of an act on an item of the inbox, and its name; none where a command is typed in a shell.
pub(crate) fn key_of(act: &Act) -> Option<(char, &'static str)> {
    Some(match act {
        Act::Answer { .. } => ('a', "answer"),
        Act::Approve { .. } => ('p', "approve"),
        Act::Reject { .. } => ('x', "reject"),
        Act::Retry { .. } => ('r', "retry"),
        Act::Waive { .. } => ('w', "waive"),
        Act::Drop { .. } => ('D', "drop"),
        Act::Merge { .. } => ('m', "merge"),
        Act::Wake { .. } => ('W', "wake"),
        Act::Kill { .. } => ('K', "kill"),
        Act::WaiveCommitment { .. }
        | Act::Undep { .. }
        | Act::Reopen { .. }
        | Act::Close { .. }
        | Act::ByHand { .. } => return None,
    })
}

/// The keys for an item of the inbox, with their names.
fn key_words(item: &Item) -> String {
    let keys = item.acts.iter().filter_map(key_of);
    let words: Vec<String> = keys.map(|(key, name)| format!("{key} {name}")).collect();
    words.join("  ")
}

/// The keys that do something to a ticket as it stands, with their names.
fn keys_of(app: &App, ticket: &Ticket) -> String {
    let waits = app
        .inbox
        .iter()
        .find(|item| item.ticket.as_ref() == Some(&ticket.id));
    if let Some(item) = waits {
        return key_words(item);
    }
    let keys = match &ticket.state {
        State::Open if can_assign(app, ticket) => "s assign  D drop",
        State::Open => "D drop",
        State::InProgress(attempt) if attempt.is_between_steps() && attempt.conversation.errors > 0 => {
            "r retry  m merge  D drop"
        }
        State::InProgress(attempt) if attempt.is_between_steps() => "m merge  D drop",
        State::Verify(_) if ticket.reviewing().is_some() => "p approve  x reject  D drop",
        State::InProgress(_) | State::Verify(_) => "D drop",
        State::New | State::Done(_) => "",
    };
    keys.to_owned()
}

/// The key that shows the diff, where the chosen ticket has work to show.
fn diff_word(app: &App) -> &'static str {
    let ticket = app.chosen_ticket().and_then(|id| app.ticket(id));
    match ticket.map(|ticket| &ticket.state) {
        Some(State::InProgress(_) | State::Verify(_) | State::Done(Done::Landed { .. })) => "d diff",
        Some(State::New | State::Open | State::Done(_)) | None => "",
    }
}

/// The remedies for an item of the inbox: keys with their names, or command lines and texts; not sanitised.
pub(crate) fn remedies(item: &Item) -> String {
    let mut words = String::new();
    for act in &item.acts {
        if !words.is_empty() {
            words.push_str(if words.ends_with("then") { " " } else { ", " });
        }
        let one = key_of(act).map(|(key, name)| format!("{key} {name}"));
        words.push_str(&one.unwrap_or_else(|| act.typed()));
    }
    words
}
