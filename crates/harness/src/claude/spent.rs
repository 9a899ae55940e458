//! What a run has used: as the client settles it at the end of a turn, and before that as its stream tells.

use std::collections::BTreeMap;

use super::line::{Ended, Reply};
use crate::event::Usage;
use crate::money::{Price, Tokens};
use crate::step::Session;

/// Agents below this one whose last reply is remembered.
const AGENTS: usize = 64;

/// The ledger of one run.
///
/// The client tells the cost of a turn in the turn's result line only, and a session's running total there contains, of
/// a turn that was cut off, sometimes the cost (ended by TERM) and sometimes not (KILL). So a turn's cost is what the
/// client says of this turn by itself, never a difference that an earlier turn is part of; and what was cut off is
/// estimated once, by the run that was cut off.
#[derive(Debug)]
pub(super) struct Spent {
    price: Option<Price>,
    before: Usage,
    /// Of the turns that have ended.
    settled: Tokens,
    settled_micro_usd: u64,
    /// Of the turn that has not.
    open: Tokens,
    /// The reply that is being written.
    reply: Tokens,
    /// The last reply of each agent below, by the use of a tool that started it.
    below: BTreeMap<String, String>,
    total_micro_usd: Option<u64>,
    told_total: bool,
    /// What was told as it came.
    told: Usage,
}

/// Where the price of a run comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priced {
    /// The client told it.
    Told,
    /// A part of it was cut off, and estimated.
    Estimated,
    /// A part of it was cut off, and nobody knows.
    Unknown,
}

impl Spent {
    pub(super) fn new(session: &Session, price: Option<Price>) -> Self {
        Self {
            price,
            before: session.used,
            settled: Tokens::default(),
            settled_micro_usd: 0,
            open: Tokens::default(),
            reply: Tokens::default(),
            below: BTreeMap::new(),
            total_micro_usd: session.total_micro_usd,
            told_total: false,
            told: Usage::default(),
        }
    }

    /// A reply begins.
    pub(super) fn begun(&mut self, tokens: Tokens) {
        self.reply = Tokens::default();
        self.grown(tokens);
    }

    /// What the reply has used so far: each count only ever grows.
    pub(super) fn grown(&mut self, tokens: Tokens) {
        let more = |now: u64, before: u64| now.saturating_sub(before);
        self.open.add(Tokens {
            input: more(tokens.input, self.reply.input),
            output: more(tokens.output, self.reply.output),
            cache_read: more(tokens.cache_read, self.reply.cache_read),
            cache_write: more(tokens.cache_write, self.reply.cache_write),
        });
        self.reply = Tokens {
            input: tokens.input.max(self.reply.input),
            output: tokens.output.max(self.reply.output),
            cache_read: tokens.cache_read.max(self.reply.cache_read),
            cache_write: tokens.cache_write.max(self.reply.cache_write),
        };
    }

    /// A part of a reply of an agent below, whose writing is not streamed: what it reads counts once.
    pub(super) fn below(&mut self, parent: &str, reply: &Reply) {
        if self.below.get(parent) == Some(&reply.message) {
            return;
        }
        if self.below.len() == AGENTS && !self.below.contains_key(parent) {
            self.below.pop_first();
        }
        self.below.insert(parent.to_owned(), reply.message.clone());
        self.open.add(reply.tokens);
    }

    /// A turn has ended: the client's own figures take the place of what was seen of it.
    pub(super) fn settle(&mut self, ended: &Ended) {
        let own = ended.micro_usd.or_else(|| {
            // Only the running total is told. Where it did not grow, it is not the session's, but this run's own.
            let total = ended.total_micro_usd?;
            let before = self.total_micro_usd.filter(|before| *before <= total);
            Some(total - before.unwrap_or(0))
        });
        self.settled_micro_usd = self.settled_micro_usd.saturating_add(own.unwrap_or(0));
        self.settled.add(ended.tokens);
        (self.open, self.reply) = (Tokens::default(), Tokens::default());
        if let Some(total) = ended.total_micro_usd {
            (self.total_micro_usd, self.told_total) = (Some(total), true);
        }
    }

    /// What came to it since this was last asked. Money only with the end of a turn: an estimate could not be taken back.
    pub(super) fn news(&mut self) -> Usage {
        let now = Usage {
            cost_micro_usd: self.settled_micro_usd,
            ..self.tokens()
        };
        self.tell(now)
    }

    /// All of it, with what is left to tell, and where its price comes from. What no result settled is estimated.
    pub(super) fn end(&mut self) -> (Usage, Usage, Priced) {
        let estimate = self.open.estimate(self.price, self.before);
        let priced = match estimate {
            _ if self.open.is_none() => Priced::Told,
            Some(_) => Priced::Estimated,
            None => Priced::Unknown,
        };
        let all = Usage {
            cost_micro_usd: self.settled_micro_usd.saturating_add(estimate.unwrap_or(0)),
            ..self.tokens()
        };
        (all, self.tell(all), priced)
    }

    /// The session's running total, if the client told one.
    pub(super) fn total(&self) -> Option<u64> {
        self.total_micro_usd.filter(|_| self.told_total)
    }

    fn tokens(&self) -> Usage {
        Usage {
            input_tokens: self.settled.read().saturating_add(self.open.read()),
            output_tokens: self.settled.output.saturating_add(self.open.output),
            cost_micro_usd: 0,
        }
    }

    fn tell(&mut self, now: Usage) -> Usage {
        let more = Usage {
            input_tokens: now.input_tokens.saturating_sub(self.told.input_tokens),
            output_tokens: now.output_tokens.saturating_sub(self.told.output_tokens),
            cost_micro_usd: now.cost_micro_usd.saturating_sub(self.told.cost_micro_usd),
        };
        self.told.add(more);
        more
    }
}
