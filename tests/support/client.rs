//! A small blocking RESP client: requests out, decoded replies in. It hides nothing, so that tests see what is sent.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use edgecask_core::resp::{Decoder, Value, write_request};

use crate::web_socket::{Cutting, WebSocketStream};

/// A test waits this long for a reply before it fails.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes asked of the socket at a time.
const READ_BYTES: usize = 64 * 1024;

/// A reply as it reads and as it came.
#[derive(Clone, Debug)]
pub struct Reply {
    /// What it says.
    pub value: Value,
    /// Its bytes: they tell null strings from null arrays.
    pub bytes: Vec<u8>,
}

impl Reply {
    /// A part of a reply, whose own bytes are not known.
    pub fn of(value: &Value) -> Reply {
        Reply { value: value.clone(), bytes: format!("{value:?}").into_bytes() }
    }
}

/// What carries a connection's bytes.
enum Carrier {
    Tcp(TcpStream),
    WebSocket(Box<WebSocketStream>),
}

/// A connection.
pub struct Client {
    carrier: Carrier,
    decoder: Decoder,
    received: Vec<u8>,
    /// Bytes of `received` that have been decoded. Invariant: at most its length.
    decoded: usize,
}

impl Client {
    /// Connects.
    pub fn connect(address: SocketAddr) -> io::Result<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Client::over(Carrier::Tcp(stream))
    }

    /// Connects by WebSocket.
    pub fn connect_web(address: SocketAddr, cutting: Cutting) -> io::Result<Client> {
        Client::over(Carrier::WebSocket(Box::new(WebSocketStream::connect(address, cutting)?)))
    }

    /// Connects by WebSocket at a path of its own.
    pub fn connect_web_to(address: SocketAddr, path: &str, cutting: Cutting) -> io::Result<Client> {
        Client::over(Carrier::WebSocket(Box::new(WebSocketStream::connect_to(address, path, cutting)?)))
    }

    fn over(carrier: Carrier) -> io::Result<Client> {
        let client = Client { carrier, decoder: Decoder::new(), received: Vec::new(), decoded: 0 };
        client.stream().set_read_timeout(Some(REPLY_TIMEOUT))?;
        client.stream().set_write_timeout(Some(REPLY_TIMEOUT))?;
        Ok(client)
    }

    /// One request and its reply.
    pub fn call<A: AsRef<[u8]>>(&mut self, args: &[A]) -> io::Result<Value> {
        let mut bytes = Vec::new();
        write_request(args, &mut bytes);
        self.send(&bytes)?;
        self.receive()
    }

    /// A request written as words between spaces; its reply, or the reason to fail the test.
    pub fn must(&mut self, words: &str) -> Value {
        let args: Vec<&str> = words.split(' ').collect();
        self.call(&args).unwrap_or_else(|error| panic!("{words}: {error}"))
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.carrier {
            Carrier::Tcp(stream) => stream.write_all(bytes),
            Carrier::WebSocket(stream) => stream.write_all(bytes),
        }
    }

    /// Waits for the next reply.
    pub fn receive(&mut self) -> io::Result<Value> {
        self.receive_reply().map(|reply| reply.value)
    }

    /// Waits for the next reply and gives its bytes, too.
    pub fn receive_reply(&mut self) -> io::Result<Reply> {
        loop {
            if let Some(reply) = self.decode()? {
                return Ok(reply);
            }
            if self.fill()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Everything the server sends until it closes the connection.
    pub fn receive_until_closed(&mut self) -> io::Result<Vec<u8>> {
        while self.fill()? > 0 {}
        self.decoded = 0;
        Ok(std::mem::take(&mut self.received))
    }

    /// Sends a long pipeline over TCP and receives its replies at the same time, so that neither side's buffers can
    /// block both.
    pub fn exchange(&mut self, bytes: &[u8], count: usize) -> io::Result<Vec<Reply>> {
        let mut sender = self.stream().try_clone()?;
        std::thread::scope(|scope| {
            let sending = scope.spawn(move || sender.write_all(bytes));
            let replies = (0..count).map(|_| self.receive_reply()).collect::<io::Result<Vec<Reply>>>();
            if replies.is_err() {
                // The sender may wait for a server that reads no more.
                let _ = self.stream().shutdown(Shutdown::Both);
            }
            let sent = sending.join().map_err(|_| io::Error::other("the sender panicked"))?;
            replies.and_then(|replies| sent.map(|()| replies))
        })
    }

    /// The socket, for what only it can do.
    pub fn stream(&self) -> &TcpStream {
        match &self.carrier {
            Carrier::Tcp(stream) => stream,
            Carrier::WebSocket(stream) => stream.stream(),
        }
    }

    fn decode(&mut self) -> io::Result<Option<Reply>> {
        let waiting = &self.received[self.decoded..];
        let found = self.decoder.decode(waiting).map_err(io::Error::other)?;
        let Some((value, used)) = found else {
            return Ok(None);
        };
        let bytes = waiting[..used].to_vec();
        self.decoded += used;
        if self.decoded == self.received.len() {
            self.received.clear();
            self.decoded = 0;
        }
        Ok(Some(Reply { value, bytes }))
    }

    fn fill(&mut self) -> io::Result<usize> {
        // The decoder counts from the first byte that is not decoded, so what stands before it may go.
        if self.decoded > READ_BYTES {
            self.received.drain(..self.decoded);
            self.decoded = 0;
        }
        let len = self.received.len();
        self.received.resize(len + READ_BYTES, 0);
        let space = &mut self.received[len..];
        let got = match &mut self.carrier {
            Carrier::Tcp(stream) => stream.read(space),
            Carrier::WebSocket(stream) => stream.read(space),
        };
        self.received.truncate(len + got.as_ref().map_or(0, |got| *got));
        got
    }
}
