//! `FT.HTTP method path query body` and `FT.HTTP_RO …`: Meilisearch's dialect of search by HTTP, one request a command. The reply is the status, the
//! type of the body, and the body. What requests mean is in [`crate::search::dialect`]; the hosts' HTTP layers only pass bodies on.
//!
//! ```text
//!  mod        the route of a request, and its answer
//!  indexes    makes, changes, shows and drops indexes and their settings
//!  documents  adds, changes, deletes, shows documents
//!  meant      what a search means for an index
//!  search     searches, facets, hits
//! ```
//!
//! An index of this dialect is one of FT.CREATE's that has settings, so FT.INFO, FT.SEARCH and HSET see it, too. All that a request changes is
//! one transaction with its answer. FT.HTTP_RO refuses what changes anything, and a user with that command alone
//! can only search: it shows documents to users who may run HGETALL as well, and settings to those who may run FT.INFO.

mod documents;
mod indexes;
mod meant;
mod search;

use std::sync::Arc;

use serde_json::{Value, json};

use super::admin::{check_access, check_engine};
use super::find::{self, Ended};
use super::keys;
use super::stage::present;
use crate::command::{CommandError, Context, Outcome, admission};
use crate::search::dialect::fault::Fault;
use crate::search::dialect::request;
use crate::search::dialect::route::{self, Action, Route, Shows};
use crate::search::dialect::settings::Settings;
use crate::search::dialect::task;
use crate::server::search::{Index, Progress};

/// The version of Meilisearch whose answers these are like.
const VERSION: &str = "1.15.0";

/// Why a request has no good answer.
enum Failed {
    /// A mistake of the client, which gets it as JSON.
    Fault(Fault),
    /// An error of the store: the reply itself, or a reason to run again.
    Error(CommandError),
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed::Fault(fault)
    }
}

impl From<CommandError> for Failed {
    fn from(error: CommandError) -> Failed {
        Failed::Error(error)
    }
}

impl From<Ended> for Failed {
    fn from(ended: Ended) -> Failed {
        match ended {
            Ended::Timeout => Failed::Fault(Fault::search_timeout()),
            Ended::Error(error) => Failed::Error(error),
        }
    }
}

impl From<crate::engine::EngineError> for Failed {
    fn from(error: crate::engine::EngineError) -> Failed {
        Failed::Error(error.into())
    }
}

impl From<crate::data::DataError> for Failed {
    fn from(error: crate::data::DataError) -> Failed {
        Failed::Error(error.into())
    }
}

type Result<T> = std::result::Result<T, Failed>;

/// A request with what the handlers need of it.
struct Asked<'a> {
    /// The words of the command, for the check of rights.
    args: &'a [&'a [u8]],
    /// The parameters of the path.
    parameters: Vec<(String, String)>,
    body: &'a [u8],
}

impl Asked<'_> {
    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    fn truth(&self, name: &str, code: &'static str) -> Result<bool> {
        let Some(text) = self.parameter(name) else { return Ok(false) };
        let message = ["Invalid value in parameter `", name, "`: could not parse `", text, "` as a boolean"];
        text.parse().map_err(|_| Fault::new(code, message.concat()).into())
    }

    /// Refuses parameters that Meilisearch has and this server does not.
    fn refuse(&self, names: &[&str]) -> Result<()> {
        let asks = |name: &&&str| self.parameter(name).is_some_and(|text| !matches!(text, "" | "false"));
        match names.iter().find(asks) {
            Some(name) => Err(Fault::unsupported(&["The parameter `", name, "`"].concat()).into()),
            None => Ok(()),
        }
    }

    fn count(&self, name: &str, default: u64, code: &'static str) -> Result<u64> {
        let Some(text) = self.parameter(name) else { return Ok(default) };
        let message =
            ["Invalid value in parameter `", name, "`: could not parse `", text, "` as a positive integer"];
        text.parse().map_err(|_| Fault::new(code, message.concat()).into())
    }
}

/// `FT.HTTP method path query body`
pub(super) fn http(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    run(ctx, args, true)
}

/// `FT.HTTP_RO method path query body`
pub(super) fn http_read_only(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    run(ctx, args, false)
}

fn run(ctx: &mut Context<'_, '_>, args: &[&[u8]], may_write: bool) -> Outcome {
    check_engine(ctx)?;
    let (status, body) = match answer(ctx, args, may_write) {
        Ok(answer) => answer,
        Err(Failed::Fault(fault)) => (fault.status(), fault.json().to_string().into_bytes()),
        Err(Failed::Error(error)) => return Err(error),
    };
    ctx.reply.array(3);
    ctx.reply.integer(i64::from(status));
    ctx.reply.bulk(b"application/json");
    ctx.reply.bulk(&body);
    Ok(())
}

/// The status and the body of an answer.
type Answer = (u16, Vec<u8>);

