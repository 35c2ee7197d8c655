//! A program that has a store inside: connections with a thread's own waker and no runtime.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use edgecask::embedded::{Embedded, EmbeddedConnection};
use edgecask_core::resp::{Decoder, Value, write_request};

/// No step of a test takes longer on a healthy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A connection, and what it was handed out and has not been looked at.
pub struct Caller {
    connection: EmbeddedConnection,
    received: Vec<u8>,
}

impl Caller {
    pub fn of(store: &Embedded) -> Caller {
        Caller { connection: store.connect(), received: Vec::new() }
    }

    pub fn write(&mut self, words: &[&[u8]]) {
        let mut request = Vec::new();
        write_request(words, &mut request);
        self.connection.write(&request);
    }

    /// Polls once.
    pub fn poll(&mut self) -> Poll<io::Result<()>> {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        self.connection.poll_replies(&mut Context::from_waker(&waker), &mut self.received)
    }

    /// Waits until more is handed out, as long as a waker says that it pays to look.
    pub fn wait(&mut self) -> io::Result<()> {
        let begin = Instant::now();
        loop {
            if let Poll::Ready(outcome) = self.poll() {
                return outcome;
            }
            std::thread::park_timeout(PATIENCE);
            assert!(begin.elapsed() < PATIENCE, "nobody has woken the connection");
        }
    }

    /// The next reply or message.
    pub fn value(&mut self) -> Value {
        loop {
            let decoded = Decoder::new().decode(&self.received).expect("a reply");
            if let Some((value, len)) = decoded {
                self.received.drain(..len);
                return value;
            }
            self.wait().expect("the connection lives");
        }
    }

    /// The next reply as text.
    pub fn hear(&mut self) -> String {
        shown(&self.value())
    }

    /// The reply to these words.
    pub fn ask(&mut self, words: &[&[u8]]) -> String {
        self.write(words);
        self.hear()
    }

    /// The reply to words in a line, with spaces between them.
    pub fn say(&mut self, line: &str) -> String {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        self.ask(&words)
    }

    /// Says this until the reply is that.
    pub fn say_until(&mut self, line: &str, wanted: &str) {
        let begin = Instant::now();
        loop {
            let answer = self.say(line);
            if answer == wanted {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{line}: {answer}, and not {wanted}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Simple(text) | Value::Bulk(text) => String::from_utf8_lossy(text).into_owned(),
        Value::Error(text) => format!("-{}", String::from_utf8_lossy(text)),
        Value::Integer(number) => number.to_string(),
        Value::Null => "nil".into(),
        Value::Array(values) | Value::Push(values) => {
            format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(" "))
        }
        other => format!("{other:?}"),
    }
}
