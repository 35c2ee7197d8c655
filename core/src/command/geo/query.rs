//! How searches are written: the arguments of GEOSEARCH, GEOSEARCHSTORE, and of GEORADIUS and its three variants.

use super::numbers::{position, unit_m};
use super::read::position_in;
use crate::command::CommandError;
use crate::command::args::{integer, is_option};
use crate::data::geo::{Extent, Position, Shape};
use crate::data::zset::SortedSet;
use crate::engine::Txn;
use crate::resp;

type Result<T> = std::result::Result<T, CommandError>;

/// What a command fixes by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// GEORADIUS: a position and a radius come first.
    Around {
        /// Whether there is STORE.
        stores: bool,
    },
    /// GEORADIUSBYMEMBER: a member and a radius come first.
    AroundMember {
        /// Whether there is STORE.
        stores: bool,
    },
    /// GEOSEARCH: options say everything.
    Search,
    /// GEOSEARCHSTORE: as GEOSEARCH, behind the name of the target.
    SearchStore,
}

impl Form {
    /// Whether it is a command that writes, though not every request of it does.
    pub fn may_store(self) -> bool {
        self.has_store() || self == Form::SearchStore
    }

    /// The event of a result that is stored.
    pub fn event(self) -> &'static str {
        if self.is_search() { "geosearchstore" } else { "georadiusstore" }
    }

    fn is_search(self) -> bool {
        matches!(self, Form::Search | Form::SearchStore)
    }

    fn has_store(self) -> bool {
        matches!(self, Form::Around { stores: true } | Form::AroundMember { stores: true })
    }

    /// Where the key is among the arguments.
    pub(super) fn key_at(self) -> usize {
        if self == Form::SearchStore { 2 } else { 1 }
    }
}

/// By distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The nearest first.
    Ascending,
    /// The furthest first.
    Descending,
}

/// Where the result goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    /// The key.
    pub(super) key: &'a [u8],
    /// Whether scores are distances.
    pub(super) keeps_distance: bool,
}

/// What is shown of each member.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    /// WITHDIST
    pub(super) distance: bool,
    /// WITHHASH
    pub(super) hash: bool,
    /// WITHCOORD
    pub(super) position: bool,
}

impl Shown {
    /// How many things are shown beside the name.
    pub(super) fn count(self) -> usize {
        usize::from(self.distance) + usize::from(self.hash) + usize::from(self.position)
    }
}

/// A search as its options say.
#[derive(Debug, Default)]
pub(super) struct Query<'a> {
    centre: Option<Position>,
    extent: Option<(Extent, f64)>,
    from_member: bool,
    pub(super) shown: Shown,
    /// COUNT
    pub(super) count: Option<u64>,
    /// ANY: those found first will do.
    pub(super) is_any: bool,
    pub(super) order: Option<Order>,
    pub(super) target: Option<Target<'a>>,
}

impl<'a> Query<'a> {
    /// Reads a command whose key is this set, which may be missing. `args` begin with the name.
    pub(super) fn parse(
        txn: &mut Txn<'_>,
        set: &SortedSet<'_>,
        args: &[&'a [u8]],
        form: Form,
    ) -> Result<Query<'a>> {
        let mut query = Query::default();
        let options = match (form, args) {
            (Form::Around { .. }, [_, _, longitude, latitude, radius, unit, options @ ..]) => {
                query.centre = Some(position(longitude, latitude)?);
                query.extent = Some(radius_of(radius, unit)?);
                options
            }
            (Form::AroundMember { .. }, [_, _, member, radius, unit, options @ ..]) => {
                // Around a member that cannot be there any radius will do.
                if set.is_there() {
                    query.centre = Some(member_position(txn, set, member)?);
                    query.extent = Some(radius_of(radius, unit)?);
                }
                options
            }
            (Form::Search, [_, _, options @ ..]) => options,
            (Form::SearchStore, [_, target, _, options @ ..]) => {
                query.target = Some(Target { key: target, keeps_distance: false });
                options
            }
            _ => return Err(CommandError::SYNTAX),
        };
        query.read_options(txn, set, options, form)?;
        query.check(args.first().copied().unwrap_or_default(), form)?;
        Ok(query)
    }