fn good(value: &Value) -> Answer {
    (200, value.to_string().into_bytes())
}

fn answer(ctx: &mut Context<'_, '_>, args: &[&[u8]], may_write: bool) -> Result<Answer> {
    let text = |at: usize| args.get(at).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    let asked = Asked {
        args,
        parameters: route::parameters(text(3))?,
        body: args.get(4).copied().unwrap_or_default(),
    };
    let route = route::route(text(1), text(2))?;
    if !may_write && route.changes() {
        return Err(CommandError::text("NOPERM FT.HTTP_RO only reads").into());
    }
    if !may_write {
        check_reader(ctx, &route)?;
    }
    if route.changes() {
        asked.refuse(&["customMetadata", "csvDelimiter"])?;
    }
    match route {
        Route::Health => Ok(good(&json!({ "status": "available" }))),
        Route::Version => {
            Ok(good(&json!({ "commitSha": "edgecask", "commitDate": "", "pkgVersion": VERSION })))
        }
        Route::Stats => indexes::all_stats(ctx, &asked),
        Route::ListIndexes => indexes::list(ctx, &asked),
        Route::CreateIndex => indexes::create(ctx, &asked),
        Route::SwapIndexes => Err(Fault::unsupported("Swapping indexes").into()),
        Route::ListTasks => Ok(good(&task::list(asked.count("limit", 20, "invalid_task_limit")?))),
        Route::Task(number) => {
            let (set, db) = (present(ctx), ctx.db());
            let lacks_documents = |index: &Index| index.definition.db == db && !index.definition.is_scanned;
            let is_indexing = |mark| {
                let mut indexes = set.iter().filter(|index| lacks_documents(index));
                indexes.any(|index| task::mark(&index.definition.name) == mark)
            };
            Ok(good(&task::show(number, ctx.now_ms(), &is_indexing)?))
        }
        Route::MultiSearch => {
            let searches = request::parse_multi_search(asked.body)?;
            search::multi(ctx, &asked, &searches)
        }
        Route::Index { uid, action } => of_index(ctx, &asked, &uid, action),
    }
}

/// Whether the user may see what FT.HTTP_RO shows beyond hits. With that command alone, it may search: what else it sees is what other
/// commands show, so it needs one of these, or FT.HTTP.
///
/// # Errors
/// It has none of them.
fn check_reader(ctx: &Context<'_, '_>, route: &Route) -> Result<()> {
    let user = ctx.client.access.user();
    let (command, key): (&[u8], _) = match (route.shows(), route) {
        (Shows::Hits, _) => return Ok(()),
        (Shows::Documents, Route::Index { uid, .. }) => (b"HGETALL", [uid, ":"].concat()),
        (_, Route::Index { uid, .. }) => (b"FT.INFO", [uid, ":"].concat()),
        _ => (b"FT._LIST", String::new()),
    };
    let may = |args: &[&[u8]]| {
        let spec = admission::find(args)?;
        // Names of indexes are about no keys.
        let may = match key.is_empty() {
            true => user.may_run(spec),
            false => user.may_use_all((spec, args), key.as_bytes(), false),
        };
        Ok::<bool, CommandError>(may)
    };
    if user.is_unrestricted()
        || may(&[command, key.as_bytes()])?
        || may(&[b"FT.HTTP", b"GET", b"", b"", b""])?
    {
        return Ok(());
    }
    let command = String::from_utf8_lossy(command);
    Err(CommandError::owned(format!(
        "NOPERM FT.HTTP_RO shows this to those who may run {command} or FT.HTTP"
    ))
    .into())
}

fn of_index(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str, action: Action) -> Result<Answer> {
    match action {
        Action::Show => indexes::show(ctx, asked, uid),
        Action::Update => indexes::update(ctx, asked, uid),
        Action::Delete => indexes::delete(ctx, asked, uid),
        Action::Stats => indexes::stats(ctx, asked, uid),
        Action::Search => search::one(ctx, asked, uid, &request::parse_search(asked.body)?),
        Action::SearchByParameters => {
            search::one(ctx, asked, uid, &request::parse_parameters(&asked.parameters)?)
        }
        Action::FacetSearch => search::facet(ctx, asked, uid, &request::parse_facet_search(asked.body)?),
        Action::ListDocuments => documents::list(ctx, asked, uid),
        Action::FetchDocuments => documents::fetch(ctx, asked, uid),
        Action::Document(id) => documents::show(ctx, asked, uid, &id),
        Action::ReplaceDocuments => documents::add(ctx, asked, uid, true),
        Action::UpdateDocuments => documents::add(ctx, asked, uid, false),
        Action::DeleteAllDocuments => documents::delete_all(ctx, asked, uid),
        Action::DeleteDocument(id) => documents::delete(ctx, asked, uid, &[id]),
        Action::DeleteBatch => {
            let ids = crate::search::dialect::document::delete_ids(asked.body)?;
            documents::delete(ctx, asked, uid, &ids)
        }
        Action::DeleteByFilter => documents::delete_by_filter(ctx, asked, uid),
        Action::Settings => indexes::settings(ctx, asked, uid, None),
        Action::Setting(setting) => indexes::settings(ctx, asked, uid, Some(setting)),
        Action::UpdateSettings => indexes::update_settings(ctx, asked, uid, None),
        Action::UpdateSetting(setting) => indexes::update_settings(ctx, asked, uid, Some(setting)),
        Action::ResetSettings => indexes::reset_settings(ctx, asked, uid, None),
        Action::ResetSetting(setting) => indexes::reset_settings(ctx, asked, uid, Some(setting)),
    }
}

