//! Each file is named after what a user would see if it failed.

mod another_decision_than_redis;
mod rule_is_lost;
mod wrong_entry_in_the_log;

use super::{Change, Registry, User};

/// A user of these rules, with spaces between them.
fn user(name: &str, rules: &str) -> User {
    let words: Vec<&[u8]> = rules.split(' ').map(str::as_bytes).collect();
    let mut user = User::new(name.as_bytes(), false);
    for rule in super::merge_selectors(&words).expect("whole selectors") {
        user.apply(&rule, false).unwrap_or_else(|error| panic!("{rules}: {error}"));
    }
    user
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn gone_user_still_may_do_something() {
    let registry = Registry::new(User::standard(true, b""));
    registry.apply(&Change::Set(user("ann", "on nopass +@all ~* &*").into()));
    let mut access = super::Access::of(registry.user(b"ann").expect("a user"), &registry);
    let ping = crate::catalog::lookup(b"ping").expect("a command");
    assert!(access.check(&registry, ping, &[b"ping"]).is_ok());
    registry.apply(&Change::Set(user("ann", "on nopass").into()));
    assert!(!access.is_fresh(&registry) && access.check(&registry, ping, &[b"ping"]).is_err());
    assert!(access.refresh(&registry) && access.check(&registry, ping, &[b"ping"]).is_err());
    registry.apply(&Change::Set(user("ann", "on nopass +@all ~* &*").into()));
    registry.apply(&Change::Delete(vec![b"ann".to_vec()]));
    assert!(access.check(&registry, ping, &[b"ping"]).is_err());
    assert!(!access.refresh(&registry));
}

#[test]
fn default_user_is_gone() {
    let registry = Registry::new(User::standard(true, b"secret"));
    assert!(registry.needs_login());
    registry.apply(&Change::Delete(vec![b"default".to_vec()]));
    registry.apply(&Change::Replace(vec![user("ann", "on nopass").into()]));
    assert!(registry.needs_login() && !registry.default_user().accepts(b"other"));
    assert!(registry.default_user().accepts(b"secret"));
    registry.apply(&Change::Set(User::standard(true, b"").into()));
    assert!(!registry.needs_login());
    registry.apply(&Change::Set(User::standard(false, b"").into()));
    assert!(registry.needs_login() && !registry.default_user().accepts(b""));
}
