//! Puts the console's built files (`web-console/dist`) into the program, plain and compressed. Without them the program is complete but for
//! the page at `/`, so that the Rust crates can be built and tested alone.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

const DIST: &str = "../web-console/dist";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={DIST}");
    let dist = Path::new(DIST);
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let mut paths = Vec::new();
    if dist.is_dir() {
        collect(dist, &mut paths)?;
    }
    paths.sort();
    let mut table = String::from("static FILES: &[File] = &[\n");
    for (number, path) in paths.iter().enumerate() {
        let bytes = fs::read(path)?;
        let gzipped = out.join(format!("console-{number}.gz"));
        let mut encoder = GzEncoder::new(fs::File::create(&gzipped)?, Compression::best());
        encoder.write_all(&bytes)?;
        encoder.finish()?;
        let name = path.strip_prefix(dist).map_err(io::Error::other)?;
        let url = format!("/{}", name.display());
        let _ = writeln!(
            table,
            "    File {{ path: {url:?}, content_type: {:?}, etag: \"\\\"{:016x}\\\"\", bytes: include_bytes!({:?}), \
             gzipped: include_bytes!({:?}) }},",
            content_type(path),
            fingerprint(&bytes),
            fs::canonicalize(path)?,
            gzipped,
        );
    }
    table.push_str("];\n");
    fs::write(out.join("console_files.rs"), table)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if path.is_dir() {
            collect(&path, paths)?;
        } else if !is_hidden {
            paths.push(path);
        }
    }
    Ok(())
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("json" | "webmanifest") => "application/json",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// FNV-1a: only to tell one build's file from another's.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
