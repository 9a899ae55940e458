//! Peers, and the wrong tokens that each has sent lately.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use client::clock;

use crate::problem::Problem;

/// The wrong tokens of one peer within a minute that are answered as such.
const WRONG: usize = 10;
/// Milliseconds of a minute.
const MINUTE: i64 = 60_000;
/// The peers that are remembered.
const MOST: usize = 1000;

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The moments of the wrong tokens of each peer within the last minute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peers(Arc<Mutex<BTreeMap<Option<Peer>, Vec<i64>>>>);

impl Peers {
    /// The answer to a wrong token. A right one is never refused because of others: all programs of this
    /// machine are one peer.
    pub(super) fn wrong(&self, peer: Option<Peer>) -> Problem {
        let now = clock::now().0;
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        peers.retain(|_, moments| {
            moments.retain(|moment| now.saturating_sub(*moment) < MINUTE);
            !moments.is_empty()
        });
        if peers.len() >= MOST && !peers.contains_key(&peer) {
            peers.pop_first();
        }
        let moments = peers.entry(peer).or_default();
        if moments.len() >= WRONG {
            return Problem::TooMany {
                what: "too many wrong tokens came within a minute".to_owned(),
            };
        }
        moments.push(now);
        Problem::NotPaired
    }
}
