//! Locks of transactions that have ended between their prewrites.
//!
//! Where a server dies before the first key of its transaction is locked but after another one is, the client that meets the other lock
//! finds nothing at the first key. It should then, after the time of the lock, write there that the transaction is rolled back; tikv-client
//! 0.4.0 means to and cannot (`LockResolver::check_txn_status` does not recognize the answer), so such a lock would be in the way for ever.
//! [`clear`] does it. It is safe at any time: a transaction that lives after all has not committed, and will be told that it cannot.

use std::time::Duration;

use tikv_client::transaction::ResolveLocksOptions;
use tikv_client::{Error, Timestamp, TimestampExt, TransactionClient};
use tracing::{debug, warn};

/// A lock is its transaction's for so long at least.
const LEASE_MS: i64 = 3000;

/// The pause before a lock that is not over is met again.
const PAUSE: Duration = Duration::from_millis(50);

/// So many locks are looked at.
const LOCKS_MAX: u32 = 1024;

/// The transaction, by its start, of which a lock was met and nothing was found; of several the latest.
pub(super) fn orphan_of(error: &Error) -> Option<u64> {
    match error {
        Error::KeyError(error) => error.txn_not_found.as_ref().map(|missing| missing.start_ts),
        Error::TxnNotFound(missing) => Some(missing.start_ts),
        Error::MultipleKeyErrors(errors) | Error::ExtractedErrors(errors) => {
            errors.iter().filter_map(orphan_of).max()
        }
        Error::PessimisticLockError { inner, .. } | Error::UndeterminedError(inner) => orphan_of(inner),
        _ => None,
    }
}

/// Removes such locks from a range of keys, or waits a little where their time is not over; the transaction that met one can be
/// run again then. What does not succeed is left to the next one.
pub(super) async fn clear(
    client: &TransactionClient,
    error: &Error,
    now: &Timestamp,
    (first, last): (Vec<u8>, Vec<u8>),
) {
    let Some(start) = orphan_of(error) else { return };
    let began = Timestamp::from_version(start);
    let age_ms = now.physical - began.physical;
    let mut behind = last;
    behind.push(0);
    let range = first..behind;
    if age_ms <= LEASE_MS || !is_over(client, &began, age_ms, range.clone()).await {
        return tokio::time::sleep(PAUSE).await;
    }
    let options = ResolveLocksOptions { batch_size: LOCKS_MAX, ..ResolveLocksOptions::default() };
    match client.cleanup_locks(range, &began, options).await {
        Ok(_) => debug!(start, age_ms, "rolled back a transaction that ended between its prewrites"),
        Err(error) => warn!(start, age_ms, %error, "a lock of nobody stays for now"),
    }
}

/// Whether the time of all locks of a transaction in a range is over: long writes have longer ones.
async fn is_over(
    client: &TransactionClient,
    began: &Timestamp,
    age_ms: i64,
    range: std::ops::Range<Vec<u8>>,
) -> bool {
    let Ok(locks) = client.scan_locks(began, range, LOCKS_MAX).await else { return false };
    let own = locks.iter().filter(|lock| lock.lock_version == began.version());
    own.map(|lock| lock.lock_ttl)
        .max()
        .is_none_or(|ttl_ms| i64::try_from(ttl_ms).is_ok_and(|ttl_ms| ttl_ms < age_ms))
}

#[cfg(test)]
mod tests {
    use tikv_client::ProtoKeyError;

    use super::*;

    fn missing(start_ts: u64) -> Error {
        let mut error = ProtoKeyError::default();
        let missing = error.txn_not_found.get_or_insert_default();
        missing.start_ts = start_ts;
        Error::KeyError(Box::new(error))
    }

    #[test]
    fn lock_of_nobody_is_taken_for_one_of_somebody() {
        let several = Error::MultipleKeyErrors(vec![missing(5), missing(7), Error::OnePcFailure]);
        assert_eq!(orphan_of(&Error::ExtractedErrors(vec![several])), Some(7));
        assert_eq!(orphan_of(&Error::UndeterminedError(Box::new(missing(3)))), Some(3));
        assert_eq!(orphan_of(&Error::OnePcFailure), None);
    }
}
