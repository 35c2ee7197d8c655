//! Requests of clients of another server that run here, since this server owns their key ([`edgecask_core::server::peers`]).
//!
//! A client of the other server has a session of its own here, which ends some time after its last request.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use edgecask_core::resp::{Decoder, Reply};
use edgecask_core::server::peers::{Forward, Forwarded, LinkId, Visitor};
use edgecask_core::session::{Peer, Session};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, Sleep, sleep};

use crate::clock::{now_ms, seed};
use crate::gateway::Gateway;
use crate::limits::{PEER_VISITOR_IDLE, PEER_VISITORS_MAX};
use crate::web::connection::{CloseReason, Received, Transport, poll_piece, serve_session};

/// The sessions for clients of the server at the other end of a link.
pub(super) struct Visitors {
    gateway: Arc<Gateway>,
    link: LinkId,
    sessions: HashMap<u64, Open>,
}

/// A session, by what it is sent.
struct Open {
    visitor: Visitor,
    jobs: UnboundedSender<Job>,
}

/// Requests under the number that the other server gave them.
struct Job {
    number: u64,
    forward: Forward,
}

impl Visitors {
    pub(super) fn new(gateway: &Arc<Gateway>, link: LinkId) -> Visitors {
        Visitors { gateway: gateway.clone(), link, sessions: HashMap::new() }
    }

    /// Runs requests, and has the other server told what became of them.
    pub(super) fn run(&mut self, number: u64, forward: Forward) {
        let (client, mut job) = (forward.client, Job { number, forward });
        let open = self.sessions.get(&client).filter(|open| open.visitor == job.forward.visitor);
        if let Some(open) = open {
            match open.jobs.send(job) {
                Ok(()) => return,
                // It has just ended.
                Err(unsent) => job = unsent.0,
            }
        }
        let visitor = job.forward.visitor.clone();
        match self.open(client, &visitor) {
            Some(jobs) => {
                // The receiver is there, since nothing of the session has run yet.
                let _ = jobs.send(job);
                self.sessions.insert(client, Open { visitor, jobs });
            }
            None => self.gateway.server.shared.peers.forwarded(self.link, number, Forwarded::Refused),
        }
    }

    fn open(&mut self, client: u64, visitor: &Visitor) -> Option<UnboundedSender<Job>> {
        if self.sessions.len() >= PEER_VISITORS_MAX {
            self.sessions.retain(|_, open| !open.jobs.is_closed());
            if self.sessions.len() >= PEER_VISITORS_MAX {
                return None;
            }
        }
        let (gateway, link) = (self.gateway.clone(), self.link);
        let peer = Peer { address: format!("peer-{}:{client}", link.peer), local_address: String::new() };
        let session = Session::visiting(&gateway.server.shared, peer, visitor, seed(), now_ms())?;
        let (sender, jobs) = unbounded_channel();
        let transport = VisitorTransport {
            gateway: gateway.clone(),
            link,
            jobs,
            current: None,
            idle: Box::pin(sleep(PEER_VISITOR_IDLE)),
        };
        tokio::spawn(serve_session(gateway, transport, session));
        Some(sender)
    }
}

/// Requests that are under way.
struct Current {
    number: u64,
    /// How many replies are missing.
    missing: u32,
    replies: Vec<u8>,
    /// So many bytes of them are whole replies.
    counted: usize,
    decoder: Decoder,
}

impl Current {
    /// Counts what has come; true if all replies are there.
    fn is_whole(&mut self) -> io::Result<bool> {
        while self.missing > 0 {
            let rest = self.replies.get(self.counted..).unwrap_or_default();
            let Some((_, used)) = self.decoder.decode(rest).map_err(io::Error::other)? else { break };
            self.counted += used;
            self.missing -= 1;
        }
        Ok(self.missing == 0)
    }
}

/// Requests and replies as the transport of their session.
struct VisitorTransport {
    gateway: Arc<Gateway>,
    link: LinkId,
    jobs: UnboundedReceiver<Job>,
    current: Option<Current>,
    idle: Pin<Box<Sleep>>,
}

impl VisitorTransport {
    fn tell(&self, number: u64, outcome: Forwarded) {
        self.gateway.server.shared.peers.forwarded(self.link, number, outcome);
    }

    fn begin(&mut self, job: Job, input: &mut Vec<u8>) -> Received {
        input.extend_from_slice(&job.forward.requests);
        self.current = Some(Current {
            number: job.number,
            missing: job.forward.count,
            replies: Vec::new(),
            counted: 0,
            decoder: Decoder::new(),
        });
        Received::Input
    }
}

impl Transport for VisitorTransport {
    fn poll_receive(&mut self, context: &mut Context<'_>, input: &mut Vec<u8>) -> Poll<io::Result<Received>> {
        if self.current.is_some() {
            // The session itself wakes its task.
            return Poll::Pending;
        }
        let received = match self.jobs.poll_recv(context) {
            Poll::Ready(Some(job)) => self.begin(job, input),
            Poll::Ready(None) => Received::End,
            Poll::Pending => {
                ready!(self.idle.as_mut().poll(context));
                // What is sent from now on goes to another session.
                self.jobs.close();
                match self.jobs.poll_recv(context) {
                    Poll::Ready(Some(job)) => self.begin(job, input),
                    _ => Received::End,
                }
            }
        };
        Poll::Ready(Ok(received))
    }

    fn poll_send(&mut self, context: &mut Context<'_>, reply: &mut Reply) -> Poll<io::Result<()>> {
        let Some(current) = &mut self.current else {
            // Nobody has asked for it.
            reply.clear();
            return Poll::Ready(Ok(()));
        };
        while ready!(poll_piece(context, reply, &mut current.replies))? {}
        if current.is_whole()?
            && let Some(Current { number, replies, .. }) = self.current.take()
        {
            self.tell(number, Forwarded::Replied(replies));
            self.idle.as_mut().reset(Instant::now() + PEER_VISITOR_IDLE);
        }
        Poll::Ready(Ok(()))
    }

    fn ping(&mut self, _: &mut Context<'_>) -> bool {
        false
    }

    fn set_authenticated(&mut self) {}

    fn poll_close(&mut self, _: &mut Context<'_>, _: CloseReason) -> Poll<()> {
        Poll::Ready(())
    }
}

impl Drop for VisitorTransport {
    fn drop(&mut self) {
        if let Some(current) = &self.current {
            // They may have run.
            self.tell(current.number, Forwarded::Lost);
        }
        self.jobs.close();
        while let Ok(job) = self.jobs.try_recv() {
            self.tell(job.number, Forwarded::Refused);
        }
    }
}
