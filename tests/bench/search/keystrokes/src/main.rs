//! Ten thousand users type into search boxes at once: an open-loop load of `FT.SEARCH … SCORER INSTANT … LATEST` over
//! WebSockets, beside HSETs over TCP that change indexed documents. keystrokes.py starts the server and this program.
//!
//! Every request has a planned moment that does not depend on any answer, and its latency counts from there, so a slow server or
//! a late generator shows as latency instead of as fewer requests. One thread and one epoll do everything.

mod channel;
mod clocks;
mod options;
mod plan;
mod reply;
mod report;
mod run;

pub type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let options = options::Options::read()?;
    let text = plan::Texts::read(&options)?;
    let report = run::run(&options, &text)?;
    println!("{}", report.json());
    Ok(())
}
