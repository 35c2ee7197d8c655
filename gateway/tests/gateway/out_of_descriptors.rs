//! A server with few file descriptors: clients beyond them are refused, and the store goes on writing.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::Client;

/// The program under limits of the shell, ended with its test.
struct Program {
    child: Child,
    address: SocketAddr,
    log: Vec<String>,
}

impl Program {
    fn start(limits: &str, directory: &Path, flags: &str) -> Program {
        let line = format!("{limits} && exec \"$0\" --port 0 --http-port off {flags} --dir \"$1\"");
        let mut command = Command::new("sh");
        command.arg("-c").arg(line).arg(env!("CARGO_BIN_EXE_edgecask")).arg(directory);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let (mut log, mut address) = (Vec::new(), None);
        for line in lines.by_ref() {
            let line = line.expect("text");
            if let Some((_, rest)) = line.split_once("listening=[") {
                address = rest.split_once(']').and_then(|(address, _)| address.parse().ok());
            }
            let is_ready = line.contains("edgecask is ready");
            log.push(line);
            if is_ready {
                break;
            }
        }
        // Later lines must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let address = address.unwrap_or_else(|| panic!("no address in {log:?}"));
        Program { child, address, log }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_store_is_read_only_for_want_of_descriptors() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = Program::start("ulimit -n 256", directory.path(), "");
    assert!(
        program.log.iter().any(|line| line.contains("maxclients has been reduced to")),
        "{:?}",
        program.log
    );
    let mut first = Client::connect(program.address);
    let served: Vec<TcpStream> =
        (0..300).map(|_| TcpStream::connect(program.address).expect("connects")).collect();
    let mut surplus = Client::connect(program.address);
    assert_eq!(surplus.rest(), "-ERR max number of clients reached\r\n");
    let value = vec![b'x'; 500_000];
    for number in 0..200 {
        // Some datafiles and a blob or two are begun meanwhile.
        first.expect(&[b"SET", format!("key:{number}").as_bytes(), &value], b"+OK\r\n");
    }
    first.expect(&[b"SET", b"blob", &vec![b'x'; 2_000_000]], b"+OK\r\n");
    first.expect(&[b"CONFIG", b"SET", b"maxclients", b"100"], b"+OK\r\n");
    first.expect(
        &[b"CONFIG", b"SET", b"maxclients", b"10000"],
        b"-ERR CONFIG SET failed (possibly related to argument 'maxclients') - The operating system is not able to \
          handle the specified number of clients, try with 19",
    );
    drop(served);
}

#[test]
fn the_store_is_read_only_for_want_of_addresses() {
    let directory = tempfile::tempdir().expect("a directory");
    // The program takes 2.1 to 2.3 gigabytes of addresses when it starts (VmPeak), and 3.3 or more once all datafiles of the test are mapped.
    for round in 0..2 {
        let program = Program::start("ulimit -v 2800000", directory.path(), "--threads 1");
        let mut client = Client::connect(program.address);
        for number in 0..300 {
            let value = vec![b'a' + round; [100, 500_000][number % 2]];
            client.expect(&[b"SET", format!("key:{number}").as_bytes(), &value], b"+OK\r\n");
        }
        client.send(&crate::support::request(&[b"GET", b"key:299"]));
        assert_eq!(client.line(), "$500000");
        let mut shown = vec![0; 500_002];
        client.stream.read_exact(&mut shown).expect("the value");
        assert!(shown.starts_with(&[b'a' + round; 500_000]));
    }
}
