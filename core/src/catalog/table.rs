//! The rows put together into one array when the program is compiled, and the way from a name to its row.
//!
//! The array holds the commands in the order of the files in `rows/`, then the subcommands of the containers. A name
//! is found through a hash table that is a constant too: a few instructions on the first and last bytes of the name,
//! one comparison. Neither allocates, and neither depends on the case of the letters.

use super::bits::same_bytes;
use super::row::{Place, command};
use super::rows::GROUPS;
use super::spec::{CommandId, CommandSpec};

/// How many rows the table has, subcommands included.
pub const COUNT: usize = COMMAND_COUNT + count_subcommands();

/// How many commands there are, subcommands not included: the answer of `COMMAND COUNT`.
pub const COMMAND_COUNT: usize = count_commands();

static TABLE: [CommandSpec; COUNT] = gather();

/// Slots of the hash table: a power of two that keeps it at most an eighth full, so that nearly all names are alone.
const SLOT_COUNT: usize = (COMMAND_COUNT * 8).next_power_of_two();

/// A slot that holds no row.
const EMPTY: u16 = u16::MAX;

static SLOTS: [u16; SLOT_COUNT] = fill_slots();

/// The names of the commands, folded, in the order of their rows.
static NAMES: [Name; COMMAND_COUNT] = fold_names();

/// A name as [`lookup`] compares it.
#[derive(Clone, Copy)]
struct Name {
    /// What [`fold`] makes of it.
    folded: (u64, u64),
    /// Its bytes.
    len: u8,
    /// Whether no other name of this length folds to the same: it has letters only, all of which are in the fold.
    is_told_by_fold: bool,
}

const fn count_commands() -> usize {
    let mut count = 0;
    let mut group = 0;
    while group < GROUPS.len() {
        count += GROUPS[group].1.len();
        group += 1;
    }
    count
}

const fn count_subcommands() -> usize {
    let mut count = 0;
    let mut group = 0;
    while group < GROUPS.len() {
        let mut row = 0;
        while row < GROUPS[group].1.len() {
            count += GROUPS[group].1[row].subcommands.len();
            row += 1;
        }
        group += 1;
    }
    count
}

const fn gather() -> [CommandSpec; COUNT] {
    assert!(COUNT < EMPTY as usize, "more rows than ids");
    let nowhere = Place { id: 0, group: GROUPS[0].0, container: None, subcommands_first: 0 };
    let mut table = [command("", 0, "").placed(nowhere); COUNT];
    let mut command_id = 0;
    let mut subcommand_id = COMMAND_COUNT;
    let mut group_index = 0;
    while group_index < GROUPS.len() {
        let (group, rows) = GROUPS[group_index];
        let mut row = 0;
        while row < rows.len() {
            let subcommands_first = subcommand_id as u16;
            let place = Place { id: command_id as u16, group, container: None, subcommands_first };
            table[command_id] = rows[row].placed(place);
            let mut subcommand = 0;
            while subcommand < rows[row].subcommands.len() {
                let container = Some(CommandId(command_id as u16));
                let place = Place { id: subcommand_id as u16, group, container, subcommands_first: 0 };
                table[subcommand_id] = rows[row].subcommands[subcommand].placed(place);
                subcommand_id += 1;
                subcommand += 1;
            }
            command_id += 1;
            row += 1;
        }
        group_index += 1;
    }
    table
}

const fn fill_slots() -> [u16; SLOT_COUNT] {
    let mut slots = [EMPTY; SLOT_COUNT];
    let mut id = 0;
    while id < COMMAND_COUNT {
        let mut slot = slot_of(fold(TABLE[id].name.as_bytes()));
        while slots[slot] != EMPTY {
            slot = (slot + 1) % SLOT_COUNT;
        }
        slots[slot] = id as u16;
        id += 1;
    }
    slots
}

const fn fold_names() -> [Name; COMMAND_COUNT] {
    let mut names = [Name { folded: (0, 0), len: 0, is_told_by_fold: false }; COMMAND_COUNT];
    let mut id = 0;
    while id < COMMAND_COUNT {
        let name = TABLE[id].name.as_bytes();
        let is_told_by_fold = name.len() <= 16 && is_letters(name);
        names[id] = Name { folded: fold(name), len: name.len() as u8, is_told_by_fold };
        id += 1;
    }
    names
}

const fn is_letters(name: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() {
        if !name[at].is_ascii_lowercase() {
            return false;
        }
        at += 1;
    }
    true
}

