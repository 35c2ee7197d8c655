//! Tasks. Each change is done when its request is answered, in one transaction. Clients of this dialect expect a task all the same, which they
//! ask for until it has ended. No task is kept: its number says what it was and how it ended.
//!
//! One thing goes on after the answer: documents are made anew for other settings. The number of such a task has a mark of its index, and it
//! has not ended as long as an index with this mark lacks documents.
//!
//! ```text
//!  number = unix time in ms << 9 | kind << 5 | outcome      below 2^53, so that JavaScript reads it exactly, until the year 2527
//!  outcome: 0 success, 1 to 15 a failure, 16 + mark documents are being made anew
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

/// Outcomes from here on are marks of indexes.
const MARKED: u64 = 16;

/// How a change ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending<'a> {
    /// All is done.
    Done,
    /// It changed nothing.
    Failed(&'a Fault),
    /// Documents of the index are made anew, by upkeep.
    Indexing,
}

/// The mark of an index, below 16. Tasks of several indexes may share one: then a task may seem to take longer than it does.
pub fn mark(uid: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(uid) % MARKED
}

/// Whether a fault ends a task, rather than its request.
pub fn is_failure(fault: &Fault) -> bool {
    FAILURES.iter().any(|(code, _)| *code == fault.code)
}

/// The number of a task.
fn number(kind: Kind, uid: Option<&str>, ending: Ending<'_>, now_ms: u64) -> u64 {
    let kind = KINDS.iter().zip(0_u64..).find(|((other, _), _)| *other == kind).map_or(0, |(_, at)| at);
    let outcome = match ending {
        Ending::Done => 0,
        Ending::Failed(fault) => {
            let failure = FAILURES.iter().zip(1_u64..).find(|((code, _), _)| *code == fault.code);
            failure.map_or(0, |(_, at)| at)
        }
        Ending::Indexing => MARKED + mark(uid.unwrap_or_default().as_bytes()),
    };
    let at_ms = now_ms & ((1 << 44) - 1);
    at_ms << (KIND_BITS + OUTCOME_BITS) | kind << OUTCOME_BITS | outcome
}

/// The answer to the request of a task.
pub fn accepted(kind: Kind, uid: Option<&str>, ending: Ending<'_>, now_ms: u64) -> Value {
    let mut answer = json!({
        "taskUid": number(kind, uid, ending, now_ms),
        "indexUid": uid,
        "status": "enqueued",
        "type": name(kind),
        "enqueuedAt": rfc3339(now_ms),
    });
    if let (Ending::Failed(fault), Value::Object(members)) = (ending, &mut answer) {
        members.insert("error".to_owned(), fault.json());
    }
    answer
}

fn name(kind: Kind) -> &'static str {
    KINDS.iter().find(|(other, _)| *other == kind).map_or("", |(_, name)| name)
}

/// What a number says of its task. `is_indexing` tells whether an index with a mark lacks documents.
///
/// # Errors
/// It is no task's.
pub fn show(number: u64, now_ms: u64, is_indexing: &dyn Fn(u64) -> bool) -> Result<Value, Fault> {
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
    let (mut status, mut error) = ("succeeded", None);
    match at(OUTCOME_BITS, 0) {
        0 => {}
        outcome => match (outcome as u64).checked_sub(MARKED) {
            Some(mark) if is_indexing(mark) => status = "processing",
            Some(_) => {}
            None => {
                let (code, message) = FAILURES.get(outcome - 1).ok_or_else(missing)?;
                (status, error) = ("failed", Some(Fault::new(code, *message).json()));
            }
        },
    }
    let moment = rfc3339(at_ms);
    let has_ended = status != "processing";
    Ok(json!({
        "uid": number,
        "batchUid": number,
        "indexUid": null,
        "status": status,
        "type": kind,
        "canceledBy": null,
        "details": {},
        "error": error,
        "duration": has_ended.then_some("PT0S"),
        "enqueuedAt": moment,
        "startedAt": moment,
        "finishedAt": has_ended.then_some(&moment),
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

    fn show(number: u64, now_ms: u64) -> Result<Value, Fault> {
        super::show(number, now_ms, &|_| false)
    }

    #[test]
    fn task_succeeds_before_documents_are_made_anew() {
        let number = number(Kind::Settings, Some("films"), Ending::Indexing, NOW_MS);
        assert!(number < 1 << 53);
        let status = |is_indexing: &dyn Fn(u64) -> bool| {
            let shown = super::show(number, NOW_MS, is_indexing).expect("a task");
            (shown["status"].clone(), shown["finishedAt"].is_null())
        };
        assert_eq!(status(&|other| other == mark(b"films")), (json!("processing"), true));
        assert_eq!(status(&|_| false), (json!("succeeded"), false));
    }

    #[test]
    fn task_forgets_how_it_ended() {
        let good = number(Kind::Settings, None, Ending::Done, NOW_MS);
        assert!(good < 1 << 53);
        let shown = show(good, NOW_MS).expect("a task");
        assert_eq!((&shown["status"], &shown["type"]), (&json!("succeeded"), &json!("settingsUpdate")));
        assert_eq!(shown["finishedAt"], rfc3339(NOW_MS));
        for (code, _) in FAILURES {
            let fault = Fault::new(code, "whole");
            assert!(is_failure(&fault));
            let shown =
                show(number(Kind::Documents, None, Ending::Failed(&fault), NOW_MS), NOW_MS).expect("a task");
            assert_eq!((&shown["status"], &shown["error"]["code"]), (&json!("failed"), &json!(code)));
            let answer = accepted(Kind::Documents, Some("films"), Ending::Failed(&fault), NOW_MS);
            assert_eq!(answer["error"]["message"], "whole");
        }
    }

    #[test]
    fn number_of_no_task_is_one() {
        for number in [
            0,
            7,
            u64::MAX,
            number(Kind::Settings, None, Ending::Done, NOW_MS) | 15,
            number(Kind::Settings, None, Ending::Done, NOW_MS) | 15 << 5,
        ] {
            assert_eq!(show(number, NOW_MS).map_err(|fault| fault.code), Err("task_not_found"), "{number}");
        }
    }
}
