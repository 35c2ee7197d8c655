//! A server that answers GET with the key, and does to its replies what a test wants.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use edgecask_core::resp::{Args, Parsed, RequestLimits, RequestParser};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The server, until it is dropped.
pub struct Misbehaving {
    pub url: String,
    /// Connections that were made.
    pub connections: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Misbehaving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Misbehaving {
    /// A server that sends its replies to GET by `send`, which says whether the connection goes on.
    pub async fn start<F, S>(send: S) -> Misbehaving
    where
        S: Fn(TcpStream, Vec<u8>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Option<TcpStream>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("redis://{}", listener.local_addr().expect("an address"));
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, SeqCst);
                tokio::spawn(serve(stream, send.clone()));
            }
        });
        Misbehaving { url, connections, task }
    }
}

async fn serve<F, S>(mut stream: TcpStream, send: S)
where
    S: Fn(TcpStream, Vec<u8>) -> F,
    F: Future<Output = Option<TcpStream>>,
{
    let (mut parser, mut input) = (RequestParser::new(), Vec::new());
    loop {
        let mut reply = None;
        {
            let mut args = Args::new();
            match parser.parse(&input, &RequestLimits::new(true), &mut args) {
                Ok(Parsed::Request { consumed }) => {
                    let is_get = args.first().is_some_and(|name| name.eq_ignore_ascii_case(b"GET"));
                    let key = args.get(1).map(|key| key.to_vec()).unwrap_or_default();
                    reply = Some((consumed, is_get, key));
                }
                Ok(Parsed::Nothing { consumed }) => reply = Some((consumed, false, Vec::new())),
                Ok(Parsed::Incomplete { .. }) => {}
                Err(error) => panic!("the client sends no requests: {error}"),
            }
        }
        match reply {
            Some((consumed, is_get, key)) => {
                input.drain(..consumed);
                if is_get {
                    let reply = [format!("${}\r\n", key.len()).as_bytes(), &key, b"\r\n"].concat();
                    match send(stream, reply).await {
                        Some(kept) => stream = kept,
                        None => return,
                    }
                } else if stream.write_all(b"+OK\r\n").await.is_err() {
                    return;
                }
            }
            None => match stream.read_buf(&mut input).await {
                Ok(1..) => {}
                _ => return,
            },
        }
    }
}
