//! A WebSocket as a byte stream that breaks what it sends into messages and fragments as it likes.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::{Message, WebSocket};

/// How a written piece is cut.
#[derive(Clone, Debug)]
pub enum Cutting {
    /// One message a piece.
    Whole,
    /// Messages and fragments of random lengths, pings between them, text where it is text.
    Random(fastrand::Rng),
}

/// The client's side of `/resp`.
pub struct WebSocketStream {
    socket: WebSocket<TcpStream>,
    cutting: Cutting,
    /// What came in the last message and has not been read.
    received: Vec<u8>,
    read: usize,
}

impl WebSocketStream {
    /// Shakes hands.
    pub fn connect(address: SocketAddr, cutting: Cutting) -> io::Result<WebSocketStream> {
        WebSocketStream::connect_to(address, "/resp", cutting)
    }

    /// The same at another path.
    pub fn connect_to(address: SocketAddr, path: &str, cutting: Cutting) -> io::Result<WebSocketStream> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let (socket, _) =
            tungstenite::client(format!("ws://{address}{path}"), stream).map_err(io::Error::other)?;
        Ok(WebSocketStream { socket, cutting, received: Vec::new(), read: 0 })
    }

    /// The socket below.
    pub fn stream(&self) -> &TcpStream {
        self.socket.get_ref()
    }

    /// The protocol, for what only it can do.
    pub fn socket(&mut self) -> &mut WebSocket<TcpStream> {
        &mut self.socket
    }
}

impl Write for WebSocketStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let told = |error: tungstenite::Error| io::Error::other(error);
        let Cutting::Random(random) = &mut self.cutting else {
            self.socket.send(Message::binary(bytes.to_vec())).map_err(told)?;
            return Ok(bytes.len());
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            let (message, others) = rest.split_at(random.usize(1..=rest.len()));
            rest = others;
            if random.u8(..) < 32 {
                self.socket.write(Message::Ping(Default::default())).map_err(told)?;
            }
            match std::str::from_utf8(message) {
                Ok(text) if random.bool() => self.socket.write(Message::text(text)).map_err(told)?,
                _ => {
                    let mut opcode = OpCode::Data(Data::Binary);
                    let mut message = message;
                    loop {
                        let len = random.usize(0..=message.len());
                        let (fragment, others) = message.split_at(len);
                        message = others;
                        let is_last = message.is_empty();
                        let frame = Frame::message(fragment.to_vec(), opcode, is_last);
                        self.socket.write(Message::Frame(frame)).map_err(told)?;
                        opcode = OpCode::Data(Data::Continue);
                        if is_last {
                            break;
                        }
                    }
                }
            }
        }
        self.socket.flush().map_err(told)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush().map_err(io::Error::other)
    }
}

impl Read for WebSocketStream {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        while self.read == self.received.len() {
            match self.socket.read() {
                Ok(Message::Binary(bytes)) => (self.received, self.read) = (bytes.to_vec(), 0),
                Ok(Message::Close(_)) | Err(tungstenite::Error::ConnectionClosed) => return Ok(0),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) => return Err(error),
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        let waiting = &self.received[self.read..];
        let count = waiting.len().min(space.len());
        space[..count].copy_from_slice(&waiting[..count]);
        self.read += count;
        Ok(count)
    }
}
