//! The events for which triggers run.

/// What has become of a key between the beginning of a transaction and the run of a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// It was not there, and is now.
    Create = 1,
    /// It was there, and its value, its members, its type or its expiry have changed.
    Change = 1 << 1,
    /// It was there, and is not any more.
    Delete = 1 << 2,
    /// Its time had come, and it was found or collected. Such a key counts as one that is not there.
    Expire = 1 << 3,
}

impl Event {
    const ALL: [Event; 4] = [Event::Create, Event::Change, Event::Delete, Event::Expire];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Event::Create => "create",
            Event::Change => "change",
            Event::Delete => "delete",
            Event::Expire => "expire",
        }
    }
}

/// Some of the events, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Events(u8);

impl Events {
    /// Reads names, in letters of any case, with commas between them; `all` stands for all. None if one is unknown.
    pub fn parse(text: &[u8]) -> Option<Events> {
        let mut events = 0;
        for word in text.split(|byte| *byte == b',') {
            if word.eq_ignore_ascii_case(b"all") {
                events |= Event::ALL.iter().fold(0, |all, event| all | *event as u8);
                continue;
            }
            events |=
                *Event::ALL.iter().find(|event| word.eq_ignore_ascii_case(event.name().as_bytes()))? as u8;
        }
        (events != 0).then_some(Events(events))
    }

    /// The names, with commas between them.
    pub fn text(self) -> String {
        let own = Event::ALL.iter().filter(|event| self.has(**event)).map(|event| event.name());
        own.collect::<Vec<_>>().join(",")
    }

    /// Whether this one is among them.
    pub fn has(self, event: Event) -> bool {
        self.0 & event as u8 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_they_are_written() {
        for (text, shown) in [
            ("create", Some("create")),
            ("Delete,CHANGE,delete", Some("change,delete")),
            ("all", Some("create,change,delete,expire")),
            ("expire,all", Some("create,change,delete,expire")),
            ("", None),
            ("create,", None),
            ("created", None),
        ] {
            assert_eq!(Events::parse(text.as_bytes()).map(Events::text).as_deref(), shown, "{text}");
        }
    }
}
