//! Where a reply of RESP2 ends, and what kind it is.

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Answer,
    /// A search that found nothing.
    Nothing,
    Superseded,
    Error,
}

/// The bytes of the first reply in `bytes`, or nothing if its end has not come. Fails if it is no RESP2.
pub fn size(bytes: &[u8]) -> Result<Option<usize>, String> {
    let (mut left, mut at) = (1_usize, 0);
    while left > 0 {
        let Some(rest) = bytes.get(at..) else { return Ok(None) };
        let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") else { return Ok(None) };
        let line = &rest[..end];
        let number = || std::str::from_utf8(&line[1..]).ok().and_then(|text| text.parse::<i64>().ok());
        at += end + 2;
        left -= 1;
        match line.first() {
            Some(b'+' | b'-' | b':') => {}
            Some(b'$') => match number() {
                Some(-1) => {}
                Some(size) => at += usize::try_from(size).map_err(|error| error.to_string())? + 2,
                None => return Err("no length".into()),
            },
            Some(b'*') => {
                left +=
                    usize::try_from(number().ok_or("no count")?.max(0)).map_err(|error| error.to_string())?
            }
            _ => return Err(format!("no RESP2: {}", String::from_utf8_lossy(line))),
        }
    }
    Ok((at <= bytes.len()).then_some(at))
}

pub fn kind(reply: &[u8]) -> Kind {
    match reply {
        reply if reply.starts_with(b"-SUPERSEDED") => Kind::Superseded,
        reply if reply.starts_with(b"-") => Kind::Error,
        b"*1\r\n:0\r\n" => Kind::Nothing,
        _ => Kind::Answer,
    }
}
