//! Tasks. Each change is done when its request is answered, in one transaction. Clients of this dialect expect a task all the same, which they
//! ask for until it has ended. No task is kept: its number says what it was and how it ended.
//!
//! ```text
//!  number = unix time in ms << 9 | kind << 5 | outcome      below 2^53, so that JavaScript reads it exactly, until the year 2527
//! ```
//!
//! What is lost: a task that is asked for does not say its index nor its details, and an error has its code with a general sentence. The answer to the request itself
//! has the whole error in a member `error`, which Meilisearch does not have. GET /tasks lists nothing.

use serde_json::{Value, json};

use super::fault::Fault;
use super::time::rfc3339;

/// What a task did. The order is part of the numbers of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Documents were added or changed.
    Documents,
    /// Documents were deleted.
    Deletion,
    /// An index was made.
    IndexCreation,
    /// An index got a primary key.
    IndexUpdate,
    /// An index was deleted.
    IndexDeletion,
    /// Two indexes changed names.
    IndexSwap,
    /// Settings were changed.
    Settings,
}

const KINDS: [(Kind, &str); 7] = [
    (Kind::Documents, "documentAdditionOrUpdate"),
    (Kind::Deletion, "documentDeletion"),
    (Kind::IndexCreation, "indexCreation"),
    (Kind::IndexUpdate, "indexUpdate"),
    (Kind::IndexDeletion, "indexDeletion"),
    (Kind::IndexSwap, "indexSwap"),
    (Kind::Settings, "settingsUpdate"),
];

/// How tasks may fail, with a sentence that holds whatever the request was. The order is part of the numbers of tasks; 0 is success. All
/// other errors are answers to the request itself.
const FAILURES: [(&str, &str); 9] = [
    ("index_not_found", "There was no such index."),
    ("index_already_exists", "There was such an index already."),
    ("index_primary_key_already_exists", "The index had a primary key and documents already."),
    (
        "index_primary_key_no_candidate_found",
        "No attribute of the first document ends with `id`, so the primary key must be named.",
    ),
    (
        "index_primary_key_multiple_candidates_found",
        "Several attributes of the first document end with `id`, so the primary key must be named.",
    ),
    ("missing_document_id", "A document had no primary key."),
    (
        "invalid_document_id",
        "The primary key of a document was neither an integer nor a string of letters, digits, hyphens and underscores.",
    ),
    ("invalid_document_filter", "The filter was wrong."),
    ("invalid_document_geo_field", "A position was wrong."),
];

const KIND_BITS: u32 = 4;
const OUTCOME_BITS: u32 = 5;

/// Whether a fault ends a task, rather than its request.
pub fn is_failure(fault: &Fault) -> bool {
    FAILURES.iter().any(|(code, _)| *code == fault.code)
}

/// The number of a task that has ended.
pub fn number(kind: Kind, fault: Option<&Fault>, now_ms: u64) -> u64 {
    let kind = KINDS.iter().zip(0_u64..).find(|((other, _), _)| *other == kind).map_or(0, |(_, at)| at);
    let failure =
        fault.and_then(|fault| FAILURES.iter().zip(1_u64..).find(|((code, _), _)| *code == fault.code));
    let outcome = failure.map_or(0, |(_, at)| at);
    let at_ms = now_ms & ((1 << 44) - 1);
    at_ms << (KIND_BITS + OUTCOME_BITS) | kind << OUTCOME_BITS | outcome
}

/// The answer to the request of a task.
pub fn accepted(kind: Kind, uid: Option<&str>, fault: Option<&Fault>, now_ms: u64) -> Value {
    let mut answer = json!({
        "taskUid": number(kind, fault, now_ms),
        "indexUid": uid,
        "status": "enqueued",
        "type": name(kind),
        "enqueuedAt": rfc3339(now_ms),
    });
    if let (Some(fault), Value::Object(members)) = (fault, &mut answer) {
        members.insert("error".to_owned(), fault.json());
    }
    answer
}

fn name(kind: Kind) -> &'static str {
    KINDS.iter().find(|(other, _)| *other == kind).map_or("", |(_, name)| name)
}

/// What a number says of its task.
///
/// # Errors
/// It is no task's.
pub fn show(number: u64, now_ms: u64) -> Result<Value, Fault> {
    let missing = || {
        let number = itoa::Buffer::new().format(number).to_owned();
        Fault::new("task_not_found", ["Task `", &number, "` not found."].concat())
    };
    let at_ms = number >> (KIND_BITS + OUTCOME_BITS);
    let at = |bits: u32, shift: u32| (number >> shift & ((1 << bits) - 1)) as usize;
    let (_, kind) = KINDS.get(at(KIND_BITS, OUTCOME_BITS)).ok_or_else(missing)?;
    // Clocks of homes may differ by some hours; a task of another day is none.
    if at_ms > now_ms.saturating_add(86_400_000) || at_ms == 0 {
        return Err(missing());
    }
    let error = match at(OUTCOME_BITS, 0) {
        0 => None,
        outcome => {
            let (code, message) = FAILURES.get(outcome - 1).ok_or_else(missing)?;
            Some(Fault::new(code, *message).json())
        }
    };
    let moment = rfc3339(at_ms);
    Ok(json!({
        "uid": number,
        "batchUid": number,
        "indexUid": null,
        "status": if error.is_some() { "failed" } else { "succeeded" },
        "type": kind,
        "canceledBy": null,
        "details": {},
        "error": error,
        "duration": "PT0S",
        "enqueuedAt": moment,
        "startedAt": moment,
        "finishedAt": moment,
    }))
}

/// The answer to GET /tasks: none is kept.
pub fn list(limit: u64) -> Value {
    json!({ "results": [], "total": 0, "limit": limit, "from": null, "next": null })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: u64 = 1_795_744_057_004;

    #[test]
    fn task_forgets_how_it_ended() {
        let good = number(Kind::Settings, None, NOW_MS);
        assert!(good < 1 << 53);
        let shown = show(good, NOW_MS).expect("a task");
        assert_eq!((&shown["status"], &shown["type"]), (&json!("succeeded"), &json!("settingsUpdate")));
        assert_eq!(shown["finishedAt"], rfc3339(NOW_MS));
        for (code, _) in FAILURES {
            let fault = Fault::new(code, "whole");
            assert!(is_failure(&fault));
            let shown = show(number(Kind::Documents, Some(&fault), NOW_MS), NOW_MS).expect("a task");
            assert_eq!((&shown["status"], &shown["error"]["code"]), (&json!("failed"), &json!(code)));
            let answer = accepted(Kind::Documents, Some("films"), Some(&fault), NOW_MS);
            assert_eq!(answer["error"]["message"], "whole");
        }
    }

    #[test]
    fn number_of_no_task_is_one() {
        for number in [
            0,
            7,
            u64::MAX,
            number(Kind::Settings, None, NOW_MS) | 31,
            number(Kind::Settings, None, NOW_MS) | 15 << 5,
        ] {
            assert_eq!(show(number, NOW_MS).map_err(|fault| fault.code), Err("task_not_found"), "{number}");
        }
    }
}
