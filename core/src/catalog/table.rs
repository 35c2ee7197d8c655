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
        let mut slot = slot_of(TABLE[id].name.as_bytes());
        while slots[slot] != EMPTY {
            slot = (slot + 1) % SLOT_COUNT;
        }
        slots[slot] = id as u16;
        id += 1;
    }
    slots
}

/// The slot at which the search for a name begins. Looks at no more than the first and the last eight bytes, which
/// tell all names apart, and folds the case of letters by setting one bit (other bytes may fold together: the
/// comparison decides).
const fn slot_of(name: &[u8]) -> usize {
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
    const FOLD: u64 = 0x2020_2020_2020_2020;
    // The golden ratio, and the odd constant of SplitMix64's last step: both spread low bits into the top ones.
    let mixed = (head | FOLD).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (tail | FOLD).rotate_left(29);
    (mixed.wrapping_mul(0x94d0_49bb_1331_11eb) >> (64 - SLOT_COUNT.trailing_zeros())) as usize
}

/// The row of a command, whatever the case of its letters. Subcommands are found with [`lookup_sub`].
#[inline]
pub fn lookup(name: &[u8]) -> Option<&'static CommandSpec> {
    let mut slot = slot_of(name);
    loop {
        // An empty slot is an index beyond the table. There is one, because the table is never full.
        let spec = TABLE.get(usize::from(*SLOTS.get(slot)?))?;
        if spec.name.as_bytes().eq_ignore_ascii_case(name) {
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

/// The row of a request: the command's, or that of the subcommand which the request names. A request that names none of a
/// container's subcommands has the container's row.
pub fn lookup_request(args: &[&[u8]]) -> Option<&'static CommandSpec> {
    let spec = lookup(args.first()?)?;
    let subcommand = args.get(1).filter(|_| spec.is_container()).and_then(|word| lookup_sub(spec, word));
    Some(subcommand.unwrap_or(spec))
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
        let home = TABLE.get(usize::from(*id)).map(|spec| slot_of(spec.name.as_bytes()))?;
        Some((slot + SLOT_COUNT - home) % SLOT_COUNT)
    };
    SLOTS.iter().enumerate().filter_map(distance).max().unwrap_or(0)
}
