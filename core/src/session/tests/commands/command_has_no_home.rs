//! Every row of the catalog is run by a handler or by the session.

use crate::catalog;
use crate::command::has_handler;

/// The session runs what has no handler: what MULTI does not queue, and UNWATCH, which has nothing left to do in a queue.
#[test]
fn command_has_neither_a_handler_nor_a_session() {
    for spec in catalog::all() {
        let is_of_the_session = !spec.waits_for_exec() || spec.name == "unwatch";
        assert_eq!(!has_handler(spec), is_of_the_session, "{}", spec.name);
    }
}
