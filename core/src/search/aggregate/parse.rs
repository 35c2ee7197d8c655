//! The words behind the query become a [`Request`]. Keywords may be in any case; options may stand between steps.

use super::words::{WordError, Words};
use super::{Arrangement, Cursor, LIMIT_MAX, PARTS_MAX, ReducerCall, Request, SORT_KEYS_MAX, Step};
use crate::search::expression::Expression;
use crate::search::value::{Message, digits, message};

/// Parses the words behind the query. Fails with the text for the client.
pub fn parse(words: &[&[u8]]) -> Result<Request, Message> {
    let mut words = Words::new(words);
    let mut request = Request::default();
    let mut has_steps = false;
    while !words.is_empty() {
        if request.steps.len() > PARTS_MAX {
            return Err("Too many steps".into());
        }
        if common_option(&mut words, &mut request)? || (!has_steps && query_option(&mut words, &mut request)?)
        {
            continue;
        }
        if !step(&mut words, &mut request)? {
            // The query counts as the first word.
            let at = digits(words.position() as u64 + 1);
            let word = words.next().unwrap_or_default();
            return Err(message(&[b"Unknown argument `", word, b"` at position ", &at, b" for <main>"]));
        }
        has_steps = true;
    }
    Ok(request)
}

/// An option that may stand anywhere, and SORTBY and LIMIT, which may, too.
fn common_option(words: &mut Words<'_>, request: &mut Request) -> Result<bool, Message> {
    if words.take("LIMIT") {
        limit(words, arrangement(request))?;
    } else if words.take("SORTBY") {
        sort(words, arrangement(request))?;
    } else if words.take("TIMEOUT") {
        if words.is_empty() {
            return Err("Need an argument for TIMEOUT".into());
        }
        request.timeout_ms = Some(words.number(0).map_err(|_| "TIMEOUT requires a non negative integer.")?);
    } else if words.take("WITHCURSOR") {
        request.cursor = Some(cursor(words)?);
    } else if words.take("PARAMS") {
        parameters(words, request)?;
    } else if words.take("DIALECT") {
        if words.is_empty() {
            return Err("Need an argument for DIALECT".into());
        }
        let dialect = words.number(1).ok().filter(|dialect| *dialect <= 4);
        let dialect = dialect.ok_or("DIALECT requires a non negative integer >=1 and <= 4")?;
        request.dialect = u8::try_from(dialect).ok();
    } else if words.take("FORMAT") {
        let Some(format) = words.next() else { return Err("Need an argument for FORMAT".into()) };
        request.is_expanded = Some(match format {
            _ if format.eq_ignore_ascii_case(b"EXPAND") => true,
            _ if format.eq_ignore_ascii_case(b"STRING") => false,
            _ => return Err(message(&[b"FORMAT ", format, b" is not supported"])),
        });
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// An option of the query, which stands before the steps.
fn query_option(words: &mut Words<'_>, request: &mut Request) -> Result<bool, Message> {
    let owned = |words: &[&[u8]]| words.iter().map(|word| word.to_vec()).collect::<Vec<_>>();
    if words.take("VERBATIM") {
        request.is_verbatim = true;
    } else if words.take("INORDER") {
        request.is_in_order = true;
    } else if words.take("NOSTOPWORDS") {
        request.keeps_stop_words = true;
    } else if words.take("ADDSCORES") {
        request.adds_scores = true;
    } else if words.take("WITHCOUNT") {
        request.has_count = Some(true);
    } else if words.take("WITHOUTCOUNT") {
        request.has_count = Some(false);
    } else if words.take("SLOP") {
        let word = words.next().ok_or_else(|| WordError::Absent.text(b"SLOP"))?;
        request.slop = Some(crate::number::parse_i64(word).ok_or_else(|| WordError::Unparsed.text(b"SLOP"))?);
    } else if words.take("LANGUAGE") {
        request.language = Some(words.next().ok_or_else(|| WordError::Absent.text(b"LANGUAGE"))?.to_vec());
    } else if words.take("SCORER") {
        request.scorer = Some(words.next().ok_or_else(|| WordError::Absent.text(b"SCORER"))?.to_vec());
    } else if words.take("INKEYS") {
        request.keys = Some(owned(words.counted().map_err(|why| why.text(b"INKEYS"))?));
    } else if words.take("INFIELDS") {
        request.fields = Some(owned(words.counted().map_err(|why| why.text(b"INFIELDS"))?));
    } else {
        for search_only in ["RETURN", "SUMMARIZE", "HIGHLIGHT"] {
            if words.take(search_only) {
                return Err(message(&[search_only.as_bytes(), b" is not supported on FT.AGGREGATE"]));
            }
        }
        return Ok(false);
    }
    Ok(true)
}

fn step(words: &mut Words<'_>, request: &mut Request) -> Result<bool, Message> {
    let step = if words.take("GROUPBY") {
        group(words)?
    } else if words.take("APPLY") {
        let text = words.next().ok_or_else(|| WordError::Absent.text(b"APPLY/FILTER"))?;
        let name = match words.take("AS") {
            true => words.next().ok_or("AS needs argument")?,
            false => text,
        };
        Step::Apply(Expression::parse(text)?, name.to_vec())
    } else if words.take("FILTER") {
        let text = words.next().ok_or_else(|| WordError::Absent.text(b"APPLY/FILTER"))?;
        Step::Filter(Expression::parse(text)?)
    } else if words.take("LOAD") {
        load(words)?
    } else {
        return Ok(false);
    };
    request.steps.push(step);
    Ok(true)
}

/// The last step if it is an arrangement, otherwise a new one.
fn arrangement(request: &mut Request) -> &mut Arrangement {
    if !matches!(request.steps.last(), Some(Step::Arrange(_))) {
        request.steps.push(Step::Arrange(Arrangement::default()));
    }
    let at = request.steps.len() - 1;
    match request.steps.get_mut(at) {
        Some(Step::Arrange(arrangement)) => arrangement,
        _ => unreachable!("it was pushed"),
    }
}

fn limit(words: &mut Words<'_>, arrangement: &mut Arrangement) -> Result<(), Message> {
    if words.rest().len() < 2 {
        return Err("LIMIT requires two arguments".into());
    }
    let (Ok(offset), Ok(count)) = (words.number(0), words.number(0)) else {
        return Err("LIMIT needs two numeric arguments".into());
    };
    if count == 0 && offset != 0 {
        return Err("The `offset` of the LIMIT must be 0 when `num` is 0".into());
    }
    if count > LIMIT_MAX {
        return Err("LIMIT exceeds maximum of 2147483648".into());
    }
    if offset > LIMIT_MAX {
        return Err("OFFSET exceeds maximum of 2147483648".into());
    }
    arrangement.offset = offset;
    arrangement.count = count;
    arrangement.is_count_only = count == 0;
    Ok(())
}

fn sort(words: &mut Words<'_>, arrangement: &mut Arrangement) -> Result<(), Message> {
    if arrangement.keys.is_some() {
        return Err("Multiple SORTBY steps are not allowed. Sort multiple fields in a single step".into());
    }
    let mut keys: Vec<(Vec<u8>, bool)> = Vec::new();
    for word in words.counted().map_err(|why| why.text(b"SORTBY"))? {
        if let Some(name) = word.strip_prefix(b"@") {
            if keys.len() >= SORT_KEYS_MAX {
                return Err("Cannot sort by more than 64 fields".into());
            }
            keys.push((name.to_vec(), false));
            continue;
        }
        let descends = word.eq_ignore_ascii_case(b"DESC");
        match keys.last_mut() {
            Some(key) if descends || word.eq_ignore_ascii_case(b"ASC") => key.1 = descends,
            _ => return Err(message(&[b"MISSING ASC or DESC after sort field (", word, b")"])),
        }
    }
    if words.take("MAX") {
        arrangement.count = words.number(0).map_err(|why| why.text(b"MAX"))?;
    }
    arrangement.keys = Some(keys);
    Ok(())
}

fn group(words: &mut Words<'_>) -> Result<Step, Message> {
    let mut properties = Vec::new();
    for word in words.counted().map_err(|why| why.text(b"GROUPBY"))? {
        let Some(name) = word.strip_prefix(b"@") else {
            let (start, middle): (&[u8], &[u8]) =
                (b"Bad arguments for GROUPBY: Unknown property `", b"`. Did you mean `@");
            return Err(message(&[start, word, middle, word, b"`?"]));
        };
        properties.push(name.to_vec());
    }
    let mut reducers = Vec::new();
    while words.take("REDUCE") {
        let function = words.next().ok_or_else(|| WordError::Absent.text(b"REDUCE"))?;
        let arguments = words.counted().map_err(|why| why.text(function))?;
        let name = match words.take("AS") {
            true => words.next().ok_or_else(|| WordError::Absent.text(b"AS"))?.to_vec(),
            false => generated_name(function, arguments),
        };
        let arguments = arguments.iter().map(|word| word.to_vec()).collect();
        reducers.push(ReducerCall { function: function.to_vec(), arguments, name });
    }
    if reducers.len() + properties.len() > PARTS_MAX {
        return Err("Too many properties and reducers".into());
    }
    Ok(Step::Group { properties, reducers })
}

/// The name of a result that none was given for: of all words, in lower case, without `@`.
fn generated_name(function: &[u8], arguments: &[&[u8]]) -> Vec<u8> {
    let mut name = [b"__generated_alias", function].concat();
    for (at, argument) in arguments.iter().enumerate() {
        if at > 0 {
            name.push(b',');
        }
        let signs = argument.iter().take_while(|byte| **byte == b'@').count();
        name.extend_from_slice(argument.get(signs..).unwrap_or_default());
    }
    name.make_ascii_lowercase();
    name
}

fn load(words: &mut Words<'_>) -> Result<Step, Message> {
    let Ok(arguments) = words.counted() else {
        return match words.next() {
            Some(b"*") => Ok(Step::LoadAll),
            _ => Err("Bad arguments for LOAD: Expected number of fields or `*`".into()),
        };
    };
    if arguments.len() > PARTS_MAX {
        return Err("Too many properties".into());
    }
    let mut arguments = Words::new(arguments);
    let mut loaded = Vec::new();
    while let Some(path) = arguments.next() {
        let path = path.strip_prefix(b"@").unwrap_or(path);
        let name = match arguments.take("AS") {
            true => arguments.next().ok_or("LOAD path AS name - must be accompanied with NAME")?,
            false => path,
        };
        if name.eq_ignore_ascii_case(b"AS") {
            return Err("Alias for LOAD cannot be `AS`".into());
        }
        loaded.push((path.to_vec(), name.to_vec()));
    }
    Ok(Step::Load(loaded))
}

fn cursor(words: &mut Words<'_>) -> Result<Cursor, Message> {
    let mut cursor = Cursor::default();
    loop {
        if words.take("COUNT") {
            cursor.count = Some(words.number(1).map_err(|why| why.text(b"COUNT"))?);
        } else if words.take("MAXIDLE") {
            cursor.max_idle_ms = Some(words.number(1).map_err(|why| why.text(b"MAXIDLE"))?);
        } else {
            return Ok(cursor);
        }
    }
}

fn parameters(words: &mut Words<'_>, request: &mut Request) -> Result<(), Message> {
    let arguments = words.counted().map_err(|why| why.text(b"PARAMS"))?;
    if arguments.is_empty() || !arguments.len().is_multiple_of(2) {
        return Err("Parameters must be specified in PARAM VALUE pairs".into());
    }
    if arguments.len() > 2 * PARTS_MAX {
        return Err("Too many parameters".into());
    }
    request.parameters.clear();
    let mut arguments = Words::new(arguments);
    while let (Some(name), Some(value)) = (arguments.next(), arguments.next()) {
        if request.parameters.iter().any(|(other, _)| other == name) {
            return Err(message(&[b"Duplicate parameter `", name, b"`"]));
        }
        request.parameters.push((name.to_vec(), value.to_vec()));
    }
    Ok(())
}