    fn read_options(
        &mut self,
        txn: &mut Txn<'_>,
        set: &SortedSet<'_>,
        mut options: &[&'a [u8]],
        form: Form,
    ) -> Result<()> {
        while let [option, rest @ ..] = options {
            options = rest;
            if self.read_flag(option, form) {
                continue;
            }
            options = if is_option(option, "COUNT")
                && let [count, rest @ ..] = rest
            {
                let error = CommandError::text("ERR COUNT must be > 0");
                let count = u64::try_from(integer(count)?).ok().filter(|count| *count > 0);
                self.count = Some(count.ok_or(error)?);
                rest
            } else if form.has_store()
                && let [key, rest @ ..] = rest
                && (is_option(option, "STORE") || is_option(option, "STOREDIST"))
            {
                self.target = Some(Target { key, keeps_distance: is_option(option, "STOREDIST") });
                rest
            } else if form.is_search() {
                self.read_area(txn, set, option, rest)?
            } else {
                return Err(CommandError::SYNTAX);
            };
        }
        Ok(())
    }

    /// Takes an option without a value; false if it is none.
    fn read_flag(&mut self, option: &[u8], form: Form) -> bool {
        if is_option(option, "WITHDIST") {
            self.shown.distance = true;
        } else if is_option(option, "WITHHASH") {
            self.shown.hash = true;
        } else if is_option(option, "WITHCOORD") {
            self.shown.position = true;
        } else if is_option(option, "ANY") {
            self.is_any = true;
        } else if is_option(option, "ASC") {
            self.order = Some(Order::Ascending);
        } else if is_option(option, "DESC") {
            self.order = Some(Order::Descending);
        } else if form == Form::SearchStore
            && is_option(option, "STOREDIST")
            && let Some(target) = &mut self.target
        {
            target.keeps_distance = true;
        } else {
            return false;
        }
        true
    }

    /// Takes an option of GEOSEARCH that says where to search; returns what follows its values.
    fn read_area<'o>(
        &mut self,
        txn: &mut Txn<'_>,
        set: &SortedSet<'_>,
        option: &[u8],
        values: &'o [&'a [u8]],
    ) -> Result<&'o [&'a [u8]]> {
        let has_box = matches!(self.extent, Some((Extent::Box { .. }, _)));
        let has_radius = matches!(self.extent, Some((Extent::Radius(_), _)));
        match values {
            [member, rest @ ..]
                if is_option(option, "FROMMEMBER") && (self.centre.is_none() || self.from_member) =>
            {
                self.centre = Some(match set.is_there() {
                    true => member_position(txn, set, member)?,
                    false => Position::default(),
                });
                self.from_member = true;
                Ok(rest)
            }
            [longitude, latitude, rest @ ..] if is_option(option, "FROMLONLAT") && !self.from_member => {
                self.centre = Some(position(longitude, latitude)?);
                Ok(rest)
            }
            [radius, unit, rest @ ..] if is_option(option, "BYRADIUS") && !has_box => {
                self.extent = Some(radius_of(radius, unit)?);
                Ok(rest)
            }
            [width, height, unit, rest @ ..] if is_option(option, "BYBOX") && !has_radius => {
                self.extent = Some(box_of(width, height, unit)?);
                Ok(rest)
            }
            _ => Err(CommandError::SYNTAX),
        }
    }

    /// Looks for options that are missing or go against each other.
    fn check(&self, name: &[u8], form: Form) -> Result<()> {
        let error = |text: &str| Err(CommandError::owned(format!("ERR {text}")));
        if self.target.is_some() && self.shown.count() > 0 {
            let named =
                if form == Form::SearchStore { "GEOSEARCHSTORE" } else { "STORE option in GEORADIUS" };
            return error(&format!(
                "{named} is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
            ));
        }
        let name = String::from_utf8_lossy(name);
        if form.is_search() && self.centre.is_none() {
            return error(&format!("exactly one of FROMMEMBER or FROMLONLAT can be specified for {name}"));
        }
        if form.is_search() && self.extent.is_none() {
            return error(&format!("exactly one of BYRADIUS and BYBOX can be specified for {name}"));
        }
        if self.is_any && self.count.is_none() {
            return error("the ANY argument requires COUNT argument");
        }
        Ok(())
    }

    /// What is searched; None around a member of a set that is not there.
    pub(super) fn shape(&self) -> Option<Shape> {
        let (centre, (extent, unit_m)) = self.centre.zip(self.extent)?;
        Some(Shape { centre, extent, unit_m })
    }
}

fn member_position(txn: &mut Txn<'_>, set: &SortedSet<'_>, member: &[u8]) -> Result<Position> {
    let error = CommandError::text("ERR could not decode requested zset member");
    position_in(txn, set, member)?.ok_or(error)
}

fn radius_of(radius: &[u8], unit: &[u8]) -> Result<(Extent, f64)> {
    let radius = size(radius, "ERR need numeric radius")?;
    if radius < 0.0 {
        return Err(CommandError::text("ERR radius cannot be negative"));
    }
    Ok((Extent::Radius(radius), unit_m(unit)?))
}

fn box_of(width: &[u8], height: &[u8], unit: &[u8]) -> Result<(Extent, f64)> {
    let width = size(width, "ERR need numeric width")?;
    let height = size(height, "ERR need numeric height")?;
    if width < 0.0 || height < 0.0 {
        return Err(CommandError::text("ERR height or width cannot be negative"));
    }
    Ok((Extent::Box { width, height }, unit_m(unit)?))
}

fn size(text: &[u8], error: &'static str) -> Result<f64> {
    resp::parse_f64(text).ok_or(CommandError::text(error))
}
