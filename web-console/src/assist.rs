//! Help while a command is typed: completions, and the remaining syntax as a hint.
//!
//! The typed words are matched against the argument tree of the command's row. Adjacent optional arguments may come in
//! any order, as in Redis. The hint is the syntax that no word has matched, and the completions are the words that can
//! begin it. The match may guess, because nothing else depends on it: the server parses the command.

use edgecask_core::catalog::{self, Argument, CommandSpec, Kind, print_syntax};
use edgecask_core::resp::split_line;
use serde::Serialize;

use crate::input::statements;

/// The help for one position in an input.
#[derive(Default, Serialize, Debug, PartialEq)]
pub struct Assistance {
    /// The command that is being typed, `CLIENT LIST`; empty if there is none yet.
    command: String,
    /// The syntax that is still to be typed.
    hint: String,
    /// How many bytes before the cursor a completion replaces.
    replaces: usize,
    completions: Vec<Completion>,
}

/// A word that may come next.
#[derive(Serialize, Debug, PartialEq)]
pub struct Completion {
    word: String,
    /// The summary of a command, or the syntax that the word begins.
    detail: String,
}

/// A part of a command's syntax that no word has matched yet.
struct Piece {
    syntax: String,
    /// Words that can begin it, with the details of their completions.
    begins: Vec<(String, String)>,
    optional: bool,
}

/// Help for the command at the end of `text`, the text before the cursor.
pub fn assist(text: &str) -> Assistance {
    let statement = statements(text.as_bytes()).last().copied().unwrap_or_default();
    if text.ends_with('\n') && statement.is_empty() {
        return Assistance::default();
    }
    let typing = statement.last().is_some_and(|byte| !byte.is_ascii_whitespace());
    let Some((mut words, quoted)) = words_of(statement) else { return Assistance::default() };
    // `5 PING` runs PING five times.
    if words.len() > 1 && is_number(words.first()) {
        words.remove(0);
    }
    let partial = if typing && !quoted { words.last().cloned().unwrap_or_default() } else { String::new() };
    let whole = if typing && !words.is_empty() { words.len() - 1 } else { words.len() };
    let mut help = help(&words, whole, &partial);
    // A quoted or escaped word is not its source text, so no completion can replace it.
    if quoted || !statement.ends_with(partial.as_bytes()) {
        help.completions.clear();
    }
    help.replaces = partial.len();
    help
}

/// The words of an unfinished line, and whether its last word is quoted.
fn words_of(statement: &[u8]) -> Option<(Vec<String>, bool)> {
    let open = |quote: &[u8]| split_line(&[statement, quote].concat());
    let (words, open_quote) = match split_line(statement) {
        Some(words) => (words, false),
        None => (open(b"\"").or_else(|| open(b"'"))?, true),
    };
    let quoted = open_quote || statement.last().is_some_and(|byte| matches!(byte, b'"' | b'\''));
    Some((words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect(), quoted))
}

