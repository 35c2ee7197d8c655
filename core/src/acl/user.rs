//! A user: a name, passwords, and selectors.

use super::denial::Missing;
use super::password::Password;
use super::rule::RuleError;
use super::selector::{KeyUses, Selector, join};
use crate::catalog::CommandSpec;
use crate::resp::{quote, split_line};

/// The user of connections that have not said who they are.
pub const DEFAULT_USER: &[u8] = b"default";

/// What RESTORE does about payloads of a user. Payloads are checked here in any case; the rule is only shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sanitize {
    Unsaid,
    Yes,
    Skip,
}

/// A user and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    name: Box<[u8]>,
    is_on: bool,
    /// Any password will do.
    no_password: bool,
    sanitize: Sanitize,
    passwords: Vec<Password>,
    /// The user's own selector, then the further ones.
    root: Selector,
    selectors: Vec<Selector>,
    is_unrestricted: bool,
}

impl User {
    /// A new user, which is off and may do nothing. With `all_channels` its selectors begin with all channels
    /// (`acl-pubsub-default`).
    pub fn new(name: &[u8], all_channels: bool) -> User {
        User {
            name: name.into(),
            is_on: false,
            no_password: false,
            sanitize: Sanitize::Unsaid,
            passwords: Vec::new(),
            root: Selector::new(all_channels),
            selectors: Vec::new(),
            is_unrestricted: false,
        }
    }

    /// The default user of a new server, which may do everything; with a password if there is one.
    pub fn standard(is_on: bool, password: &[u8]) -> User {
        let mut user = User::new(DEFAULT_USER, true);
        user.root.apply_all();
        user.is_on = is_on;
        user.set_password(password);
        user.is_unrestricted = true;
        user
    }

    /// Makes a password the only one; an empty one means that none is needed (`requirepass`).
    pub fn set_password(&mut self, password: &[u8]) {
        self.no_password = password.is_empty();
        self.passwords = if password.is_empty() { Vec::new() } else { vec![Password::of(password)] };
    }

    /// The same user, off.
    pub fn turn_off(&mut self) {
        self.is_on = false;
    }

    /// Applies a rule. An empty one changes nothing, as in Redis.
    ///
    /// # Errors
    /// Why the rule is refused; the user is as before.
    pub fn apply(&mut self, rule: &[u8], all_channels: bool) -> Result<(), RuleError> {
        match rule.to_ascii_lowercase().as_slice() {
            b"" => {}
            b"on" => self.is_on = true,
            b"off" => self.is_on = false,
            b"nopass" => {
                self.no_password = true;
                self.passwords.clear();
            }
            b"resetpass" => {
                self.no_password = false;
                self.passwords.clear();
            }
            b"skip-sanitize-payload" => self.sanitize = Sanitize::Skip,
            b"sanitize-payload" => self.sanitize = Sanitize::Yes,
            b"clearselectors" => self.selectors.clear(),
            b"reset" => {
                *self = User { sanitize: Sanitize::Yes, ..User::new(&self.name, all_channels) };
            }
            _ => self.apply_marked(rule, all_channels)?,
        }
        self.is_unrestricted =
            self.root.is_unrestricted() || self.selectors.iter().any(Selector::is_unrestricted);
        Ok(())
    }

    fn apply_marked(&mut self, rule: &[u8], all_channels: bool) -> Result<(), RuleError> {
        match rule {
            [b'>', password @ ..] => self.add_password(Password::of(password)),
            [b'#', digits @ ..] => {
                self.add_password(Password::from_hex(digits).ok_or(RuleError::NoHash)?);
            }
            [b'<', password @ ..] => self.remove_password(&Password::of(password))?,
            [b'!', digits @ ..] => {
                self.remove_password(&Password::from_hex(digits).ok_or(RuleError::NoHash)?)?;
            }
            [b'(', .., b')'] => self.selectors.push(Selector::parse(rule, all_channels)?),
            _ => self.root.apply(rule)?,
        }
        Ok(())
    }

    fn add_password(&mut self, password: Password) {
        if !self.passwords.contains(&password) {
            self.passwords.push(password);
        }
        self.no_password = false;
    }

    fn remove_password(&mut self, password: &Password) -> Result<(), RuleError> {
        let at =
            self.passwords.iter().position(|known| known == password).ok_or(RuleError::NoSuchPassword)?;
        self.passwords.remove(at);
        Ok(())
    }

    /// Its name.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Whether connections may log in as this user.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether any password will do.
    pub fn needs_no_password(&self) -> bool {
        self.no_password
    }

    /// Whether it may do everything.
    pub fn is_unrestricted(&self) -> bool {
        self.is_unrestricted
    }

    /// Whether a connection may log in with this password. Every password is compared.
    pub fn accepts(&self, password: &[u8]) -> bool {
        if self.no_password || !self.is_on {
            return self.is_on;
        }
        let given = Password::of(password);
        self.passwords.iter().fold(false, |found, known| found | known.is(&given))
    }

    /// Whether this is one of its passwords, and it needs one.
    pub fn accepts_own(&self, password: &[u8]) -> bool {
        !self.no_password && self.accepts(password)
    }

