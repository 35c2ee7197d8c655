//! What an error of the client means for a transaction.

use edgecask_core::ordered::cluster::ClusterError;
use tikv_client::{Error, ProtoKeyError};

/// What a transaction was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum During {
    /// It read, or began: nothing has happened.
    Read,
    /// It committed.
    Commit,
}

/// What the error means.
pub(super) fn classify(error: &Error, during: During) -> ClusterError {
    let text = brief(error);
    match error {
        Error::UndeterminedError(_) => ClusterError::Unknown(text),
        Error::KeyError(error) => of_key(error, text),
        Error::MultipleKeyErrors(errors) | Error::ExtractedErrors(errors) => {
            let worst = errors.iter().map(|error| classify(error, during)).max_by_key(weight);
            worst.unwrap_or(ClusterError::Conflict(text))
        }
        Error::PessimisticLockError { inner, .. } => classify(inner, during),
        Error::ResolveLockError(_)
        | Error::TxnNotFound(_)
        | Error::DuplicateKeyInsertion
        | Error::OnePcFailure => ClusterError::Conflict(text),
        Error::RegionError(_)
        | Error::LeaderNotFound { .. }
        | Error::RegionForKeyNotFound { .. }
        | Error::RegionForRangeNotFound { .. }
        | Error::RegionNotFoundInResponse { .. }
        | Error::EntryNotFoundInRegionCache
        | Error::NoCurrentRegions => ClusterError::Moved(text),
        Error::Grpc(_)
        | Error::GrpcAPI(_)
        | Error::Io(_)
        | Error::Channel(_)
        | Error::Canceled(_)
        | Error::JoinError(_)
        | Error::InternalError { .. }
        | Error::StringError(_)
        | Error::KvError { .. } => match during {
            During::Read => ClusterError::Unavailable(text),
            // The write may have arrived.
            During::Commit => ClusterError::Unknown(text),
        },
        _ => ClusterError::Refused(text),
    }
}

fn of_key(error: &ProtoKeyError, text: String) -> ClusterError {
    let may_be_tried_again = error.conflict.is_some()
        || error.locked.is_some()
        || error.already_exist.is_some()
        || error.deadlock.is_some()
        || error.commit_ts_expired.is_some()
        || error.txn_not_found.is_some()
        || error.commit_ts_too_large.is_some()
        || !error.retryable.is_empty();
    if may_be_tried_again { ClusterError::Conflict(text) } else { ClusterError::Refused(text) }
}

/// Of several errors the one that leaves the most open counts.
fn weight(error: &ClusterError) -> u8 {
    match error {
        ClusterError::Conflict(_) | ClusterError::Late => 0,
        ClusterError::Unavailable(_) => 1,
        ClusterError::Refused(_) => 2,
        // Of a commit it may hide that an earlier request went through.
        ClusterError::Moved(_) => 3,
        ClusterError::Unknown(_) => 4,
    }
}

/// The first words of an error: some have the whole transaction in them.
fn brief(error: &Error) -> String {
    const SHOWN_CHARS: usize = 160;
    let text = error.to_string();
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_error(change: impl FnOnce(&mut ProtoKeyError)) -> Error {
        let mut error = ProtoKeyError::default();
        change(&mut error);
        Error::KeyError(Box::new(error))
    }

    #[test]
    fn write_is_repeated_that_may_have_happened() {
        let lost = || Error::StringError("the answer was lost".into());
        let conflict = || key_error(|error| error.conflict = Some(Default::default()));
        let kind = |error: &Error, during| weight(&classify(error, during));
        assert_eq!(kind(&conflict(), During::Commit), 0);
        assert_eq!(kind(&lost(), During::Read), 1);
        assert_eq!(kind(&lost(), During::Commit), 4);
        assert_eq!(kind(&Error::UndeterminedError(Box::new(conflict())), During::Commit), 4);
        assert_eq!(kind(&Error::MultipleKeyErrors(vec![conflict(), lost()]), During::Commit), 4);
        assert_eq!(kind(&Error::OnePcFailure, During::Commit), 0);
        assert_eq!(kind(&key_error(|error| error.abort = "too old".into()), During::Commit), 2);
    }

    #[test]
    fn error_has_the_whole_transaction_in_it() {
        let long = Error::StringError("é".repeat(5000));
        assert!(brief(&long).chars().count() < 200);
    }
}
