//! The paths that a source file writes, found by reading it as text: no type is known, and none is needed.

/// A path and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Line number, from 1.
    pub line: usize,
    /// From the crate's root: `["server", "hub", "Inbox"]`.
    pub segments: Vec<String>,
}

/// What one file says of other files.
#[derive(Debug, Default)]
pub struct Source {
    /// The module that the file is, from the crate's root.
    pub module: Vec<String>,
    /// Names that `use` binds in the file, each with its path. A glob binds `*`.
    pub bindings: Vec<(String, Path)>,
    /// All other paths that begin with `crate`, `self`, `super` or a bound name.
    pub paths: Vec<Path>,
    /// Names of the items that the file defines.
    pub items: Vec<String>,
    /// Names of the modules that are files of their own, in the order in which the file lists them.
    pub children: Vec<String>,
}

/// A word or a mark of the source; `::` is one mark.
struct Token<'t> {
    line: usize,
    text: &'t str,
}

impl Source {
    /// Reads the file of a module.
    pub fn read(module: &[&str], text: &str) -> Source {
        let text = without_comments_and_literals(text);
        let tokens = tokens(&text);
        let mut source =
            Source { module: module.iter().map(|name| (*name).to_owned()).collect(), ..Source::default() };
        // Modules with a body of their own, each with the depth of braces at which its body ends.
        let mut inner: Vec<(usize, String)> = Vec::new();
        let (mut depth, mut at) = (0, 0);
        while let Some(token) = tokens.get(at) {
            let next = |distance: usize| tokens.get(at + distance).map_or("", |token| token.text);
            let scope = || {
                let own = source.module.iter();
                own.chain(inner.iter().map(|(_, name)| name)).cloned().collect::<Vec<String>>()
            };
            match token.text {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    inner.pop_if(|(end, _)| *end == depth);
                }
                "mod" if next(2) == "{" => inner.push((depth, next(1).to_owned())),
                "mod" if next(2) == ";" => source.children.push(next(1).to_owned()),
                // `use<'a>` says which lifetimes a type captures.
                "use" if next(1) != "<" => {
                    let scope = scope();
                    at += 1;
                    read_use_tree(&tokens, &mut at, &scope, Vec::new(), &mut source.bindings);
                    continue;
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "macro_rules" => {
                    let name = if next(1) == "!" { next(2) } else { next(1) };
                    source.items.push(name.to_owned());
                }
                first if is_word(first) && next(1) == "::" && (at == 0 || tokens[at - 1].text != "::") => {
                    let mut segments = vec![first.to_owned()];
                    let mut end = at;
                    while tokens.get(end + 1).is_some_and(|mark| mark.text == "::")
                        && let Some(word) = tokens.get(end + 2).filter(|word| is_word(word.text))
                    {
                        segments.push(word.text.to_owned());
                        end += 2;
                    }
                    let is_bound = source.bindings.iter().any(|(name, _)| name == first);
                    if let Some(segments) = from_root(&scope(), &segments) {
                        source.paths.push(Path { line: token.line, segments });
                    } else if is_bound {
                        source
                            .paths
                            .push(Path { line: token.line, segments: [&scope()[..], &segments].concat() });
                    }
                    at = end;
                }
                _ => {}
            }
            at += 1;
        }
        source
    }
}

/// A path that begins with `crate`, `self` or `super`, from the crate's root.
fn from_root(scope: &[String], segments: &[String]) -> Option<Vec<String>> {
    let mut base = match segments.first()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => scope.to_vec(),
        _ => return None,
    };
    let mut rest = segments;
    while let Some((first, others)) = rest.split_first() {
        match first.as_str() {
            "super" => drop(base.pop()?),
            "crate" | "self" => {}
            _ => break,
        }
        rest = others;
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// Reads one branch of a `use`, to behind its end.
fn read_use_tree(
    tokens: &[Token<'_>],
    at: &mut usize,
    scope: &[String],
    mut segments: Vec<String>,
    bindings: &mut Vec<(String, Path)>,
) {
    let mut bound = None;
    while let Some(Token { line, text }) = tokens.get(*at) {
        *at += 1;
        match *text {
            "{" => {
                while tokens.get(*at).is_some_and(|token| token.text != "}") {
                    read_use_tree(tokens, at, scope, segments.clone(), bindings);
                    *at += usize::from(tokens.get(*at).is_some_and(|token| token.text == ","));
                }
                *at += 1;
                return;
            }
            "::" => {}
            "as" => bound = tokens.get(*at).map(|token| token.text.to_owned()),
            "," | ";" | "}" => {
                *at -= 1;
                break;
            }
            // Behind `as` the name has been read.
            _ if bound.is_some() => {}
            "self" if !segments.is_empty() => bound = segments.last().cloned(),
            word => segments.push(word.to_owned()),
        }
        if tokens.get(*at).is_some_and(|token| matches!(token.text, "," | ";" | "}")) {
            let Some(name) = bound.or_else(|| segments.last().cloned()) else { return };
            // Without `crate` and its like a path begins in the module itself, or in another crate.
            let from = |segments: &[String]| from_root(scope, segments);
            let found = from(&segments).unwrap_or_else(|| [scope, &segments[..]].concat());
            let segments = found.into_iter().filter(|name| name != "*").collect();
            bindings.push((name, Path { line: *line, segments }));
            return;
        }
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let len = if is_word(rest) {
                rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            let (token, others) = rest.split_at(len);
            tokens.push(Token { line: number + 1, text: token });
            rest = others.trim_start();
        }
    }
    tokens
}

/// The text with spaces in the place of comments, strings and letters in quotes; lines stay where they are.
fn without_comments_and_literals(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let blank = |out: &mut String, part: &str| {
        out.extend(part.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
    };
    while let Some(first) = rest.chars().next() {
        let follows_word = out.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let len = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => string_len(rest),
            'r' if !follows_word || out.ends_with('b') => raw_string_len(rest).unwrap_or(0),
            '\'' => letter_len(rest).unwrap_or(0),
            _ => 0,
        };
        let (part, others) = rest.split_at(if len > 0 { len } else { first.len_utf8() });
        if len > 0 {
            blank(&mut out, part)
        } else {
            out.push_str(part)
        }
        rest = others;
    }
    out
}

/// The length of a string in quotes.
fn string_len(text: &str) -> usize {
    let mut is_escaped = true;
    for (at, letter) in text.char_indices() {
        if letter == '"' && !is_escaped {
            return at + 1;
        }
        is_escaped = at == 0 || letter == '\\' && !is_escaped;
        if at == 0 {
            is_escaped = false;
        }
    }
    text.len()
}

/// The length of `r"…"`, `r#"…"#` and so on.
fn raw_string_len(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('r')?;
    let marks = inner.len() - inner.trim_start_matches('#').len();
    let begin = 1 + marks + 1;
    let end = ["\"", &"#".repeat(marks)].concat();
    inner[marks..]
        .starts_with('"')
        .then(|| text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len()))
}

/// The length of a letter in quotes; None for a lifetime.
fn letter_len(text: &str) -> Option<usize> {
    let inner = &text[1..];
    if let Some(escape) = inner.strip_prefix('\\') {
        let skipped = escape.chars().next()?.len_utf8();
        return escape[skipped..].find('\'').map(|end| 2 + skipped + end + 1);
    }
    let letter = inner.chars().next()?;
    inner[letter.len_utf8()..].starts_with('\'').then_some(1 + letter.len_utf8() + 1)
}
