//! A connection beside those of a client, for one purpose: messages, a monitor, a cache.

use std::ops::Deref;
use std::sync::Arc;

use super::{Keeps, Link, supervise};
use crate::connector::Connector;
use crate::error::Error;
use crate::runtime::spawn;

/// A link that is connected again for as long as it has an owner, and closed with it.
pub(crate) struct OwnLink(Arc<Link>);

impl OwnLink {
    /// Starts its task.
    pub(crate) fn start(link: Link, connector: Connector) -> OwnLink {
        let link = Arc::new(link);
        spawn(supervise(link.clone(), Arc::new(connector), None, Keeps::ForEver, ()));
        OwnLink(link)
    }
}

impl Deref for OwnLink {
    type Target = Link;

    fn deref(&self) -> &Link {
        &self.0
    }
}

impl Drop for OwnLink {
    fn drop(&mut self) {
        self.0.close(Error::Closed { may_have_run: true });
    }
}