    /// What a request lacks that no selector allows: of several the one that comes furthest, as Redis chooses it.
    pub(super) fn missing(&self, spec: &CommandSpec, args: &[&[u8]]) -> Option<(Missing, usize)> {
        let mut uses: Option<KeyUses> = None;
        // Of a request whose keys cannot be found none are checked: it touches none, its handler refuses it.
        let mut keys = || uses.get_or_insert_with(|| spec.keys.uses(args).unwrap_or_default()).clone();
        let mut furthest = (Missing::Command, 0);
        for selector in self.selectors() {
            furthest = furthest.max(selector.missing(spec, args, &mut keys)?);
        }
        Some(furthest)
    }

    /// Whether a request may be allowed that begins with this name, and of which no more is known.
    pub fn may_run(&self, spec: &CommandSpec) -> bool {
        self.selectors().any(|selector| selector.may_allow(spec))
    }

    /// Whether a request that is allowed may read keys that it does not name (the patterns of SORT).
    pub fn may_read_all(&self, spec: &CommandSpec, args: &[&[u8]]) -> bool {
        self.may_use_all((spec, args), b"", false)
    }

    /// Whether a request that is allowed may read all keys with a prefix, though it does not name them, or read and write them (indexes).
    pub fn may_use_all(&self, (spec, args): (&CommandSpec, &[&[u8]]), prefix: &[u8], writes: bool) -> bool {
        let mut keys = || spec.keys.uses(args).unwrap_or_default();
        let allows = |selector: &Selector| selector.missing(spec, args, &mut keys).is_none();
        self.selectors().filter(|selector| selector.allows_prefix(prefix, writes)).any(allows)
    }

    /// Whether a subscription to a channel, or to a pattern, is allowed.
    pub fn may_listen(&self, name: &[u8], is_pattern: bool) -> bool {
        self.selectors().any(|selector| selector.allows_channel(name, is_pattern))
    }

    /// The user's own selector, then the further ones.
    pub fn selectors(&self) -> impl Iterator<Item = &Selector> {
        std::iter::once(&self.root).chain(&self.selectors)
    }

    /// The passwords.
    pub fn passwords(&self) -> &[Password] {
        &self.passwords
    }

    /// The words of ACL GETUSER's `flags`.
    pub fn flags(&self) -> impl Iterator<Item = &'static str> {
        let on = if self.is_on { "on" } else { "off" };
        let sanitize = match self.sanitize {
            Sanitize::Unsaid => None,
            Sanitize::Yes => Some("sanitize-payload"),
            Sanitize::Skip => Some("skip-sanitize-payload"),
        };
        std::iter::once(on).chain(self.no_password.then_some("nopass")).chain(sanitize)
    }

    /// The rules that make this user, as ACL LIST shows them behind the name.
    pub fn rules(&self) -> Vec<u8> {
        self.rules_by(|rule| rule)
    }

    /// The same in a form that can be read again whatever stands in a rule: split at spaces outside of quotes.
    pub fn quoted_rules(&self) -> Vec<u8> {
        self.rules_by(|rule| if is_plain(&rule) { rule } else { quote(&rule).into_bytes() })
    }

    fn rules_by(&self, show: impl Fn(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
        let flags = self.flags().map(|flag| flag.as_bytes().to_vec());
        let passwords = self.passwords.iter().map(|password| format!("#{}", password.hex()).into_bytes());
        let selectors = self.selectors.iter().map(|selector| {
            let inner = join(selector.rules().map(&show));
            [b"(", inner.as_slice(), b")"].concat()
        });
        join(flags.chain(passwords).chain(self.root.rules().map(&show)).chain(selectors))
    }

    /// The user that [`User::quoted_rules`] describe.
    ///
    /// # Errors
    /// The rules are none of this version.
    pub fn from_rules(name: &[u8], rules: &[u8]) -> Result<User, RuleError> {
        let mut user = User::new(name, false);
        let mut rest = rules;
        while let [_, ..] = rest {
            let (rule, behind) = first_rule(rest);
            let words = if rule.starts_with(b"(") {
                vec![rule.to_vec()]
            } else {
                split_line(rule).ok_or(RuleError::Syntax)?
            };
            words.iter().try_for_each(|word| user.apply(word, false))?;
            rest = behind;
        }
        Ok(user)
    }
}

/// Whether a rule needs no quotes.
fn is_plain(rule: &[u8]) -> bool {
    rule.iter().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'(' | b')'))
}

/// The first rule of quoted ones, and what follows: a selector as a whole, or a word.
fn first_rule(rules: &[u8]) -> (&[u8], &[u8]) {
    let is_selector = rules.starts_with(b"(");
    let (mut in_quotes, mut is_escaped) = (false, false);
    for (at, byte) in rules.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_quotes,
            b'"' => in_quotes = !in_quotes,
            b')' if is_selector && !in_quotes => {
                let (rule, behind) = rules.split_at(at + 1);
                return (rule, behind.trim_ascii_start());
            }
            b' ' if !is_selector && !in_quotes => {
                let (rule, behind) = rules.split_at(at);
                return (rule, behind.trim_ascii_start());
            }
            _ => {}
        }
    }
    (rules, &[])
}
