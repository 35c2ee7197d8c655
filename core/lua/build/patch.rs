//! Applies unified diffs. A line of a diff that is not exactly in its place ends the build: a patch that no longer fits must not
//! be left out silently.

use std::fs;
use std::path::{Path, PathBuf};

/// Applies all files of a folder that end in `.patch`, in the order of their names, to the sources in another.
pub fn apply_all(patches: &Path, sources: &Path) {
    let mut files: Vec<PathBuf> = fs::read_dir(patches)
        .unwrap_or_else(|error| panic!("{}: {error}", patches.display()))
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "patch"))
        .collect();
    files.sort();
    for file in files {
        let diff = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for (name, hunks) in by_file(&diff) {
            let target = sources.join(name);
            let old =
                fs::read_to_string(&target).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
            let new =
                apply(&old, &hunks).unwrap_or_else(|error| panic!("{}, {name}: {error}", file.display()));
            fs::write(&target, new).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
        }
    }
}

/// The lines of a diff's hunks for each file that it changes.
fn by_file(diff: &str) -> Vec<(&str, Vec<&str>)> {
    let mut files: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("+++ ") {
            files.push((name.trim(), Vec::new()));
        } else if !line.starts_with("--- ")
            && let Some((_, hunks)) = files.last_mut()
        {
            hunks.push(line);
        }
    }
    files
}

/// Applies the hunks of one file to its text.
pub fn apply(old: &str, hunks: &[&str]) -> Result<String, String> {
    let mut old = old.split_inclusive('\n').enumerate();
    let mut new = String::new();
    for line in hunks {
        if let Some(header) = line.strip_prefix("@@ -") {
            let digits = header.split([',', ' ']).next().unwrap_or_default();
            let first: usize = digits.parse().map_err(|_| format!("no hunk: {line}"))?;
            while old.clone().next().is_some_and(|(index, _)| index + 1 < first) {
                new.push_str(old.next().map_or("", |(_, text)| text));
            }
            continue;
        }
        let (kind, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        match kind {
            "+" => {
                new.push_str(text);
                new.push('\n');
            }
            " " | "-" => {
                let (index, found) = old.next().ok_or("a hunk beyond the end")?;
                if found.trim_end_matches('\n') != text {
                    return Err(format!("line {} is {found:?}, not {text:?}", index + 1));
                }
                if kind == " " {
                    new.push_str(found);
                }
            }
            // "\ No newline at end of file"
            "\\" => {}
            _ => return Err(format!("no line of a hunk: {line}")),
        }
    }
    new.extend(old.map(|(_, text)| text));
    Ok(new)
}
