//! A look at the sections of a module before an engine sees it: what is too large or not offered is refused here, by the same
//! text on every engine, and before memory is taken for it.
//!
//! The scan knows sections and counts only. It never recurses and reads no byte twice; that the module is valid, the engine finds
//! out.

use crate::limits::{
    BODY_BYTES_MAX, CODE_BYTES_MAX, ENTRIES_MAX, LOCALS_MAX, MEMORY_PER_CODE_BYTE, MEMORY_PER_MODULE_BYTE,
    MODULE_BYTES_MAX, PAGE_BYTES, SECTION_BYTES_MAX, TABLE_ELEMENTS_MAX, TABLES_MAX,
};

/// What begins every module.
const HEADER: &[u8; 8] = b"\0asm\x01\0\0\0";

/// The sections by their numbers, as errors call them.
const SECTIONS: [&str; 14] = [
    "custom",
    "type",
    "import",
    "function",
    "table",
    "memory",
    "global",
    "export",
    "start",
    "element",
    "code",
    "data",
    "data count",
    "tag",
];

const TABLE: u8 = 4;
const MEMORY: u8 = 5;
const START: u8 = 8;
const CODE: u8 = 10;
const DATA: u8 = 11;
const DATA_COUNT: u8 = 12;

/// Bytes that have not been read.
struct Input<'a> {
    left: &'a [u8],
}

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.left.split_first()?;
        self.left = rest;
        Some(*first)
    }

    /// An unsigned number in LEB128, of up to 64 bits.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn cut(&mut self, bytes: u64) -> Option<Input<'a>> {
        let (head, rest) = self.left.split_at_checked(usize::try_from(bytes).ok()?)?;
        self.left = rest;
        Some(Input { left: head })
    }
}

/// Refuses a module that is no module, is too large, or has parts that functions cannot have. `memory_bytes` is what a run may take:
/// the memory of the module may have so many at the beginning, and its code and the module some part of it. The error is a text for the one that loads it.
pub(crate) fn scan(module: &[u8], memory_bytes: u64) -> Result<(), String> {
    if module.is_empty() {
        return Err("the library has no module: its bytes follow the first line".into());
    }
    let most = MODULE_BYTES_MAX.min(memory_bytes / MEMORY_PER_MODULE_BYTE);
    if module.len() as u64 > most {
        return Err(format!("the module has {} bytes; up to {most} are allowed", module.len()));
    }
    let Some(sections) = module.strip_prefix(HEADER) else {
        return Err(if module.starts_with(b"\0asm\x0d\0\x01\0") {
            "the bytes are a component of WebAssembly, not a module".into()
        } else {
            "the bytes after the first line are no module of WebAssembly (\\0asm, version 1)".into()
        });
    };
    let mut input = Input { left: sections };
    while let Some(section) = input.byte() {
        let name = SECTIONS.get(usize::from(section)).copied().unwrap_or("unknown");
        let body = input.number().and_then(|size| input.cut(size)).ok_or_else(|| cut_short(name))?;
        scan_section(section, name, body, memory_bytes)?;
    }
    Ok(())
}

fn cut_short(name: &str) -> String {
    format!("the module is cut short in its {name} section")
}

fn scan_section(section: u8, name: &str, mut body: Input<'_>, memory_bytes: u64) -> Result<(), String> {
    match section {
        0 | DATA_COUNT => return Ok(()),
        START => {
            return Err("the module has a start function; export it as _initialize instead".into());
        }
        _ if usize::from(section) >= SECTIONS.len() => {
            return Err(format!("the module has a section of the unknown kind {section}"));
        }
        _ => {}
    }
    let size = body.left.len() as u64;
    if !matches!(section, CODE | DATA) && size > SECTION_BYTES_MAX {
        return Err(format!("the {name} section has {size} bytes; up to {SECTION_BYTES_MAX} are allowed"));
    }
    let count = body.number().ok_or_else(|| cut_short(name))?;
    let most = if section == TABLE { TABLES_MAX } else { ENTRIES_MAX };
    if count > most {
        return Err(format!("the {name} section has {count} entries; up to {most} are allowed"));
    }
    match section {
        TABLE => {
            // More than the first of several tables is left to the limit at run time.
            let limits = body.byte().and_then(|_| body.byte()).and_then(|_| body.number());
            if limits.is_some_and(|elements| elements > TABLE_ELEMENTS_MAX as u64) {
                return Err(format!("a table begins with more than {TABLE_ELEMENTS_MAX} elements"));
            }
        }
        MEMORY => {
            if count > 1 {
                return Err(format!("the module has {count} memories; one is allowed"));
            }
            let wanted =
                body.byte().and_then(|_| body.number()).map(|pages| pages.saturating_mul(PAGE_BYTES));
            if count == 1
                && let Some(wanted) = wanted
                && wanted > memory_bytes
            {
                return Err(format!(
                    "the module's memory begins with {wanted} bytes; {memory_bytes} are allowed"
                ));
            }
        }
        CODE => {
            let most = CODE_BYTES_MAX.min(memory_bytes / MEMORY_PER_CODE_BYTE);
            if size > most {
                return Err(format!("the module has {size} bytes of code; up to {most} are allowed"));
            }
            for index in 0..count {
                let bytes = body.number().ok_or_else(|| cut_short(name))?;
                let mut code = body.cut(bytes).ok_or_else(|| cut_short(name))?;
                if bytes > BODY_BYTES_MAX {
                    return Err(format!(
                        "body {index} of the code has {bytes} bytes; up to {BODY_BYTES_MAX} are allowed"
                    ));
                }
                let locals = locals(&mut code).ok_or_else(|| cut_short(name))?;
                if locals > LOCALS_MAX {
                    return Err(format!(
                        "body {index} of the code has {locals} local variables; up to {LOCALS_MAX} are allowed"
                    ));
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// How many local variables a body announces: groups of a count and a type, which has one byte.
fn locals(code: &mut Input<'_>) -> Option<u64> {
    let groups = code.number()?;
    let mut sum: u64 = 0;
    for _ in 0..groups {
        sum = sum.saturating_add(code.number()?);
        code.byte()?;
    }
    Some(sum)
}