/// The first and the last eight bytes of a name, which tell all names apart; the case of letters is folded by setting one
/// bit. Of other bytes several may fold to one.
#[inline]
const fn fold(name: &[u8]) -> (u64, u64) {
    const FOLD: u64 = 0x2020_2020_2020_2020;
    let (head, tail) = if let (Some(head), Some(tail)) = (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (u64::from_le_bytes(*head), u64::from_le_bytes(*tail))
    } else if let (Some(head), Some(tail)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        (u32::from_le_bytes(*head) as u64, u32::from_le_bytes(*tail) as u64)
    } else {
        match name {
            [a, b, c] => (*a as u64 | (*b as u64) << 8, *c as u64),
            [a, b] => (*a as u64, *b as u64),
            _ => (0, 0),
        }
    };
    (head | FOLD, tail | FOLD)
}

/// The slot at which the search for a folded name begins.
#[inline]
const fn slot_of((head, tail): (u64, u64)) -> usize {
    // The golden ratio, and the odd constant of SplitMix64's last step: both spread low bits into the top ones.
    let mixed = head.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ tail.rotate_left(29);
    (mixed.wrapping_mul(0x94d0_49bb_1331_11eb) >> (64 - SLOT_COUNT.trailing_zeros())) as usize
}

/// The row of a command, whatever the case of its letters. Subcommands are found with [`lookup_sub`].
#[inline]
pub fn lookup(name: &[u8]) -> Option<&'static CommandSpec> {
    let folded = fold(name);
    let mut slot = slot_of(folded);
    loop {
        // An empty slot is an index beyond the table. There is one, because the table is never full.
        let id = usize::from(*SLOTS.get(slot)?);
        let (spec, known) = (TABLE.get(id)?, NAMES.get(id)?);
        let may_be = known.folded == folded && usize::from(known.len) == name.len();
        if may_be && (known.is_told_by_fold || spec.name.as_bytes().eq_ignore_ascii_case(name)) {
            return Some(spec);
        }
        slot = (slot + 1) % SLOT_COUNT;
    }
}

/// The row of a container's subcommand, whatever the case of its letters.
#[inline]
pub fn lookup_sub(container: &CommandSpec, word: &[u8]) -> Option<&'static CommandSpec> {
    container.subcommands().iter().find(|spec| spec.word().as_bytes().eq_ignore_ascii_case(word))
}

/// The row of a full name (`get`, `client|list`, in any case): the form of ACL rules and of `COMMAND INFO`.
pub fn lookup_full(name: &[u8]) -> Option<&'static CommandSpec> {
    match name.iter().position(|byte| *byte == b'|') {
        None => lookup(name),
        Some(bar) => lookup_sub(lookup(name.get(..bar)?)?, name.get(bar + 1..)?),
    }
}

/// The id of a full lower-case name, for constants: a misspelt name does not compile.
pub const fn id(name: &str) -> CommandId {
    let mut index = 0;
    while index < COUNT {
        if same_bytes(TABLE[index].name.as_bytes(), name.as_bytes()) {
            return TABLE[index].id;
        }
        index += 1;
    }
    panic!("no such command in the catalog")
}

/// The row of an id.
#[inline]
pub fn spec(id: CommandId) -> &'static CommandSpec {
    // Invariant: an id is made only by `gather`, for a row that exists.
    &TABLE[id.index()]
}

/// All commands without their subcommands, in the order of the files in `rows/`.
pub fn commands() -> &'static [CommandSpec] {
    &TABLE[..COMMAND_COUNT]
}

/// Every row: the commands, then the subcommands.
pub fn all() -> &'static [CommandSpec] {
    &TABLE
}

/// What a row says of other rows.
impl CommandSpec {
    /// The subcommands of a container; empty for other commands.
    pub fn subcommands(&self) -> &'static [CommandSpec] {
        // Invariant: `gather` put them there.
        let first = usize::from(self.subcommands_first);
        &TABLE[first..first + usize::from(self.subcommands_count)]
    }

    /// The container of a subcommand.
    pub fn container(&self) -> Option<&'static CommandSpec> {
        self.container.map(spec)
    }
}

#[cfg(test)]
pub(super) fn longest_probe() -> usize {
    let distance = |(slot, id): (usize, &u16)| {
        let home = NAMES.get(usize::from(*id)).map(|name| slot_of(name.folded))?;
        Some((slot + SLOT_COUNT - home) % SLOT_COUNT)
    };
    SLOTS.iter().enumerate().filter_map(distance).max().unwrap_or(0)
}
