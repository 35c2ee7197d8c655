//! A command that its user may not run: however long its arguments are, they take no memory.

use super::huge_value_in_memory::Scene;
use crate::limits::DENIED_ARGUMENT_MAX_BYTES;
use crate::session::Session;

const NOW_MS: u64 = 1_700_000_000_000;
const PIECE_BYTES: usize = 16 * 1024;
const ARGUMENT_BYTES: usize = 20_000_000;

/// Sends the beginning of a request and then its last argument; gives the reply and the most input that was held.
fn send(scene: &Scene, session: &mut Session, begin: &str, argument_bytes: usize) -> (String, usize) {
    session.input().extend_from_slice(begin.as_bytes());
    session.input().extend_from_slice(format!("${argument_bytes}\r\n").as_bytes());
    session.process(&scene.server, NOW_MS);
    let (mut left, mut most) = (argument_bytes, 0);
    while left > 0 {
        let piece = left.min(PIECE_BYTES);
        session.input().extend(std::iter::repeat_n(b'x', piece));
        left -= piece;
        session.process(&scene.server, NOW_MS);
        most = most.max(session.input().len());
    }
    session.input().extend_from_slice(b"\r\n");
    session.process(&scene.server, NOW_MS);
    let reply = session.reply().take().expect("memory is read");
    (String::from_utf8(reply).expect("text"), most)
}

#[test]
fn long_argument_of_a_denied_command_is_held() {
    let scene = Scene::new();
    let (mut operator, mut session) = (scene.session(), scene.session());
    let rules: Vec<&[u8]> =
        b"ACL SETUSER ann on nopass ~* +get +client|setname +echo".split(|byte| *byte == b' ').collect();
    assert_eq!(scene.call(&mut operator, &rules), b"+OK\r\n");
    assert_eq!(scene.call(&mut session, &[b"AUTH", b"ann", b""]), b"+OK\r\n");
    for (begin, command) in [
        ("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n", "set"),
        ("*3\r\n$6\r\nAPPEND\r\n$1\r\nk\r\n", "append"),
        ("*2\r\n$7\r\nPUBLISH\r\n", "publish"),
        ("*4\r\n$6\r\nCLIENT\r\n$7\r\nsetinfo\r\n$8\r\nLIB-NAME\r\n", "client|setinfo"),
    ] {
        let (reply, most) = send(&scene, &mut session, begin, ARGUMENT_BYTES);
        // PUBLISH lacks its message, which is told first.
        let wanted = if command == "publish" {
            "-ERR wrong number of arguments for 'publish' command\r\n".to_owned()
        } else {
            format!("-NOPERM User ann has no permissions to run the '{command}' command\r\n")
        };
        assert_eq!(reply, wanted);
        assert!(most <= 2 * PIECE_BYTES, "{command}: {most} bytes are held");
    }
    // The connection goes on, and what is allowed may be as long as ever.
    let (reply, _) = send(&scene, &mut session, "*2\r\n$4\r\nECHO\r\n", 2 * DENIED_ARGUMENT_MAX_BYTES);
    assert_eq!(reply.len(), 2 * DENIED_ARGUMENT_MAX_BYTES + "$131072\r\n\r\n".len());
    assert_eq!(scene.call(&mut session, &[b"GET", b"k"]), b"$-1\r\n");
}

#[test]
fn command_whose_argument_was_dropped_runs_once_it_is_allowed() {
    let scene = Scene::new();
    let (mut operator, mut session) = (scene.session(), scene.session());
    let call = |operator: &mut Session, line: &str| {
        let args: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        scene.call(operator, &args)
    };
    assert_eq!(call(&mut operator, "ACL SETUSER ann on nopass ~*"), b"+OK\r\n");
    assert_eq!(scene.call(&mut session, &[b"AUTH", b"ann", b""]), b"+OK\r\n");
    session.input().extend_from_slice(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$200000\r\n");
    session.process(&scene.server, NOW_MS);
    assert_eq!(call(&mut operator, "ACL SETUSER ann +@all"), b"+OK\r\n");
    session.input().extend(std::iter::repeat_n(b'x', 200_000));
    session.input().extend_from_slice(b"\r\n");
    session.process(&scene.server, NOW_MS);
    let reply = session.reply().take().expect("memory is read");
    assert!(reply.starts_with(b"-NOPERM"), "{}", reply.escape_ascii());
    assert_eq!(scene.call(&mut session, &[b"GET", b"k"]), b"$-1\r\n");
}
