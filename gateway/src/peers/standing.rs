//! Whether the others wait for this server: it stands *apart* while it cannot reach them.
//!
//! A server that the others cannot reach, and that counts on what it knows of the databases, keeps FLUSHDB, SUBSCRIBE and their like
//! waiting everywhere. So one of two that do not reach each other steps apart: it reads what the databases are with every
//! transaction, and nobody waits for it. It is the one that reaches fewer of the others, or else the younger one: a new server with a
//! wrong firewall harms nobody but itself. A server begins apart, and joins when it reaches all that do not stand apart, or when those that
//! it does not reach are to step apart.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use edgecask_core::ordered::{Member, Standing};
use edgecask_core::server::peers::PeerId;

/// Others are unreachable for so long before a server steps apart. One that has died is a member for three seconds.
const APART_AFTER: Duration = Duration::from_secs(4);

/// What one look at the others means for this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It stays what it is.
    Stay,
    /// It is to be seen as a member from now on, and may count on what it knows once the others have heard of it.
    Join,
    /// It counts on nothing from now on.
    Leave,
}

/// How this server stands to the others.
pub(super) struct Position {
    own: PeerId,
    standing: Standing,
    /// Since when there has been no link to those that are cut off and do not stand apart.
    cut_off_since: BTreeMap<PeerId, Instant>,
    /// Since when it stands apart though it need not.
    ready_since: Option<Instant>,
}

impl Position {
    /// A server that begins.
    pub(super) fn new(own: PeerId) -> Position {
        let standing = Standing { is_apart: true, unlinked: 0 };
        Position { own, standing, cut_off_since: BTreeMap::new(), ready_since: None }
    }

    /// What the others are to see.
    pub(super) fn standing(&self) -> Standing {
        self.standing
    }

    /// Takes what a look has found: who the others are, and to which of them there is no link.
    pub(super) fn look(&mut self, others: &[Member], unlinked: &[PeerId], now: Instant) -> Step {
        let is_cut_off = |member: &&Member| unlinked.contains(&member.process);
        let cut_off: Vec<&Member> = others.iter().filter(is_cut_off).collect();
        self.standing.unlinked = u8::try_from(cut_off.len()).unwrap_or(u8::MAX);
        let own = (self.standing.unlinked, self.own);
        let is_behind = |member: &Member| own > (member.standing.unlinked, member.process);
        let rivals: Vec<&Member> = cut_off.into_iter().filter(|member| !member.standing.is_apart).collect();
        self.cut_off_since.retain(|id, _| rivals.iter().any(|rival| rival.process == *id));
        let has_waited = |since: Instant| now.duration_since(since) >= APART_AFTER;
        let mut ought_to_leave = false;
        for rival in &rivals {
            // Each one by itself: none of several servers that die one after the other is in the way for long.
            let since = *self.cut_off_since.entry(rival.process).or_insert(now);
            ought_to_leave |= is_behind(rival) && has_waited(since);
        }
        if !self.standing.is_apart {
            self.standing.is_apart = ought_to_leave;
            return if ought_to_leave { Step::Leave } else { Step::Stay };
        }
        if rivals.iter().any(|rival| is_behind(rival)) {
            self.ready_since = None;
            return Step::Stay;
        }
        if !rivals.is_empty() && !has_waited(*self.ready_since.get_or_insert(now)) {
            return Step::Stay;
        }
        (self.standing.is_apart, self.ready_since) = (false, None);
        Step::Join
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(process: PeerId, is_apart: bool, unlinked: u8) -> Member {
        Member { process, address: String::new(), standing: Standing { is_apart, unlinked } }
    }

    fn joined(own: PeerId) -> Position {
        let mut position = Position::new(own);
        assert_eq!(position.look(&[], &[], Instant::now()), Step::Join);
        position
    }

    #[test]
    fn server_that_reaches_nobody_joins_or_stays_for_ever() {
        let mut position = Position::new(5);
        let now = Instant::now();
        let others = [member(1, false, 0), member(2, true, 1)];
        assert_eq!(position.look(&others, &[1, 2], now), Step::Stay);
        assert_eq!(position.standing(), Standing { is_apart: true, unlinked: 2 });
        assert_eq!(position.look(&others, &[2], now), Step::Join, "the other one stands apart as well");
        assert_eq!(position.look(&others, &[1, 2], now), Step::Stay);
        assert_eq!(position.look(&others, &[], now + APART_AFTER), Step::Stay);
        assert_eq!(position.look(&others, &[1, 2], now + APART_AFTER), Step::Stay, "it was reached between");
        assert_eq!(position.look(&others, &[1, 2], now + APART_AFTER * 2), Step::Leave);
        assert_eq!(position.look(&others, &[1, 2], now + APART_AFTER * 2), Step::Stay);
    }

    #[test]
    fn both_of_two_or_all_but_one_step_apart() {
        let now = Instant::now();
        let leaves = |own, others: &[Member], unlinked: &[PeerId]| {
            let mut position = joined(own);
            position.look(others, unlinked, now);
            position.look(others, unlinked, now + APART_AFTER) == Step::Leave
        };
        let pair = |own, other| (own, [member(other, false, 1)], [other]);
        for ((own, others, unlinked), expected) in [(pair(1, 2), false), (pair(2, 1), true)] {
            assert_eq!(leaves(own, &others, &unlinked), expected, "{own}");
        }
        // The oldest of three reaches nobody.
        assert!(leaves(1, &[member(2, false, 1), member(3, false, 1)], &[2, 3]));
        assert!(!leaves(2, &[member(1, false, 2), member(3, false, 1)], &[1]));
        assert!(!leaves(3, &[member(1, false, 2), member(2, false, 1)], &[1]));
    }

    #[test]
    fn server_beside_others_that_die_one_after_the_other_steps_apart() {
        let mut position = joined(5);
        let now = Instant::now();
        for second in 0..20 {
            // Each is seen for three seconds after its death.
            let dead = 1 + second / 3;
            let at = now + Duration::from_secs(u64::from(second));
            assert_eq!(position.look(&[member(dead, false, 0)], &[dead], at), Step::Stay);
        }
    }

    #[test]
    fn oldest_server_that_reaches_nobody_keeps_all_others_apart() {
        let now = Instant::now();
        let mut second = Position::new(2);
        let alone = [member(1, false, 1)];
        for seconds in 0..20 {
            assert_eq!(second.look(&alone, &[1], now + Duration::from_secs(seconds)), Step::Stay);
        }
        // A third one comes, which reaches the second.
        let now = now + Duration::from_secs(20);
        let with_third = [member(1, false, 2), member(3, true, 1)];
        assert_eq!(second.look(&with_third, &[1], now), Step::Stay, "it may come and go");
        assert_eq!(second.look(&with_third, &[1], now + APART_AFTER), Step::Join);
    }
}
