//! The request to end the process, and how it is to end.

use tokio::sync::watch;

/// How the process ends. The log is synced in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopRequest {
    /// Whether to write a checkpoint, so that the next start is quick.
    pub checkpoint: bool,
}

/// The request to stop, once one was made.
pub struct Stop {
    sender: watch::Sender<Option<StopRequest>>,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { sender: watch::Sender::new(None) }
    }
}

impl Stop {
    /// Asks the process to end; only the first request counts.
    pub fn request(&self, request: StopRequest) {
        self.sender.send_if_modified(|current| {
            let is_first = current.is_none();
            current.get_or_insert(request);
            is_first
        });
    }

    /// The request, if one was made.
    pub fn request_made(&self) -> Option<StopRequest> {
        *self.sender.borrow()
    }

    /// Waits for a request.
    pub async fn requested(&self) -> StopRequest {
        let mut receiver = self.sender.subscribe();
        let request = receiver.wait_for(Option::is_some).await.map(|request| *request);
        // The sender lives as long as `self`, so waiting cannot fail.
        request.ok().flatten().unwrap_or(StopRequest { checkpoint: true })
    }
}
