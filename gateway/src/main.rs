//! The `edgecask` program.

use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use edgecask::allocator;
use edgecask::backup;
use edgecask::copy::{self, CopyOptions};
use edgecask::limits::Deadlines;
use edgecask::options::{self, LogLevel, Options, Task};
use edgecask::restore;
use edgecask::server::{self, StartError};
use edgecask::signals;
use edgecask::upkeep;
use tracing::level_filters::LevelFilter;

/// Costs less processor time per request than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let flags = match options::parse(std::env::args_os()) {
        Ok(line) => match line.task {
            Task::Serve(flags) => flags,
            Task::Check { directory } => return end(upkeep::run_check(&directory, &mut io::stdout())),
            Task::Repair { directory, to } => {
                return end(upkeep::run_repair(&directory, &to, &mut io::stdout()));
            }
            Task::Backup { directory, to } => {
                return end(backup::run_backup(&directory, &to, &mut io::stdout()));
            }
            Task::Scrub { directory } => return end(backup::run_scrub(&directory, &mut io::stdout())),
            Task::Copy { from, to, verify, add, databases, state } => {
                let options = CopyOptions { from, to, databases, only_verifies: verify, adds: add, state };
                return end(copy::run_copy(&options, &mut io::stdout()));
            }
            Task::Restore { snapshot, to } => {
                return end(restore::run_restore(&snapshot, &to, &mut io::stdout()));
            }
        },
        Err(error) => error.exit(),
    };
    match Options::decide(*flags).map_err(StartError::from).and_then(|options| serve(&options)) {
        Ok(code) => code,
        // It was asked to, and nothing was written that could be lost.
        Err(StartError::Stopped) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("edgecask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The end of a task that is no server: 0 if nothing is damaged, 1 if something is, 2 if that could not be found out.
fn end(outcome: Result<bool, impl Display>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("edgecask: {error}");
            ExitCode::from(2)
        }
    }
}

fn serve(options: &Options) -> Result<ExitCode, StartError> {
    log_to_standard_error(options.log_level);
    allocator::begin_small();
    let running = server::start_and(options, Deadlines::default(), signals::watch)?;
    Ok(if running.wait() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn log_to_standard_error(level: LogLevel) {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(colours).with_max_level(level).init();
}