/// What a name stands for.
enum Named {
    /// Nothing yet.
    Free,
    /// An index of this dialect, with its settings.
    Index(Arc<Index>, Arc<Settings>),
    /// An index of FT.CREATE, or an alias of FT.ALIASADD: documents have the name of their index in their keys.
    Taken,
}

/// What a name stands for, at one moment: others may make and drop indexes until the transaction has locks.
fn named(ctx: &Context<'_, '_>, uid: &str) -> Named {
    let set = present(ctx);
    let Some(index) = set.find(ctx.db(), uid.as_bytes()) else { return Named::Free };
    match &index.definition.settings {
        Some(settings) if *index.definition.name == *uid.as_bytes() => {
            Named::Index(index.clone(), settings.clone())
        }
        _ => Named::Taken,
    }
}

/// An index of this dialect with its settings; None if there is none.
fn look_up(ctx: &Context<'_, '_>, uid: &str) -> Option<(Arc<Index>, Arc<Settings>)> {
    match named(ctx, uid) {
        Named::Index(index, settings) => Some((index, settings)),
        Named::Free | Named::Taken => None,
    }
}

/// An index that the user may read, or read and write.
///
/// # Errors
/// There is none, or the user may not.
fn open(
    ctx: &Context<'_, '_>,
    asked: &Asked<'_>,
    uid: &str,
    writes: bool,
) -> Result<(Arc<Index>, Arc<Settings>)> {
    let (index, settings) = look_up(ctx, uid).ok_or_else(|| Fault::index_not_found(uid))?;
    check_access(ctx, &index, asked.args, writes)?;
    check_open(&index)?;
    Ok((index, settings))
}

/// Whether what an index says of its documents holds.
///
/// # Errors
/// It is being read.
fn check_open(index: &Index) -> Result<()> {
    if let Progress::Closed | Progress::Rebuilding { .. } = index.contents.progress() {
        return Err(Fault::new("index_not_accessible", "The index is being opened; ask again soon.").into());
    }
    Ok(())
}

/// Whether an index has documents, also such as it has not counted yet.
fn has_documents(ctx: &mut Context<'_, '_>, index: &Index) -> Result<bool> {
    // One that is read again has lost some.
    let is_read_again = matches!(index.contents.progress(), Progress::Closed | Progress::Rebuilding { .. });
    if is_read_again || index.contents.facts().documents > 0 {
        return Ok(true);
    }
    if !index.definition.is_scanned {
        lock_all(ctx)?;
    }
    Ok(keys::has_uncounted(ctx, index)?)
}

/// Has the whole store locked, which is for changes of the set of indexes, and for all documents of one.
fn lock_all(ctx: &mut Context<'_, '_>) -> Result<()> {
    match ctx.txn.holds_everything() {
        true => Ok(()),
        false => Err(find::lock_everything(ctx).into()),
    }
}

/// The answer to a change: a task that has ended, if it ended well or by a failure that tasks have. One that has changed settings and left
/// documents to upkeep ends with that.
fn accept(ctx: &Context<'_, '_>, kind: task::Kind, uid: &str, result: Result<()>) -> Result<Answer> {
    let fault = match result {
        Ok(()) => None,
        Err(Failed::Fault(fault)) if task::is_failure(&fault) => Some(fault),
        Err(other) => return Err(other),
    };
    let is_indexing = || {
        let set = present(ctx);
        let index = set.named(ctx.db(), uid.as_bytes()).filter(|_| kind == task::Kind::Settings);
        // A new index with nothing to be made anew has its documents, though upkeep has not looked for others yet.
        index.is_some_and(|index| matches!(index.contents.progress(), Progress::Scanning { of: 1.., .. }))
    };
    let ending = match &fault {
        Some(fault) => task::Ending::Failed(fault),
        None if is_indexing() => task::Ending::Indexing,
        None => task::Ending::Done,
    };
    let answer = task::accepted(kind, Some(uid), ending, ctx.now_ms());
    Ok((202, answer.to_string().into_bytes()))
}
