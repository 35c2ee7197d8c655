//! FUNCTION DUMP and FUNCTION RESTORE: all libraries as bytes that Redis understands.

use std::sync::Arc;

use super::callers::check_functions;
use super::libraries::{self, add, clear, function_exists, taken};
use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome};
use crate::data::rdb;
use crate::server::scripts::{Change, Library, LibrarySet};

pub(super) fn dump(ctx: &mut Context<'_, '_>) -> Outcome {
    let set = libraries::present(ctx);
    let sources: Vec<&[u8]> = set.libraries().map(|library| &*library.source).collect();
    let payload = rdb::dump_functions(&sources);
    ctx.reply.bulk(&payload);
    Ok(())
}

/// What becomes of the libraries that there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    /// All of them go.
    Flush,
    /// They stay, and no new one may have the name of one.
    Append,
    /// They stay, but for those with the name of a new one.
    Replace,
}

pub(super) fn restore(ctx: &mut Context<'_, '_>, payload: &[u8], policy: &[u8]) -> Outcome {
    let policy = match policy {
        word if is_option(word, "FLUSH") => Policy::Flush,
        word if is_option(word, "APPEND") => Policy::Append,
        word if is_option(word, "REPLACE") => Policy::Replace,
        _ => {
            return Err(CommandError::text(
                "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.",
            ));
        }
    };
    let body =
        rdb::open(payload).ok_or(CommandError::text("ERR DUMP payload version or checksum are wrong"))?;
    let sources =
        rdb::load_functions(body).map_err(|_| CommandError::text("ERR failed loading functions payload"))?;
    let present = libraries::present(ctx);
    // All are looked at before the first is added.
    let mut set = if policy == Policy::Flush { LibrarySet::default() } else { (*present).clone() };
    let mut new: Vec<Library> = Vec::new();
    for source in &sources {
        let library = libraries::build(ctx.shared, source)?;
        let is_known = set.library(&library.name).is_some();
        let is_twice = new.iter().any(|other| other.name == library.name);
        if is_twice || (is_known && policy != Policy::Replace) {
            let name = String::from_utf8_lossy(&library.name);
            return Err(CommandError::owned(format!("ERR Library {name} already exists")));
        }
        if is_known {
            set.apply(&Change::Delete(library.name.clone()));
        }
        new.push(library);
    }
    let new: Vec<Arc<Library>> = new.into_iter().map(Arc::new).collect();
    for library in &new {
        if let Some(function) = taken(&set, library) {
            return Err(function_exists(&function.name));
        }
        set.apply(&Change::Set(library.clone()));
    }
    check_functions(ctx, &set)?;
    if policy == Policy::Flush {
        clear(ctx)?;
    }
    for library in new {
        add(ctx, library)?;
    }
    ctx.reply.ok();
    Ok(())
}