fn is_number(word: Option<&String>) -> bool {
    word.is_some_and(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Help after `whole` complete words and the beginning of another one, `partial`.
fn help(words: &[String], whole: usize, partial: &str) -> Assistance {
    let done = words.get(..whole).unwrap_or_default();
    let Some((name, rest)) = done.split_first() else {
        let spec = words.first().and_then(|word| catalog::lookup(word.as_bytes()));
        return Assistance {
            completions: commands_with(partial),
            command: spec.map(name_of).unwrap_or_default(),
            hint: spec.map(full_syntax).unwrap_or_default(),
            replaces: 0,
        };
    };
    let Some(mut spec) = catalog::lookup(name.as_bytes()) else { return Assistance::default() };
    let mut arguments = rest;
    if spec.is_container() {
        let typed = rest.first().map(String::as_str).unwrap_or(partial);
        match catalog::lookup_sub(spec, typed.as_bytes()) {
            Some(sub) if rest.is_empty() => {
                return Assistance {
                    command: name_of(sub),
                    hint: full_syntax(sub),
                    replaces: 0,
                    completions: subcommands_with(spec, partial),
                };
            }
            Some(sub) => {
                spec = sub;
                arguments = rest.get(1..).unwrap_or_default();
            }
            None => {
                let hint =
                    if rest.is_empty() && partial.is_empty() { full_syntax(spec) } else { String::new() };
                let completions = if rest.is_empty() { subcommands_with(spec, partial) } else { Vec::new() };
                return Assistance { command: name_of(spec), hint, replaces: 0, completions };
            }
        }
    }
    // The laws of the catalog prove that every row parses.
    let tree = spec.arguments().unwrap_or_default();
    let open = match_words(&tree, arguments);
    let completions = open.as_deref().map(|pieces| words_with(pieces, partial)).unwrap_or_default();
    let is_word = completions.iter().any(|completion| completion.word.eq_ignore_ascii_case(partial));
    let open = if partial.is_empty() {
        open
    } else if completions.is_empty() || is_word {
        let with_partial: Vec<_> = arguments.iter().cloned().chain([partial.to_owned()]).collect();
        match_words(&tree, &with_partial)
    } else {
        // It may still become one of several words.
        None
    };
    let hint = open.map(|pieces| join(&pieces)).unwrap_or_default();
    Assistance { command: name_of(spec), hint, replaces: 0, completions }
}

fn name_of(spec: &CommandSpec) -> String {
    spec.name.to_ascii_uppercase().replace('|', " ")
}

fn full_syntax(spec: &CommandSpec) -> String {
    if spec.is_container() && !spec.accepts(1) { "subcommand [argument ...]" } else { spec.syntax }.to_owned()
}

fn begins_with(word: &str, partial: &str) -> bool {
    word.get(..partial.len()).is_some_and(|head| head.eq_ignore_ascii_case(partial))
}

fn commands_with(partial: &str) -> Vec<Completion> {
    named(catalog::commands().iter(), partial, name_of)
}

fn subcommands_with(container: &CommandSpec, partial: &str) -> Vec<Completion> {
    named(container.subcommands().iter(), partial, |spec| spec.word().to_ascii_uppercase())
}

fn named<'a>(
    specs: impl Iterator<Item = &'a CommandSpec>,
    partial: &str,
    name: impl Fn(&CommandSpec) -> String,
) -> Vec<Completion> {
    let completion = |spec: &CommandSpec| Completion { word: name(spec), detail: spec.summary.to_owned() };
    let mut found: Vec<_> =
        specs.map(completion).filter(|completion| begins_with(&completion.word, partial)).collect();
    found.sort_by(|a, b| a.word.cmp(&b.word));
    found
}

/// Words that may come next: those of the open options, up to and including the first required argument.
fn words_with(pieces: &[Piece], partial: &str) -> Vec<Completion> {
    let reach = pieces.iter().position(|piece| !piece.optional).map_or(pieces.len(), |at| at + 1);
    let begins = pieces.iter().take(reach).flat_map(|piece| &piece.begins);
    let mut found: Vec<Completion> = Vec::new();
    for (word, detail) in begins {
        if begins_with(word, partial) && !found.iter().any(|other| other.word == *word) {
            found.push(Completion { word: word.clone(), detail: detail.clone() });
        }
    }
    found
}

fn join(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.syntax.as_str()).collect::<Vec<_>>().join(" ")
}

