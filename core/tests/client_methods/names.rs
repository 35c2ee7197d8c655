//! Names of Rust from names of Redis.

/// A name of a function or parameter.
pub fn snake(name: &str) -> String {
    let name =
        name.to_lowercase().replace(['-', '|', ' ', ':', '.', '/'], "_").replace("__", "_").replace("_$", "");
    match name.as_str() {
        "async" | "type" | "move" | "match" | "where" | "if" | "in" | "static" | "loop" | "use" | "ref" => {
            format!("{name}_")
        }
        // What every request has already.
        "reply" | "within" | "large" | "words" => format!("{name}_"),
        _ if name.starts_with(|first: char| first.is_ascii_digit()) => format!("n{name}"),
        _ => name,
    }
}

/// A name of a type or variant.
pub fn camel(name: &str) -> String {
    let words = name.split(['-', '_', '|', ' ', '.', ':', '/']).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_uppercase() + &word[1..].to_lowercase()).collect()
}
