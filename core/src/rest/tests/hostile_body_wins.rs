//! Bodies that are made to exhaust the stack, the memory or the patience of a host.

use super::{ask, shown};

#[test]
fn deep_nesting_needs_no_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let (open, close) = (open.repeat(1_000_000), close.repeat(1_000_000));
        for body in [open.clone(), format!("{open}1{close}"), format!("[{open}"), format!("[[\"GET\",{open}")]
        {
            for target in ["/", "/pipeline", "/multi-exec"] {
                let response = ask("POST", target, &body).expect_err("the request is refused");
                assert_eq!(response.status, 400);
                assert!(response.body.len() < 200, "{}", shown(&response).1);
            }
        }
    }
}

#[test]
fn an_error_does_not_repeat_the_body() {
    let long = "x".repeat(100_000);
    for body in
        [format!("\"{long}\""), format!("[[\"{long}\"]"), format!("[\"{long}"), format!("{{\"{long}\":1}}")]
    {
        let response = ask("POST", "/", body).expect_err("the request is refused");
        assert!(response.body.len() < 200, "{}", shown(&response).1);
    }
}

#[test]
fn what_is_asked_grows_with_the_body_only() {
    let body = format!("[\"DEL\"{}]", ",0".repeat(1_000_000));
    let input = ask("POST", "/", &body).expect("the request is fine").input();
    assert!(input.len() < 4 * body.len());
}

/// Mostly JSON, so that every part of the reader is reached.
#[test]
fn random_bodies_are_answered() {
    let pieces: [&[u8]; 20] = [
        b"[",
        b"]",
        b"[[",
        b"]]",
        b",",
        b"\"GET\"",
        b"\"a\\ud83d\"",
        b"\"\\",
        b"\"",
        b"null",
        b"1e999",
        b"-",
        b"{",
        b"}",
        b"\"k\":",
        b" ",
        b"true",
        b"\xff",
        b"\0",
        b"[\"SET\",\"a\",\"b\"]",
    ];
    let mut accepted = 0;
    for seed in 0..20_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut body = b"[".repeat(random.usize(0..3));
        (0..random.usize(0..9)).for_each(|_| body.extend_from_slice(pieces[random.usize(..pieces.len())]));
        body.extend_from_slice(&b"]".repeat(random.usize(0..3)));
        for target in ["/", "/pipeline", "/multi-exec", "/set/a"] {
            match ask("POST", target, &body) {
                Ok(mut exchange) => accepted += usize::from(!exchange.input().is_empty()),
                Err(response) => assert_eq!(response.status, 400, "seed {seed}"),
            }
        }
    }
    assert!(accepted > 1000, "only {accepted} were fine");
}
