//! The loop: sends what is due, then reads what has come until something is due again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::epoll;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::Timespec;

use crate::Failure;
use crate::channel::{Channel, READ_BYTES};
use crate::clocks::Clocks;
use crate::options::Options;
use crate::plan::{Dice, Texts, User};
use crate::reply::{self, Kind};
use crate::report::Report;

const WRITERS: usize = 4;
const EVENTS: usize = 256;
/// How long answers may come behind the last request; what lacks one then counts as unanswered.
const DRAIN: Duration = Duration::from_secs(10);

/// What is due at a moment.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Key(usize),
    Write,
}

struct Load<'a> {
    options: &'a Options,
    texts: &'a Texts,
    dice: Dice,
    seconds_per_key: f64,
    users: Vec<User>,
    /// Users' WebSockets, then the writers.
    channels: Vec<Channel>,
    due: BinaryHeap<Reverse<(Duration, Due)>>,
    writer: usize,
    report: Report,
    epoch: Instant,
}

/// Fails if a connection is refused or lost, or if the options ask for more keys than users can type.
pub fn run(options: &Options, texts: &Texts) -> Result<Report, Failure> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut channels = Vec::new();
    for number in 0..options.connections + WRITERS {
        let web = number < options.connections;
        let channel = Channel::connect(if web { options.web_port } else { options.port }, web)
            .map_err(|error| format!("connection {number}: {error}"))?;
        epoll::add(&poll, &channel.stream, epoll::EventData::new_u64(number as u64), epoll::EventFlags::IN)?;
        channels.push(channel);
    }
    let seconds_per_key = options.connections as f64 / options.rate;
    if seconds_per_key < 0.3 {
        return Err("so few users cannot type so fast".into());
    }
    let mut dice = Dice(options.seed);
    let mut due = BinaryHeap::new();
    let mut users = Vec::new();
    for number in 0..options.connections {
        let (user, first) = User::begin(texts, seconds_per_key, &mut dice);
        users.push(user);
        due.push(Reverse((first, Due::Key(number))));
    }
    if options.writes > 0.0 {
        due.push(Reverse((Duration::ZERO, Due::Write)));
    }
    let report = Report {
        connections: options.connections,
        seconds: options.measured.as_secs_f64(),
        ..Report::default()
    };
    let mut load = Load {
        options,
        texts,
        dice,
        seconds_per_key,
        users,
        channels,
        due,
        writer: 0,
        report,
        epoch: Instant::now(),
    };
    load.drive(&poll)?;
    Ok(load.report)
}

impl Load<'_> {
    fn drive(&mut self, poll: &impl std::os::fd::AsFd) -> Result<(), Failure> {
        let end = self.options.warm + self.options.measured;
        let (mut begun, mut ended) = (None, None);
        let mut buffer = vec![0; READ_BYTES];
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            let now = self.epoch.elapsed();
            if begun.is_none() && now >= self.options.warm {
                begun = Some(Clocks::read(self.options.server)?);
            }
            if ended.is_none() && now >= end {
                ended = Some(Clocks::read(self.options.server)?);
            }
            let wait = if now < end {
                self.send_due(end)?.saturating_sub(self.epoch.elapsed())
            } else {
                if now > end + DRAIN || self.channels.iter().all(|channel| channel.waiting.is_empty()) {
                    break;
                }
                Duration::from_millis(10)
            };
            let wait = Timespec { tv_sec: wait.as_secs().try_into()?, tv_nsec: wait.subsec_nanos().into() };
            epoll::wait(poll, spare_capacity(&mut events), Some(&wait))?;
            for event in events.drain(..) {
                let number = usize::try_from(event.data.u64())?;
                self.receive(number, &mut buffer)?;
            }
        }
        self.report.clocks = ended.zip(begun).map(|(ended, begun)| ended.since(begun));
        self.count_unanswered();
        Ok(())
    }

    /// Sends all that is due, and tells when something is due next.
    fn send_due(&mut self, end: Duration) -> Result<Duration, Failure> {
        loop {
            let now = self.epoch.elapsed();
            match self.due.peek() {
                Some(Reverse((planned, _))) if *planned < end => {
                    if *planned > now {
                        return Ok(*planned);
                    }
                }
                _ => return Ok(end),
            }
            let Some(Reverse((planned, due))) = self.due.pop() else { return Ok(end) };
            match due {
                Due::Key(number) => {
                    let (request, pause) =
                        self.users[number].press(self.texts, self.seconds_per_key, &mut self.dice);
                    self.channels[number].send(request, planned)?;
                    self.due.push(Reverse((planned + pause, Due::Key(number))));
                }
                Due::Write => {
                    let request = self.texts.write(&mut self.dice);
                    self.writer = (self.writer + 1) % WRITERS;
                    self.channels[self.options.connections + self.writer].send(&request, planned)?;
                    let pause = Duration::from_secs_f64(1.0 / self.options.writes);
                    self.due.push(Reverse((planned + pause, Due::Write)));
                }
            }
            if planned >= self.options.warm {
                self.report.lateness.add(self.epoch.elapsed() - planned);
            }
        }
    }

    fn receive(&mut self, number: usize, buffer: &mut [u8]) -> Result<(), Failure> {
        let (report, epoch, warm) = (&mut self.report, self.epoch, self.options.warm);
        let search = number < self.options.connections;
        self.channels[number].receive(buffer, |answer, planned| {
            if planned < warm {
                return;
            }
            let list = if search { &mut report.searches } else { &mut report.writes };
            list.add(epoch.elapsed() - planned);
            match reply::kind(answer) {
                Kind::Answer => {}
                Kind::Nothing => report.nothing += 1,
                Kind::Superseded => report.superseded += 1,
                Kind::Error => {
                    report.errors += 1;
                    report
                        .first_error
                        .get_or_insert_with(|| String::from_utf8_lossy(answer).trim_end().to_owned());
                }
            }
        })
    }

    fn count_unanswered(&mut self) {
        let now = self.epoch.elapsed();
        for (number, channel) in self.channels.iter().enumerate() {
            for planned in channel.waiting.iter().filter(|planned| **planned >= self.options.warm) {
                let list = if number < self.options.connections {
                    &mut self.report.searches
                } else {
                    &mut self.report.writes
                };
                list.add(now - *planned);
                self.report.unanswered += 1;
            }
        }
    }
}
