//! A connection: RESP over TCP, or over WebSocket frames.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::Failure;
use crate::reply;

const SHAKE: &str = "GET /resp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

/// Ten hits take some 2 kB.
pub const READ_BYTES: usize = 64 << 10;

pub struct Channel {
    pub stream: TcpStream,
    web: bool,
    /// Bytes of a frame whose end has not come.
    frame: Vec<u8>,
    /// Bytes of a reply whose end has not come.
    text: Vec<u8>,
    /// The planned moments of requests without an answer, oldest first.
    pub waiting: VecDeque<Duration>,
}

impl Channel {
    /// Fails if the server cannot be reached or refuses the WebSocket.
    pub fn connect(port: u16, web: bool) -> Result<Channel, Failure> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        if web {
            stream.write_all(SHAKE.as_bytes())?;
            let (mut head, mut part) = (Vec::new(), [0; 1024]);
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read(&mut part)? {
                    0 => return Err("the server closed a connection instead of a handshake".into()),
                    size => head.extend_from_slice(&part[..size]),
                }
            }
            if !head.starts_with(b"HTTP/1.1 101 ") {
                return Err(format!("no WebSocket: {}", String::from_utf8_lossy(&head)).into());
            }
        }
        stream.set_nonblocking(true)?;
        Ok(Channel { stream, web, frame: Vec::new(), text: Vec::new(), waiting: VecDeque::new() })
    }

    /// Fails if the system takes only a part: then the server has not read for hundreds of requests.
    pub fn send(&mut self, request: &[u8], planned: Duration) -> Result<(), Failure> {
        if self.stream.write(request)? != request.len() {
            return Err("the server does not read".into());
        }
        self.waiting.push_back(planned);
        Ok(())
    }

    /// Reads what has come and calls `each` with every complete reply and the planned moment of its request.
    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        mut each: impl FnMut(&[u8], Duration),
    ) -> Result<(), Failure> {
        let size = match self.stream.read(buffer) {
            Ok(0) => return Err("the server closed a connection".into()),
            Ok(size) => size,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if self.web {
            self.frame.extend_from_slice(&buffer[..size]);
            self.unpack()?;
        } else {
            self.text.extend_from_slice(&buffer[..size]);
        }
        let mut begin = 0;
        while let Some(size) = reply::size(&self.text[begin..])? {
            let planned = self.waiting.pop_front().ok_or("a reply without a request")?;
            each(&self.text[begin..begin + size], planned);
            begin += size;
        }
        self.text.drain(..begin);
        Ok(())
    }

    /// Moves the payloads of complete frames into `text`.
    fn unpack(&mut self) -> Result<(), Failure> {
        let mut begin = 0;
        while let [first, second, rest @ ..] = &self.frame[begin..] {
            let (head, size) = match (*second, rest) {
                (126, [high, low, ..]) => (4, usize::from(u16::from_be_bytes([*high, *low]))),
                (127, [a, b, c, d, e, f, g, h, ..]) => {
                    (10, usize::try_from(u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))?)
                }
                (126 | 127, _) => break,
                (size, _) => (2, usize::from(size)),
            };
            let Some(payload) = self.frame.get(begin + head..begin + head + size) else { break };
            match first & 0x0F {
                0..=2 => self.text.extend_from_slice(payload),
                // An empty pong with a mask of zeros.
                9 => self.stream.write_all(&[0x8A, 0x80, 0, 0, 0, 0])?,
                _ => return Err("the server closes a WebSocket".into()),
            }
            begin += head + size;
        }
        self.frame.drain(..begin);
        Ok(())
    }
}
