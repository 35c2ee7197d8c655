//! What a method and a path ask for.
//!
//! Paths are Meilisearch's under the root of the host. [`route`] knows them without a store, so a host may ask whether a request is of
//! this dialect before it receives a body.

use percent_encoding::percent_decode_str;

use super::fault::Fault;
use super::settings::{SETTINGS, Setting};

/// An index's name has so many characters at most, as in Meilisearch.
const UID_MAX_BYTES: usize = 512;

/// Parameters of one request; more are an error. The dialect knows some thirty names.
const PARAMETERS_MAX: usize = 64;

/// What is asked for, by its path and method.
#[derive(Clone, Debug, PartialEq)]
pub enum Route {
    /// GET /health
    Health,
    /// GET /version
    Version,
    /// GET /stats
    Stats,
    /// GET /indexes
    ListIndexes,
    /// POST /indexes
    CreateIndex,
    /// POST /multi-search
    MultiSearch,
    /// POST /swap-indexes
    SwapIndexes,
    /// GET /tasks
    ListTasks,
    /// GET /tasks/{uid}
    Task(u64),
    /// What stands behind /indexes/{uid}.
    Index {
        /// The name of the index, valid.
        uid: String,
        /// What is asked of it.
        action: Action,
    },
}

/// What is asked of one index.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// GET
    Show,
    /// PATCH
    Update,
    /// DELETE
    Delete,
    /// GET …/stats
    Stats,
    /// POST …/search with a body
    Search,
    /// GET …/search with parameters
    SearchByParameters,
    /// POST …/facet-search
    FacetSearch,
    /// GET …/documents
    ListDocuments,
    /// POST …/documents/fetch
    FetchDocuments,
    /// GET …/documents/{id}
    Document(String),
    /// POST …/documents
    ReplaceDocuments,
    /// PUT …/documents
    UpdateDocuments,
    /// DELETE …/documents
    DeleteAllDocuments,
    /// DELETE …/documents/{id}
    DeleteDocument(String),
    /// POST …/documents/delete-batch
    DeleteBatch,
    /// POST …/documents/delete
    DeleteByFilter,
    /// GET …/settings
    Settings,
    /// PATCH …/settings
    UpdateSettings,
    /// DELETE …/settings
    ResetSettings,
    /// GET …/settings/{name}
    Setting(&'static Setting),
    /// PUT or PATCH …/settings/{name}
    UpdateSetting(&'static Setting),
    /// DELETE …/settings/{name}
    ResetSetting(&'static Setting),
}

impl Route {
    /// Whether it may change anything.
    pub fn changes(&self) -> bool {
        match self {
            Route::CreateIndex | Route::SwapIndexes => true,
            Route::Index { action, .. } => !matches!(
                action,
                Action::Show
                    | Action::Stats
                    | Action::Search
                    | Action::SearchByParameters
                    | Action::FacetSearch
                    | Action::ListDocuments
                    | Action::FetchDocuments
                    | Action::Document(_)
                    | Action::Settings
                    | Action::Setting(_)
            ),
            _ => false,
        }
    }
}

/// What an answer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Hits, with the attributes that the settings display, and nothing about the index.
    Hits,
    /// Whole documents, also attributes that no search displays.
    Documents,
    /// Settings, numbers and names of indexes.
    Indexes,
}

impl Route {
    /// What the answer to a route that changes nothing shows.
    pub fn shows(&self) -> Shows {
        let Route::Index { action, .. } = self else {
            return match self {
                Route::Health | Route::Version | Route::MultiSearch => Shows::Hits,
                _ => Shows::Indexes,
            };
        };
        match action {
            Action::Search | Action::SearchByParameters | Action::FacetSearch => Shows::Hits,
            Action::ListDocuments | Action::FetchDocuments | Action::Document(_) => Shows::Documents,
            _ => Shows::Indexes,
        }
    }
}

/// What a path names, before the method says what to do with it.
const NAMES: [&str; 16] = [
    "health",
    "version",
    "stats",
    "indexes",
    "multi-search",
    "swap-indexes",
    "tasks",
    "keys",
    "batches",
    "chats",
    "dumps",
    "snapshots",
    "experimental-features",
    "network",
    "webhooks",
    "dynamic-search-rules",
];

/// Whether a path is one of this dialect, so that its errors are this dialect's too.
pub fn is_of_dialect(path: &str) -> bool {
    let mut segments = segments(path);
    let first = segments.next().unwrap_or_default();
    // KEYS is a command, too: `/keys/pattern` is the other dialect's.
    NAMES.contains(&first) && (first != "keys" || segments.next().is_none())
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').unwrap_or(path).trim_end_matches('/').split('/')
}

/// What a request asks for.
///
/// # Errors
/// There is no such path, or not with this method; the name of an index or of a document is none.
pub fn route(method: &str, path: &str) -> Result<Route, Fault> {
    let mut parts: Vec<String> = Vec::new();
    for segment in segments(path) {
        // No path has more parts than /indexes/{uid}/documents/{id} and /indexes/{uid}/settings/{name}.
        if parts.len() == 4 {
            return Err(not_found(path));
        }
        parts.push(percent_decode_str(segment).decode_utf8_lossy().into_owned());
    }
    let mut names = [""; 4];
    for (name, part) in names.iter_mut().zip(&parts) {
        *name = part;
    }
    let [first, uid, what, which] = names;
    let is_short = parts.len() == 1;
    match (method, first) {
        ("GET" | "HEAD", "health") if is_short => Ok(Route::Health),
        ("GET" | "HEAD", "version") if is_short => Ok(Route::Version),
        ("GET" | "HEAD", "stats") if is_short => Ok(Route::Stats),
        ("GET" | "HEAD", "indexes") if is_short => Ok(Route::ListIndexes),
        ("POST", "indexes") if is_short => Ok(Route::CreateIndex),
        ("POST", "multi-search") if is_short => Ok(Route::MultiSearch),
        ("POST", "swap-indexes") if is_short => Ok(Route::SwapIndexes),
        ("GET" | "HEAD", "tasks") if is_short => Ok(Route::ListTasks),
        ("GET" | "HEAD", "tasks") if parts.len() == 2 => uid.parse().map(Route::Task).map_err(|_| {
            Fault::new("invalid_task_uids", ["Invalid value: `", uid, "` is no task's number."].concat())
        }),
        (_, "indexes") if parts.len() >= 2 => {
            let action = action(method, (what, which), parts.len() - 2)
                .map_err(|fault| fault.unwrap_or_else(|| not_found(path)))?;
            check_uid(uid)?;
            Ok(Route::Index { uid: uid.to_owned(), action })
        }
        (_, "health" | "version" | "stats" | "indexes" | "multi-search" | "swap-indexes") if is_short => {
            Err(not_allowed(method))
        }
        (_, "keys") => Err(Fault::unsupported(
            "The management of keys by HTTP (users and their passwords are those of ACL SETUSER; the key of a client is `user:password`)",
        )),
        (_, name) if NAMES.contains(&name) => Err(Fault::unsupported(path)),
        _ => Err(not_found(path)),
    }
}

/// What is asked of an index by so many parts of the path behind its name. An error without a fault: there is no such path.
fn action(method: &str, (what, which): (&str, &str), parts: usize) -> Result<Action, Option<Fault>> {
    let method = if method == "HEAD" { "GET" } else { method };
    Ok(match (parts, what, which, method) {
        (0, _, _, "GET") => Action::Show,
        (0, _, _, "PATCH") => Action::Update,
        (0, _, _, "DELETE") => Action::Delete,
        (1, "stats", _, "GET") => Action::Stats,
        (1, "search", _, "POST") => Action::Search,
        (1, "search", _, "GET") => Action::SearchByParameters,
        (1, "facet-search", _, "POST") => Action::FacetSearch,
        (1, "documents", _, "GET") => Action::ListDocuments,
        (1, "documents", _, "POST") => Action::ReplaceDocuments,
        (1, "documents", _, "PUT") => Action::UpdateDocuments,
        (1, "documents", _, "DELETE") => Action::DeleteAllDocuments,
        (2, "documents", "fetch", "POST") => Action::FetchDocuments,
        (2, "documents", "delete", "POST") => Action::DeleteByFilter,
        (2, "documents", "delete-batch", "POST") => Action::DeleteBatch,
        (2, "documents", "edit", "POST") => {
            return Err(Some(Fault::unsupported("Editing documents by a function")));
        }
        (2, "documents", id, "GET") => Action::Document(id.to_owned()),
        (2, "documents", id, "DELETE") => Action::DeleteDocument(id.to_owned()),
        (1, "settings", _, "GET") => Action::Settings,
        (1, "settings", _, "PATCH" | "POST") => Action::UpdateSettings,
        (1, "settings", _, "DELETE") => Action::ResetSettings,
        (2, "settings", name, _) => {
            let setting = SETTINGS.iter().find(|setting| setting.path == name).ok_or(None)?;
            match method {
                "GET" => Action::Setting(setting),
                "PUT" | "PATCH" | "POST" => Action::UpdateSetting(setting),
                "DELETE" => Action::ResetSetting(setting),
                _ => return Err(Some(not_allowed(method))),
            }
        }
        (1, "similar" | "compact" | "fields", _, _) => {
            return Err(Some(Fault::unsupported(&["/indexes/{uid}/", what].concat())));
        }
        (0, _, _, _)
        | (1, "stats" | "search" | "facet-search" | "documents" | "settings", _, _)
        | (2, "documents", _, _) => {
            return Err(Some(not_allowed(method)));
        }
        _ => return Err(None),
    })
}

fn not_found(path: &str) -> Fault {
    Fault::new("not_found", ["There is nothing at `", path, "`."].concat())
}

fn not_allowed(method: &str) -> Fault {
    Fault::new("method_not_allowed", ["The method ", method, " is not allowed here."].concat())
}

/// Whether a text can be the name of an index.
///
/// # Errors
/// It cannot.
pub fn check_uid(uid: &str) -> Result<(), Fault> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !uid.is_empty() && uid.len() <= UID_MAX_BYTES && uid.bytes().all(is_valid) {
        return Ok(());
    }
    Err(Fault::new(
        "invalid_index_uid",
        [
            "`",
            uid,
            "` is not a valid index uid. Index uid can be an integer or a string containing only alphanumeric characters, hyphens (-) and underscores (_), and can not be more than 512 bytes.",
        ]
        .concat(),
    ))
}

