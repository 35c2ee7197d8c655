use super::{Appendfsync, Flags, Options, Task, parse};

fn flags(line: &str) -> Flags {
    let Task::Serve(flags) = parse(line.split(' ').map(Into::into)).expect("parses").task else {
        panic!("{line} does not serve");
    };
    *flags
}

fn setting<'o>(options: &'o Options, name: &str) -> &'o str {
    &options.settings.iter().find(|(setting, _)| *setting == name).expect("a setting").1
}

#[test]
fn serve_is_the_default_and_h_is_the_host() {
    for line in ["edgecask -h ::1 -p 7", "edgecask serve -h ::1 -p 7"] {
        let options = Options::decide(flags(line)).expect("decides");
        assert_eq!(options.addresses, ["[::1]:7".parse().expect("an address")]);
    }
    let options = Options::decide(flags("edgecask --threads 3")).expect("decides");
    assert_eq!((setting(&options, "port"), options.threads), ("6379", 3));
    assert!(parse(["edgecask".into(), "--nonsense".into()]).is_err());
}

#[test]
fn number_with_a_sign_is_taken_for_a_setting() {
    for name in ["port", "http-port", "databases", "maxclients", "threads", "http-max-per-address"] {
        let parses =
            |number: &str| parse(["edgecask".into(), format!("--{name}").into(), number.into()]).is_ok();
        assert!(parses("1"), "{name}");
        for number in ["+1", "-1", " 1", "01", "1.0", ""] {
            assert!(!parses(number), "{name} {number:?}");
        }
    }
    for name in ["datafile-max-bytes", "blob-min-bytes", "proto-max-bulk-len"] {
        let line = format!("edgecask --{name} +16mb");
        let options = Options::decide(flags(&line)).expect("decides");
        assert!(options.settings().is_err(), "{name}");
    }
}

#[test]
fn length_of_datafiles_is_no_option() {
    let chosen = |line: &str| {
        let options = Options::decide(flags(line)).expect("decides");
        options.settings().map(|settings| settings.number("datafile-max-bytes")).ok()
    };
    assert_eq!(chosen("edgecask"), Some(256 << 20));
    assert_eq!(chosen("edgecask --datafile-max-bytes 16mb"), Some(16 << 20));
    assert_eq!(chosen("edgecask --datafile-max-bytes 1kb"), None, "too short");
    assert_eq!(chosen("edgecask --datafile-max-bytes 5gb"), None, "offsets have 32 bits");
}

#[test]
fn every_processor_serves_unless_threads_are_named() {
    let cores = std::thread::available_parallelism().expect("it is known").get();
    assert_eq!(Options::decide(flags("edgecask")).expect("decides").threads, cores);
    assert_eq!(Options::decide(flags("edgecask --threads 0")).expect("decides").threads, cores);
}

#[test]
fn every_flag_has_help_with_its_default() {
    let help = parse(["edgecask".into(), "--help".into()]).expect_err("help is printed").to_string();
    let flags = [
        "host",
        "port",
        "dir",
        "on-damage",
        "appendfsync",
        "databases",
        "requirepass",
        "default-user",
        "aclfile",
        "maxclients",
        "proto-max-bulk-len",
        "blob-min-bytes",
        "datafile-max-bytes",
        "threads",
    ];
    for flag in flags {
        let at = help.find(&format!("--{flag}")).unwrap_or_else(|| panic!("--{flag} is not in {help}"));
        assert!(help[at..].lines().take(12).any(|line| line.contains("[default: ")), "--{flag} in {help}");
    }
}

#[test]
fn the_command_line_wins_over_the_file_and_unknown_names_are_errors() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("edgecask.toml");
    let line = format!("edgecask --config {} --port 7001", path.display());
    std::fs::write(&path, "port = 7000\nappendfsync = \"always\"\nprotected-mode = \"no\"\n")
        .expect("writes");
    let options = Options::decide(flags(&line)).expect("decides");
    assert_eq!((setting(&options, "port"), options.appendfsync), ("7001", Appendfsync::Always));
    assert!(!options.protected_mode);
    std::fs::write(&path, "prot = 7000\n").expect("writes");
    let error = Options::decide(flags(&line)).expect_err("an unknown name").to_string();
    assert!(error.contains("prot") && error.contains("edgecask.toml"), "{error}");
}

#[test]
fn a_public_address_needs_a_password() {
    let error = Options::decide(flags("edgecask -h 0.0.0.0")).expect_err("refused").to_string();
    assert!(error.contains("--requirepass") && error.contains("0.0.0.0"), "{error}");
    for line in [
        "edgecask -h 0.0.0.0 --requirepass secret",
        "edgecask -h 0.0.0.0 --protected-mode no",
        "edgecask -h 0.0.0.0 --default-user off",
        "edgecask -h 0.0.0.0 --aclfile users.acl",
        "edgecask -h 127.0.0.2",
    ] {
        assert!(Options::decide(flags(line)).is_ok(), "{line}");
    }
}

#[cfg(feature = "tikv")]
#[test]
fn options_of_a_cluster_that_contradict_each_other_are_taken() {
    let refused = |line: &str| match Options::decide(flags(&format!("edgecask {line}"))) {
        Ok(_) => panic!("{line} is taken"),
        Err(error) => error.to_string(),
    };
    let tikv = "--engine tikv --pd 127.0.0.1:2379";
    let ca = "--pd-ca a.pem";
    for (line, why) in [
        ("--engine tikv".to_owned(), "--pd"),
        (format!("{tikv} --dir data"), "--dir"),
        (format!("{tikv} --on-damage salvage"), "--on-damage"),
        (format!("{tikv} --appendfsync always"), "--appendfsync"),
        (format!("{tikv} --datafile-max-bytes 16mb"), "--datafile-max-bytes"),
        (format!("{tikv} --scrub-bytes-per-second 1mb"), "--scrub-bytes-per-second"),
        (format!("{tikv} --scrub-interval-days 1"), "--scrub-interval-days"),
        (format!("{tikv} {ca}"), "all of"),
        (format!("{tikv} --peer-listen 0.0.0.0:7000"), "interfaces"),
        (format!("{tikv} --tikv-timeout-ms 5000 --tikv-gc-life-ms 19999"), "four times"),
        (format!("{tikv} --tikv-timeout-ms 0"), "at least 1"),
        (format!("{tikv} --tikv-prefix {}", "x".repeat(65)), "64 bytes"),
        (ca.to_owned(), "--engine tikv"),
        ("--tikv-timeout-ms 100".to_owned(), "--engine tikv"),
        ("--tikv-keyspace one".to_owned(), "--engine tikv"),
    ] {
        assert!(refused(&line).contains(why), "{line}: {}", refused(&line));
    }
    let taken =
        Options::decide(flags(&format!("edgecask {tikv},b:1 --tikv-gc-life-ms off"))).expect("decides");
    let cluster = taken.cluster.expect("a cluster");
    assert_eq!((cluster.pd.len(), cluster.collects_versions, cluster.store.as_str()), (2, false, "edgecask"));
}
