//! The request writer, for clients: arguments in, one multibulk request out. The request parser reads it back as
//! the same arguments. It allocates nothing but what `out` grows by.

/// Appends one request to `out`, the command's name first. Arguments may be any bytes; without one, the request asks
/// for nothing.
pub fn write_request(args: &[impl AsRef<[u8]>], out: &mut Vec<u8>) {
    write_argument_count(args.len(), out);
    for argument in args {
        write_argument(argument.as_ref(), out);
    }
}

/// The head of a request of `count` arguments, for writers that do not have them side by side.
pub fn write_argument_count(count: usize, out: &mut Vec<u8>) {
    write_length(b'*', count, out);
}

/// One argument behind that head.
pub fn write_argument(argument: &[u8], out: &mut Vec<u8>) {
    write_length(b'$', argument.len(), out);
    out.extend_from_slice(argument);
    out.extend_from_slice(b"\r\n");
}

fn write_length(kind: u8, length: usize, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
    out.extend_from_slice(b"\r\n");
}