/// The parameters of a query string, decoded, in their order.
///
/// # Errors
/// There are too many.
pub fn parameters(query: &str) -> Result<Vec<(String, String)>, Fault> {
    let decode = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let mut parameters = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        if parameters.len() == PARAMETERS_MAX {
            return Err(Fault::new("bad_request", "There are too many parameters."));
        }
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        parameters.push((decode(name), decode(value)));
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(method: &str, path: &str) -> &'static str {
        route(method, path).map_or_else(|fault| fault.code, |_| "")
    }

    #[test]
    fn path_of_a_client_is_unknown() {
        let of = |action| Ok(Route::Index { uid: "films".to_owned(), action });
        assert_eq!(route("POST", "/multi-search"), Ok(Route::MultiSearch));
        assert_eq!(route("GET", "/tasks/17"), Ok(Route::Task(17)));
        assert_eq!(route("POST", "/indexes/films/search"), of(Action::Search));
        assert_eq!(route("GET", "/indexes/films/"), of(Action::Show));
        assert_eq!(route("GET", "/indexes/films/documents/a%2Db"), of(Action::Document("a-b".to_owned())));
        assert_eq!(route("DELETE", "/indexes/films/documents/7"), of(Action::DeleteDocument("7".to_owned())));
        let Ok(Route::Index { action: Action::UpdateSetting(setting), .. }) =
            route("PUT", "/indexes/films/settings/ranking-rules")
        else {
            panic!("the rules have a path");
        };
        assert_eq!(setting.name, "rankingRules");
    }

    #[test]
    fn wrong_path_is_accepted() {
        assert_eq!(code("GET", "/indexes/a%20b/search"), "invalid_index_uid");
        assert_eq!(code("GET", &["/indexes/", &"a".repeat(513)].concat()), "invalid_index_uid");
        assert_eq!(code("PUT", "/indexes/films/search"), "method_not_allowed");
        assert_eq!(code("PUT", "/multi-search"), "method_not_allowed");
        assert_eq!(code("GET", "/indexes/films/settings/nothing"), "not_found");
        assert_eq!(code("GET", "/indexes/films/documents/1/2"), "not_found");
        assert_eq!(code("GET", "/keys"), "feature_not_enabled");
        assert_eq!(code("POST", "/dumps"), "feature_not_enabled");
        assert_eq!(code("POST", "/indexes/films/similar"), "feature_not_enabled");
        assert_eq!(code("GET", "/tasks/x"), "invalid_task_uids");
        assert!(!is_of_dialect("/get/key") && !is_of_dialect("/keys/a*"));
        assert!(is_of_dialect("/indexes"));
    }

    #[test]
    fn parameter_stays_encoded() {
        let read = parameters("q=a+b%26c&limit=5&&empty").expect("few");
        let read: Vec<(&str, &str)> =
            read.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(read, [("q", "a b&c"), ("limit", "5"), ("empty", "")]);
        assert!(parameters(&"a=1&".repeat(65)).is_err());
    }
}
