//! The tokens and the money that one run has used.
//!
//! The client states the cost of a turn in the turn's result line only. The session's running total there
//! sometimes contains the cost of an earlier turn that was cut off (after TERM) and sometimes does not
//! (after KILL). So the cost of a turn is the client's figure for that turn alone, never a difference that
//! an earlier turn is part of; and a turn that was cut off is estimated once, by the run that was cut off.

use std::collections::BTreeMap;

use super::line::{Reply, TurnResult};
use crate::money::{Price, Tokens};
use crate::step::Session;
use crate::usage::Usage;

/// The number of subagents whose last reply is remembered.
const MAX_SUBAGENTS: usize = 64;

/// Adds up what a run uses, as its output comes.
#[derive(Debug)]
pub(super) struct UsageMeter {
    price: Option<Price>,
    /// The usage of the session's earlier steps.
    earlier: Usage,
    /// The tokens of the turns that have ended.
    finished: Tokens,
    /// The cost of the turns that have ended, in millionths of a US dollar.
    finished_micro_usd: u64,
    /// The tokens of the turn that has not ended.
    open: Tokens,
    /// The tokens of the reply that is being written.
    reply: Tokens,
    /// The last reply of each subagent, by the id of the tool use that started it.
    subagents: BTreeMap<String, String>,
    /// The session's running total, in millionths of a US dollar.
    total_micro_usd: Option<u64>,
    /// Whether this run stated the running total.
    has_total: bool,
    /// The usage that was returned by [`UsageMeter::take_delta`] so far.
    reported: Usage,
}

/// The source of a run's cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CostSource {
    /// The client stated it.
    Client,
    /// A part of the run was cut off, and its cost was estimated.
    Estimate,
    /// A part of the run was cut off, and its cost cannot be estimated.
    Unknown,
}

impl UsageMeter {
    pub(super) fn new(session: &Session, price: Option<Price>) -> Self {
        Self {
            price,
            earlier: session.used,
            finished: Tokens::default(),
            finished_micro_usd: 0,
            open: Tokens::default(),
            reply: Tokens::default(),
            subagents: BTreeMap::new(),
            total_micro_usd: session.total_micro_usd,
            has_total: false,
            reported: Usage::default(),
        }
    }

    /// A new reply begins, which has used these tokens so far.
    pub(super) fn begin_reply(&mut self, tokens: Tokens) {
        self.reply = Tokens::default();
        self.update_reply(tokens);
    }

    /// The current reply has used these tokens so far: each count only grows.
    pub(super) fn update_reply(&mut self, tokens: Tokens) {
        let growth = |now: u64, before: u64| now.saturating_sub(before);
        self.open.add(Tokens {
            input: growth(tokens.input, self.reply.input),
            output: growth(tokens.output, self.reply.output),
            cache_read: growth(tokens.cache_read, self.reply.cache_read),
            cache_write: growth(tokens.cache_write, self.reply.cache_write),
        });
        self.reply = Tokens {
            input: tokens.input.max(self.reply.input),
            output: tokens.output.max(self.reply.output),
            cache_read: tokens.cache_read.max(self.reply.cache_read),
            cache_write: tokens.cache_write.max(self.reply.cache_write),
        };
    }

    /// A subagent replies in parts, and the writing of them is not streamed: the tokens of a reply count
    /// once.
    pub(super) fn subagent_reply(&mut self, parent: &str, reply: &Reply<'_>) {
        if self
            .subagents
            .get(parent)
            .is_some_and(|last| *last == reply.message)
        {
            return;
        }
        if self.subagents.len() == MAX_SUBAGENTS && !self.subagents.contains_key(parent) {
            self.subagents.pop_first();
        }
        self.subagents
            .insert(parent.to_owned(), reply.message.clone().into_owned());
        self.open.add(reply.tokens);
    }

    /// A turn has ended: the client's own figures replace the ones that were added up from the stream.
    pub(super) fn end_turn(&mut self, result: &TurnResult) {
        let cost = result.micro_usd.or_else(|| {
            // Only the running total is stated. A total that did not grow is this run's own, not the
            // session's.
            let total = result.total_micro_usd?;
            let before = self.total_micro_usd.filter(|before| *before <= total);
            Some(total - before.unwrap_or(0))
        });
        self.finished_micro_usd = self.finished_micro_usd.saturating_add(cost.unwrap_or(0));
        self.finished.add(result.tokens);
        (self.open, self.reply) = (Tokens::default(), Tokens::default());
        if let Some(total) = result.total_micro_usd {
            (self.total_micro_usd, self.has_total) = (Some(total), true);
        }
    }

    /// The usage since the last call. Money is added only at the end of a turn: an estimate could not be
    /// taken back.
    pub(super) fn take_delta(&mut self) -> Usage {
        let now = Usage {
            cost_micro_usd: self.finished_micro_usd,
            ..self.tokens()
        };
        self.delta_to(now)
    }

    /// The usage of the whole run, the delta that was not reported yet, and the source of the cost.
    pub(super) fn end(&mut self) -> (Usage, Usage, CostSource) {
        let estimate = self.open.estimate(self.price, self.earlier);
        let source = match estimate {
            _ if self.open.is_none() => CostSource::Client,
            Some(_) => CostSource::Estimate,
            None => CostSource::Unknown,
        };
        let all = Usage {
            cost_micro_usd: self.finished_micro_usd.saturating_add(estimate.unwrap_or(0)),
            ..self.tokens()
        };
        (all, self.delta_to(all), source)
    }

    /// The session's running total in millionths of a US dollar, if this run stated it.
    pub(super) fn total_micro_usd(&self) -> Option<u64> {
        self.total_micro_usd.filter(|_| self.has_total)
    }

    fn tokens(&self) -> Usage {
        let mut all = self.finished;
        all.add(self.open);
        all.usage()
    }

    fn delta_to(&mut self, now: Usage) -> Usage {
        let delta = Usage {
            input_tokens: now.input_tokens.saturating_sub(self.reported.input_tokens),
            output_tokens: now.output_tokens.saturating_sub(self.reported.output_tokens),
            cost_micro_usd: now.cost_micro_usd.saturating_sub(self.reported.cost_micro_usd),
        };
        self.reported.add(delta);
        delta
    }
}