/// The pieces of a list of arguments that `words` leave open; `None` if a word matches none.
fn match_words(arguments: &[Argument<'_>], words: &[String]) -> Option<Vec<Piece>> {
    let (used, open) = match_sequence(arguments, words);
    (used == words.len()).then_some(open)
}

/// How many of `words` a list of arguments takes, and the pieces that stay open. The recursion follows the nesting of
/// our own grammar, which the catalog bounds.
fn match_sequence(arguments: &[Argument<'_>], words: &[String]) -> (usize, Vec<Piece>) {
    let mut used = 0;
    let mut open = Vec::new();
    let mut keys_counted = None;
    let mut rest = arguments;
    while let Some((first, after)) = rest.split_first() {
        let left = words.get(used..).unwrap_or_default();
        if first.optional {
            let length = rest.iter().take_while(|argument| argument.optional).count();
            let (group, behind) = rest.split_at(length);
            used += match_options(group, left, &mut open);
            rest = behind;
            continue;
        }
        let limit = keys_counted.take().filter(|_| first.multiple);
        if left.is_empty() {
            open.push(piece(first));
        } else {
            let ends: Vec<_> = after.iter().flat_map(begins).collect();
            let Some((taken, pieces)) = match_repeated(first, left, limit, &ends) else {
                return (used, open);
            };
            if first.name == "numkeys" {
                keys_counted = left.first().and_then(|word| word.parse().ok());
            }
            used += taken;
            open.extend(pieces);
        }
        rest = after;
    }
    (used, open)
}

/// Adjacent options, in any order. Returns how many words they take.
fn match_options(group: &[Argument<'_>], words: &[String], open: &mut Vec<Piece>) -> usize {
    let mut used = 0;
    let mut unused: Vec<_> = group.iter().collect();
    // The rest of an unfinished option comes before all other options.
    let mut needed = Vec::new();
    while needed.is_empty() {
        let left = words.get(used..).unwrap_or_default();
        let matched = |at: usize| {
            let others = unused.iter().enumerate().filter(|(other, _)| *other != at);
            let ends: Vec<_> = others.flat_map(|(_, argument)| begins(argument)).collect();
            unused.get(at).and_then(|argument| match_repeated(argument, left, None, &ends))
        };
        // Options that begin with a word come before values: a value would match any word.
        let values = (0..unused.len()).filter(|at| !unused.get(*at).is_some_and(|it| starts_with_word(it)));
        let words_first =
            (0..unused.len()).filter(|at| unused.get(*at).is_some_and(|it| starts_with_word(it)));
        let found = words_first.chain(values).find_map(|at| matched(at).map(|found| (at, found)));
        let Some((at, (taken, pieces))) = found else { break };
        unused.remove(at);
        used += taken;
        needed = pieces;
        if needed.iter().all(|piece| piece.optional) {
            open.append(&mut needed);
        }
    }
    open.splice(0..0, needed);
    open.extend(unused.into_iter().map(piece));
    used
}

fn starts_with_word(argument: &Argument<'_>) -> bool {
    !begins(argument).is_empty()
}

/// One argument at the start of `words`, as often as it may repeat: how many words it takes, and the pieces that stay
/// open. `None` if the first word does not match. `limit` is the number of repetitions if a number before it gives one;
/// the words in `ends` begin the arguments that may follow.
fn match_repeated(
    argument: &Argument<'_>,
    words: &[String],
    limit: Option<usize>,
    ends: &[(String, String)],
) -> Option<(usize, Vec<Piece>)> {
    let (mut used, mut open) = match_one(argument, words)?;
    if !argument.multiple {
        return Some((used, open));
    }
    let mut times = 1;
    // The token comes once, the values after it may repeat.
    let again = Argument {
        token: argument.token.filter(|_| argument.multiple_token || argument.kind == Kind::PureToken),
        ..argument.clone()
    };
    while open.is_empty() && limit.is_none_or(|limit| times < limit) {
        let left = words.get(used..).unwrap_or_default();
        // A word that begins a later argument ends the repetition.
        let over = limit.is_none() && left.first().is_some_and(|word| is_one_of(ends, word));
        let Some((taken, pieces)) = (!over).then(|| match_one(&again, left)).flatten() else { break };
        used += taken;
        open = pieces;
        times += 1;
    }
    if limit.is_none_or(|limit| times < limit)
        && !open.iter().any(|piece: &Piece| piece.syntax.ends_with(" ...]"))
    {
        let syntax = format!("[{} ...]", bare_syntax(&again));
        open.push(Piece { syntax, begins: begins(&again), optional: limit.is_none() });
    }
    Some((used, open))
}

fn is_one_of(begins: &[(String, String)], word: &str) -> bool {
    begins.iter().any(|(begin, _)| begin.eq_ignore_ascii_case(word))
}

/// One argument, once.
fn match_one(argument: &Argument<'_>, words: &[String]) -> Option<(usize, Vec<Piece>)> {
    let (first, behind) = words.split_first()?;
    let Some(token) = argument.token else { return match_value(argument, words) };
    if !first.eq_ignore_ascii_case(token) {
        return None;
    }
    if argument.kind == Kind::PureToken {
        return Some((1, Vec::new()));
    }
    let value = Argument {
        token: None,
        optional: false,
        multiple: argument.multiple && !argument.multiple_token,
        ..argument.clone()
    };
    if behind.is_empty() {
        return Some((1, vec![piece(&value)]));
    }
    let (used, open) = match_value(&value, behind)?;
    Some((1 + used, open))
}

fn match_value(argument: &Argument<'_>, words: &[String]) -> Option<(usize, Vec<Piece>)> {
    match argument.kind {
        Kind::OneOf => {
            let matched = argument.arguments.iter().filter_map(|each| match_repeated(each, words, None, &[]));
            // The alternative that takes the most words; of equal ones the first.
            matched.reduce(|best, next| if next.0 > best.0 { next } else { best })
        }
        Kind::Block => Some(match_sequence(&argument.arguments, words)).filter(|(used, _)| *used > 0),
        _ => Some((1, Vec::new())),
    }
}

fn piece(argument: &Argument<'_>) -> Piece {
    Piece {
        syntax: print_syntax(std::slice::from_ref(argument)),
        begins: begins(argument),
        optional: argument.optional,
    }
}

fn bare_syntax(argument: &Argument<'_>) -> String {
    let once = Argument { optional: false, multiple: false, multiple_token: false, ..argument.clone() };
    print_syntax(&[once])
}

/// The words that can begin an argument, each with the syntax that it begins.
fn begins(argument: &Argument<'_>) -> Vec<(String, String)> {
    if let Some(token) = argument.token {
        let syntax = bare_syntax(argument);
        let detail = if syntax == token { String::new() } else { syntax };
        return vec![(token.to_owned(), detail)];
    }
    match argument.kind {
        Kind::OneOf => argument.arguments.iter().flat_map(begins).collect(),
        Kind::Block => {
            let reach =
                argument.arguments.iter().position(|each| !each.optional).map_or(usize::MAX, |at| at + 1);
            argument.arguments.iter().take(reach).flat_map(begins).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_hint(text: &str, hint: &str) {
        assert_eq!(assist(text).hint, hint, "{text:?}");
    }

    fn check_words(text: &str, expected: &str) {
        let words: Vec<_> = assist(text).completions.into_iter().map(|completion| completion.word).collect();
        assert_eq!(words.join(" "), expected, "{text:?}");
    }

    #[test]
    fn the_hint_is_what_is_still_to_be_typed() {
        check_hint("GET", "key");
        check_hint("get ", "key");
        check_hint("GET a", "");
        check_hint("HSET k ", "field value [field value ...]");
        check_hint("HSET k f", "value [field value ...]");
        check_hint("HSET k f v ", "[field value ...]");
        check_hint("HSET k f v g", "value [field value ...]");
        check_hint("HSET k f v g w ", "[field value ...]");
        check_hint("MGET a b", "[key ...]");
        check_hint("5 GET ", "key");
        check_hint("GET \"open ", "");
        check_hint("SET \"a key\" ", assist("SET a ").hint.as_str());
    }

    #[test]
    fn options_come_in_any_order() {
        let left = assist("SET k v EX 5 ").hint;
        assert!(left.contains("NX") && left.contains("GET") && !left.contains("EX seconds"), "{left}");
        assert_eq!(assist("SET k v NX GET EX 5").hint, "");
        assert!(assist("SET k v EX ").hint.starts_with("seconds "));
        assert!(assist("SET k v EX").hint.starts_with("seconds "));
        check_hint("SET k v nonsense more ", "");
    }

    #[test]
    fn repeated_options_may_come_again() {
        check_words("SORT k GET x G", "GET");
        let left = assist("SORT k GET x GET y ").hint;
        assert!(left.starts_with("[GET pattern ...] ") && left.ends_with("[STORE destination]"), "{left}");
        check_words("BITFIELD k GET u8 0 S", "SET");
        assert_ne!(assist("BITFIELD k GET u8 0 INCRBY u8 1 1 ").hint, "");
    }

    #[test]
    fn a_number_of_keys_says_how_many_follow() {
        check_hint(
            "ZUNION 2 a ",
            "[key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
        );
        check_hint(
            "ZUNION 2 a b ",
            "[WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
        );
        check_hint("ZUNION 2 a b WEIGHTS ", "weight [weight ...] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]");
        check_hint("ZUNION 1 a WEIGHTS 2 AGGREGATE ", "<SUM | MIN | MAX> [weight ...] [WITHSCORES]");
        check_words("ZUNION 1 a AGGREGATE ", "SUM MIN MAX");
    }

    #[test]
    fn commands_and_subcommands_are_completed() {
        check_words("getd", "GETDEL");
        check_words("CLIENT LI", "LIST");
        check_words("CLIENT no-", "NO-EVICT NO-TOUCH");
        check_words("nonsense ", "");
        assert_eq!(assist("getd").replaces, 4);
        assert_eq!(assist("CLIENT LIST").command, "CLIENT LIST");
        check_hint("CLIENT ", "subcommand [argument ...]");
        check_hint("CLIENT KILL", catalog::lookup_full(b"client|kill").expect("a row").syntax);
    }

    #[test]
    fn words_of_options_are_completed_where_they_may_stand() {
        check_words("SET k v E", "EX EXAT");
        check_words("SET k v EX 5 E", "");
        check_words("SET k v P", "PX PXAT");
        check_words("SET k N", "");
        check_words("XREAD ", "COUNT BLOCK STREAMS");
        check_words("GEOSEARCH k ", "FROMMEMBER FROMLONLAT");
        check_words("SET k 'E", "");
    }

    #[test]
    fn only_the_last_of_several_commands_counts() {
        check_hint("SET a b\nGET ", "key");
        check_hint("SET a 'x\ny' ", assist("SET a b ").hint.as_str());
        assert_eq!(assist("SET a b\n").completions, []);
    }

    #[test]
    fn no_row_makes_it_stumble() {
        for spec in catalog::all() {
            let mut text = format!("{} ", name_of(spec));
            for word in ["a", "1", "EX", "2", "STREAMS", "b", "c", "*", "LIMIT", "0", "\"q"] {
                let help = assist(&text);
                assert!(help.replaces <= text.len(), "{text}");
                text.push_str(word);
                assist(&text);
                text.push(' ');
            }
        }
    }
}
