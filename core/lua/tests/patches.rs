//! One test for each file in `patches/`, under its name, and for what the shim does with them.

mod common;

use common::{TestHost, VERSION, a_run, limits, now_ms, run};
use edgecask_core::script::{
    Answer, Ended, Failure, Host, LoadError, Reader, Run, RunLimits, Runtime, Tick, Value, Writer,
};
use edgecask_lua::Lua;

fn lua() -> Lua {
    Lua::new(VERSION)
}

/// The text that a script returns, or the message of its error.
fn text(lua: &mut Lua, script: &str) -> String {
    let flat = match run(lua, &mut TestHost::new(), script) {
        Ok(flat) => flat,
        Err(Ended::Failed(failure)) => return String::from_utf8(failure.message).expect("text"),
        Err(ended) => panic!("{script}: {ended:?}"),
    };
    match Reader::new(&flat).next() {
        Some(Value::Text(text)) => String::from_utf8_lossy(text).into_owned(),
        value => format!("{value:?}"),
    }
}

/// How a script ends that may run for a twentieth of a second.
fn ended(lua: &mut Lua, script: &str) -> Ended {
    run(lua, &mut TestHost::with_deadline(50.0), script).expect_err(script)
}

#[test]
fn readonly_tables_refuse_every_way_of_changing_them() {
    let readonly = "Attempt to modify a readonly table";
    for change in [
        "string.x = 1",
        "rawset(string, 'x', 1)",
        "setmetatable(string, {})",
        "table.insert(string, 1)",
        "x = 1",
        "getmetatable('').__index = {}",
        "getmetatable(_G).__index = nil",
        "redis.call = nil",
        "cjson.encode = nil",
        "for k in pairs(math) do math[k] = nil end",
        "os.clock = nil",
    ] {
        let answer = text(&mut lua(), change);
        assert!(answer.ends_with(readonly), "{change}: {answer}");
    }
}

#[test]
fn keys_of_the_run_before_are_seen() {
    let mut lua = lua();
    let see = "local seen = {}
        for _, each in ipairs({KEYS, ARGV}) do
            for key, value in pairs(each) do seen[#seen + 1] = tostring(key) .. '=' .. tostring(value) end
            seen[#seen + 1] = tostring(getmetatable(each)) .. #each
        end
        return table.concat(seen, ' ')";
    let mut ask = |script: &str, keys: &[&[u8]], arguments: &[&[u8]]| {
        let mut host = TestHost::new();
        let id = lua.compile(script.as_bytes(), limits(), &mut host).expect(script);
        let run = Run { keys, arguments, ..a_run() };
        let mut value = Writer::new(usize::MAX);
        let _ = lua.run(id, &run, &mut host, &mut value);
        match Reader::new(value.as_bytes()).next() {
            Some(Value::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        }
    };
    let fresh = "1=a 2=b nil2 1=c nil1";
    assert_eq!(ask(see, &[b"a", b"b"], &[b"c"]), fresh);
    for change in [
        "return 1",
        "KEYS[1] = nil ARGV[1] = 5",
        "KEYS[3] = 'x' ARGV.y = 1",
        "KEYS[1], KEYS[2] = nil, nil KEYS.x = 1 KEYS.x = nil",
        "setmetatable(KEYS, {__index = ARGV}) setmetatable(ARGV, KEYS)",
        "for i = 1, 100 do table.insert(KEYS, i) end",
        "table.remove(ARGV) table.sort(KEYS, function(a, b) return a > b end)",
        "local held = KEYS coroutine.wrap(function() held[1] = nil coroutine.yield() end)() error(held)",
    ] {
        ask(change, &[b"p", b"q"], &[b"r"]);
        assert_eq!(ask(see, &[b"a", b"b"], &[b"c"]), fresh, "{change}");
        assert_eq!(ask(see, &[], &[]), "nil0 nil0", "{change}");
        assert_eq!(ask(see, &[b"a"], &[b"b", b"c", b"d"]), "1=a nil1 1=b 2=c 3=d nil3", "{change}");
    }
}

#[test]
fn chunk_name_anchored_while_its_chunk_is_compiled() {
    // The collector runs at every allocation of the compiler, so a name that nothing holds would be gone.
    let script = "collectgarbage('setpause', 0) collectgarbage('setstepmul', 1000000)
        for i = 1, 10 do
            local name = string.rep('n', 40) .. i
            local f, e = loadstring(string.rep('local x = {} ', 50) .. 'x =', name)
            if not string.find(e, name, 1, true) then return 'lost ' .. e end
        end
        return 'kept'";
    assert_eq!(text(&mut lua(), script), "kept");
}

#[test]
fn unpack_bounds_do_not_overflow() {
    for range in
        ["1, 1e9", "-2147483648, 2147483647", "0, 2147483647", "-2147483648, -1", "2147480000, 2147489999"]
    {
        let answer = text(&mut lua(), &format!("return unpack({{}}, {range})"));
        assert!(
            answer.ends_with("too many results to unpack") || range.starts_with("2147480000"),
            "{range}: {answer}"
        );
    }
    assert_eq!(text(&mut lua(), "return tostring(select('#', unpack({}, 2147483640, 2147483647)))"), "8");
}

#[test]
fn long_bracket_level_is_bounded() {
    let answer =
        text(&mut lua(), "local f, e = loadstring('x = [' .. string.rep('=', 1000001) .. '[') return e");
    assert!(answer.contains("long bracket has too many '='"), "{answer}");
    assert_eq!(
        text(
            &mut lua(),
            "return loadstring('return [' .. ('='):rep(9999) .. '[x]' .. ('='):rep(9999) .. ']')()"
        ),
        "x"
    );
}

#[test]
fn no_bytecode_is_loaded() {
    for source in ["string.dump(function() return 9 end)", "'\\27Lua'", "'\\27'"] {
        let answer = text(&mut lua(), &format!("local f, e = loadstring({source}) return e"));
        assert!(answer.ends_with("unexpected symbol near 'char(27)'"), "{source}: {answer}");
    }
    let answer =
        text(&mut lua(), "return pcall(load(function() return string.dump(function() end) end) or error)");
    assert_eq!(answer, "Some(Boolean(false))");
}

#[test]
fn limits_of_memory_hold_and_garbage_does_not_count() {
    let mut lua = lua();
    let over =
        run(&mut lua, &mut TestHost::new(), "return #string.rep('x', 80 * 1024 * 1024)").expect_err("over");
    let plain =
        Failure { message: b"not enough memory".to_vec(), place: None, is_plain: true, is_counted: false };
    assert_eq!(over, Ended::Failed(plain));
    // A gigabyte passes through, of which little lives at any time.
    let through = "local s for i = 1, 1024 do s = string.rep('x', 1024 * 1024) .. i end return tostring(#s)";
    assert_eq!(text(&mut lua, through), "1048580");
    let half = "local keep = string.rep('x', 12 * 1024 * 1024) for i = 1, 100 do local s = string.rep('y', 4 * 1024 * 1024) .. i end return 'ok'";
    assert_eq!(text(&mut lua, half), "ok");
    assert!(lua.memory_bytes() < 200 << 20);
    while lua.collect_garbage() {}
    assert!(lua.memory_bytes() < 2 << 20, "{} bytes", lua.memory_bytes());
}

#[test]
fn limits_of_steps_end_a_run() {
    let mut lua = lua();
    let mut host = TestHost::new();
    let steps = |steps| Run { limits: RunLimits { steps: Some(steps), ..limits() }, ..a_run() };
    let id = lua
        .compile(b"local n = 0\nfor i = 1, 1e5 do n = n + i end return n", limits(), &mut host)
        .expect("compiles");
    let mut value = Writer::new(usize::MAX);
    assert_eq!(lua.run(id, &steps(10_000_000), &mut host, &mut value), Ok(()));
    let Err(Ended::OutOfSteps(place)) = lua.run(id, &steps(100_000), &mut host, &mut value) else {
        panic!("goes on")
    };
    assert_eq!(place.place, Some((b"@user_script".to_vec(), 2)));
    assert_eq!(lua.run(id, &steps(10_000_000), &mut host, &mut value), Ok(()));
}

#[test]
fn limits_of_steps_reach_the_compiler() {
    let source = format!("return {{{}}}", "1,".repeat(1 << 21));
    let mut host = TestHost::with_deadline(1.0);
    let begin = now_ms();
    let stopped = lua().compile(source.as_bytes(), limits(), &mut host);
    assert!(stopped.is_err(), "the chunk compiles within a millisecond");
    assert!(now_ms() - begin < 500.0);
}

#[test]
fn work_of_libraries_is_counted() {
    for script in [
        "return #string.rep('', 1e9)",
        "local s = string.rep('x', 1e7) while true do string.upper(s) end",
        "local t = {} for i = 1, 1e5 do t[i] = i end while true do table.insert(t, 1, 1) table.remove(t, 1) end",
        "while true do collectgarbage() end",
    ] {
        assert!(matches!(ended(&mut lua(), script), Ended::Killed(_)), "{script}");
    }
}

#[test]
fn steps_by_time_count_more_than_instructions() {
    for script in [
        "for i = 1, 20000 do local t = {i} end",
        "for i = 1, 10000 do local s = tostring(i) end",
        "for i = 1, 10000 do local n = '1' + 1 end",
        "for i = 1, 10000 do local s = string.format('%d', i) end",
    ] {
        let mut lua = lua();
        let mut host = TestHost::new();
        let id = lua.compile(script.as_bytes(), limits(), &mut host).expect("compiles");
        let run = Run { limits: RunLimits { steps: Some(1_000_000), ..limits() }, ..a_run() };
        let outcome = lua.run(id, &run, &mut host, &mut Writer::new(usize::MAX));
        assert!(matches!(outcome, Err(Ended::OutOfSteps(_))), "{script}: {outcome:?}");
    }
}

#[test]
fn steps_of_sort_end_it() {
    let mut lua = lua();
    let mut host = TestHost::new();
    let script = b"local t = {} for i = 1, 2e4 do t[i] = i % 2 end table.sort(t) return 1";
    let id = lua.compile(script, limits(), &mut host).expect("compiles");
    let run = Run { limits: RunLimits { steps: Some(300_000), ..limits() }, ..a_run() };
    let outcome = lua.run(id, &run, &mut host, &mut Writer::new(usize::MAX));
    assert!(matches!(outcome, Err(Ended::OutOfSteps(_))), "{outcome:?}");
}

#[test]
fn depth_and_steps_of_patterns_are_bounded() {
    let mut lua = lua();
    let deep = text(&mut lua, "return string.find(string.rep('a', 1e4), string.rep('a?', 1e4) .. 'b')");
    assert!(deep.ends_with("pattern too complex"), "{deep}");
    assert_eq!(
        text(&mut lua, "return string.match(string.rep('a', 300) .. 'b', string.rep('a?', 300) .. '(b)')"),
        "b"
    );
    let bomb = "return string.find(string.rep('a', 40), string.rep('a?', 40) .. string.rep('a', 40) .. 'b')";
    assert!(matches!(ended(&mut lua, bomb), Ended::Killed(_)));
}

#[test]
fn hooks_in_finalizers_stop_them() {
    let mut lua = Lua::with_newproxy(VERSION);
    let script = "local p = newproxy(true) getmetatable(p).__gc = function() while true do end end p = nil collectgarbage()";
    assert!(matches!(ended(&mut lua, script), Ended::Killed(_)));
    assert_eq!(text(&mut lua, "return 'fit'"), "fit");
    // The sandbox has no way to a finalizer.
    assert!(text(&mut self::lua(), "return newproxy").contains("nonexistent global variable 'newproxy'"));
}

#[test]
fn kill_that_nothing_catches() {
    let mut lua = lua();
    for script in [
        "while true do pcall(function() while true do end end) end",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        "while true do pcall(coroutine.wrap(function() while true do end end)) end",
        "while true do load(function() while true do end end) end",
        "while true do pcall(string.gsub, 'x', 'x', function() while true do end end) end",
        "while true do pcall(table.sort, {3, 2, 1}, function() while true do end end) end",
        "while true do pcall(tostring, setmetatable({}, {__tostring = function() while true do end end})) end",
    ] {
        let Ended::Killed(place) = ended(&mut lua, script) else { panic!("{script}") };
        assert_eq!(place.place, Some((b"@user_script".to_vec(), 1)), "{script}");
        assert_eq!(text(&mut lua, "return 'fit'"), "fit", "{script}");
    }
}

/// Answers ticks by a function, and all else as its host does.
struct Ticking<F>(TestHost, F);

impl<F: FnMut(&mut TestHost, u64) -> Tick> Host for Ticking<F> {
    fn call(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        self.0.call(arguments, reply)
    }
    fn may_call(&mut self, arguments: &[&[u8]]) -> Option<bool> {
        self.0.may_call(arguments)
    }
    fn log(&mut self, level: edgecask_core::script::Level, text: &[u8]) {
        self.0.log(level, text);
    }
    fn set_protocol(&mut self, protocol: edgecask_core::resp::Protocol) {
        self.0.set_protocol(protocol);
    }
    fn register_function(&mut self, function: &edgecask_core::script::NewFunction<'_>) -> Result<(), String> {
        self.0.register_function(function)
    }
    fn tick(&mut self, steps: u64) -> Tick {
        (self.1)(&mut self.0, steps)
    }
    fn clock_seconds(&mut self) -> f64 {
        self.0.clock_seconds()
    }
}

/// Ends the run at one of its ticks, counted from 1.
fn killing_at(at: u64) -> impl Host {
    Ticking(TestHost::new(), move |host: &mut TestHost, steps| {
        let tick = host.tick(steps);
        if host.ticks >= at { Tick::Kill } else { tick }
    })
}

#[test]
fn kills_amid_long_copies_end_them() {
    const MEGABYTES: u64 = 8;
    let long = format!("local m = string.rep('x', 1024 * 1024) local s = string.rep(m, {MEGABYTES}) ");
    let ticks = |script: &str| {
        let mut host = TestHost::new();
        run(&mut lua(), &mut host, script).expect("runs");
        host.ticks
    };
    let before = ticks(&long);
    for (copying, copied_megabytes) in [
        // Once into the buffer, once into the string.
        ("pcall(string.format, '%s%s', s, s)", 4 * MEGABYTES),
        ("pcall(function() return s .. 'y' end)", 2 * MEGABYTES),
        ("pcall(string.sub, s, 2)", MEGABYTES),
        ("pcall(table.concat, {s, s})", 4 * MEGABYTES),
    ] {
        let script = format!("{long} return {copying}");
        let all = ticks(&script);
        // A copy has one tick less than pieces.
        assert!(all - before >= copied_megabytes * 3 / 4, "{copying}: {} ticks", all - before);
        let mut lua = lua();
        for at in before + 1..=all {
            let ended = run(&mut lua, &mut killing_at(at), &script);
            assert!(matches!(ended, Err(Ended::Killed(_))), "{copying} at tick {at} of {all}: {ended:?}");
            while lua.collect_garbage() {}
            assert!(lua.memory_bytes() < 2 << 20, "{copying} at tick {at}: {} bytes", lua.memory_bytes());
            assert_eq!(text(&mut lua, "return 'alive'"), "alive");
        }
    }
}

#[test]
fn kills_amid_long_copies_end_calls_of_libraries() {
    const MEGABYTES: u64 = 4;
    let long = format!(
        "local s = string.rep(string.rep('1', 1024 * 1024), {MEGABYTES})
        local backwards = {{}} for i = 65536, 1, -1 do backwards[i] = i end "
    );
    let ticks = |script: &str| {
        let mut host = TestHost::new();
        run(&mut lua(), &mut host, script).expect("runs");
        host.ticks
    };
    let before = ticks(&long);
    for (call, least) in [
        // Once into the buffer, once into the results, once into the string.
        ("pcall(struct.pack, 's', s)", 3 * MEGABYTES),
        ("pcall(struct.pack, 'c' .. #s, s)", 3 * MEGABYTES),
        ("pcall(struct.unpack, 's', s .. '\\0')", 30 * MEGABYTES),
        ("pcall(struct.size, (s:gsub('1', 'b')))", 400 * MEGABYTES),
        ("pcall(struct.size, 'i' .. string.rep('0', #s))", 100 * MEGABYTES),
        ("pcall(cmsgpack.pack, s)", 3 * MEGABYTES),
        ("pcall(cmsgpack.unpack, cmsgpack.pack(s))", 5 * MEGABYTES),
        ("pcall(cmsgpack.pack, backwards)", 95),
        ("pcall(cjson.encode, backwards)", 100),
        ("pcall(cjson.encode, s)", 50 * MEGABYTES),
        ("pcall(cjson.decode, '[\"' .. s .. '\"]')", 50 * MEGABYTES),
    ] {
        let script = format!("{long} return {call}");
        let all = ticks(&script);
        assert!(all - before >= least * 3 / 4, "{call}: {} ticks", all - before);
        let mut lua = lua();
        for at in (before + 1..=all).step_by(((all - before) / 20 + 1) as usize) {
            let ended = run(&mut lua, &mut killing_at(at), &script);
            assert!(matches!(ended, Err(Ended::Killed(_))), "{call} at tick {at} of {all}: {ended:?}");
        }
        assert_eq!(text(&mut lua, "return 'alive'"), "alive");
    }
}

#[test]
fn a_long_string_is_no_number() {
    let see = "local function see(s)
            local sum, sums = pcall(function() return s + 1 end)
            return tostring(tonumber(s)) .. tostring(tonumber(s, 8)) .. tostring(sum)
                .. tostring(pcall(struct.pack, 'd', s))
        end
        return see(string.rep('0', 65535) .. '7') .. ' ' .. see(string.rep('0', 65536) .. '7')";
    assert_eq!(text(&mut lua(), see), "77truetrue nilnilfalsefalse");
    let kept = "return tostring(next(cjson.decode('{\"nan\":1}')))";
    assert_eq!(text(&mut lua(), kept), "nan");
}

#[test]
fn kills_amid_long_copies_end_growing_tables() {
    // The block of the table's array grows from 1 MiB to 32 MiB.
    let script = "local t = {} for i = 1, 2 ^ 20 + 1 do t[i] = i end return #t";
    let mut counting = TestHost::new();
    run(&mut lua(), &mut counting, script).expect("runs");
    let mut lua = lua();
    for at in (1..=counting.ticks).step_by(10) {
        let ended = run(&mut lua, &mut killing_at(at), script);
        assert!(matches!(ended, Err(Ended::Killed(_))), "at tick {at} of {}: {ended:?}", counting.ticks);
        while lua.collect_garbage() {}
        assert!(lua.memory_bytes() < 2 << 20, "at tick {at}: {} bytes", lua.memory_bytes());
    }
    assert_eq!(text(&mut lua, "return 'alive'"), "alive");
}

#[test]
fn kills_amid_growing_tables_lose_no_entry() {
    // A table that a library keeps from call to call.
    let library = b"#!lua name=l
        local t, n = {}, 0
        redis.register_function('grow', function() for i = 1, 2 ^ 17 + 1 do n = i t[i + 0.5] = i end end)
        redis.register_function('count', function()
            local count = 0
            for key, value in pairs(t) do count = count + (key == value + 0.5 and 1 or 0) end
            return (count == n or count == n - 1) and 'all' or count .. ' of ' .. n
        end)";
    let loaded = || {
        let (mut lua, mut host) = (lua(), TestHost::new());
        lua.load_library(library, limits(), &mut host).expect("loads");
        let ids: Vec<_> = host.functions.iter().map(|function| function.3).collect();
        (lua, ids)
    };
    let (mut lua, ids) = loaded();
    let mut value = Writer::new(usize::MAX);
    let mut counting = TestHost::new();
    lua.call_function(ids[0], &a_run(), &mut counting, &mut value).expect("runs");
    for at in 1..=counting.ticks {
        let (mut lua, ids) = loaded();
        let mut killing = killing_at(at);
        let ended = lua.call_function(ids[0], &a_run(), &mut killing, &mut value);
        assert!(matches!(ended, Err(Ended::Killed(_))), "at tick {at}: {ended:?}");
        let mut count = Writer::new(usize::MAX);
        lua.call_function(ids[1], &a_run(), &mut TestHost::new(), &mut count).expect("counts");
        assert!(count.as_bytes().ends_with(b"all"), "at tick {at}: {}", count.as_bytes().escape_ascii());
    }
}

#[test]
fn an_abandoned_run_leaves_no_trace_in_the_interpreter() {
    let mut lua = lua();
    let script = "local ok, e = pcall(function()
            return coroutine.wrap(function() return redis.pcall('SET', 'a', 1) end)()
        end)
        redis.log(redis.LOG_WARNING, 'noticed')
        return 'went on'";
    for answer in [Answer::Abandon, Answer::Kill] {
        let mut host = TestHost { at_call: Some((1, answer)), ..TestHost::new() };
        let outcome = run(&mut lua, &mut host, script).expect_err("ends");
        assert_eq!(outcome == Ended::Abandoned, answer == Answer::Abandon);
        assert_eq!((host.calls, host.log.len()), (1, 0));
    }
    assert_eq!(text(&mut lua, script), "went on");
}

#[test]
fn a_panic_of_the_host_passes_through_and_the_interpreter_stays_fit() {
    let mut lua = lua();
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut host = TestHost { panics_at_call: Some(1), ..TestHost::new() };
        run(&mut lua, &mut host, "pcall(redis.call, 'PING') return 1")
    }));
    let text_of = |panic: &dyn std::any::Any| panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    assert_eq!(text_of(&*panic.expect_err("the panic goes on")), Some("the host panics".into()));
    assert_eq!(text(&mut lua, "return 'fit'"), "fit");
}

#[test]
fn errors_by_the_host_are_those_of_the_machine() {
    // On WebAssembly errors go through the host; the same scripts give the same there (tests/wasm runs this corpus).
    assert_eq!(text(&mut lua(), "local ok, e = pcall(error, 'x') return tostring(ok) .. e"), "falsex");
}

#[test]
fn small_buffers_let_calls_of_c_nest_on_a_small_stack() {
    let script = "local function f(n) if n == 0 then return 'deep' end return (string.gsub('x', 'x', function() return f(n - 1) end)) end
        return f(60)";
    let nested = std::thread::Builder::new().stack_size(512 * 1024).spawn(move || text(&mut lua(), script));
    assert_eq!(nested.expect("a thread").join().expect("no overflow"), "deep");
    let endless = "local function f() return (string.gsub('x', 'x', f)) end return f()";
    let nested = std::thread::Builder::new().stack_size(1024 * 1024).spawn(move || text(&mut lua(), endless));
    assert!(nested.expect("a thread").join().expect("no overflow").contains("C stack overflow"));
}

#[test]
fn no_files_are_within_reach() {
    for name in [
        "io", "dofile", "loadfile", "print", "require", "package", "module", "debug", "getfenv", "setfenv",
        "newproxy",
    ] {
        let answer = text(&mut lua(), &format!("return {name}"));
        assert!(answer.ends_with(&format!("nonexistent global variable '{name}'")), "{name}: {answer}");
    }
    assert_eq!(
        text(&mut lua(), "local t = {} for k in pairs(os) do t[#t + 1] = k end return table.concat(t, ' ')"),
        "clock"
    );
    assert_eq!(text(&mut lua(), "return tostring(os.clock())"), "12.5");
}

#[test]
fn pointers_print_alike_everywhere() {
    assert_eq!(text(&mut lua(), "return tostring(cjson.null)"), "userdata: (nil)");
    assert!(text(&mut lua(), "return tostring({})").starts_with("table: 0x"));
}

#[test]
fn integers_of_64_bits_print_and_read_alike_everywhere() {
    let script = "return table.concat({('%d'):format(2^53), ('%d'):format(1e20), ('%x'):format(-1), ('%u'):format(2^63),
        tostring(tonumber('ffffffffff', 16)), ('%d'):format(-0.5)}, ' ')";
    let printed =
        "9007199254740992 -9223372036854775808 ffffffffffffffff 9223372036854775808 1099511627775 0";
    assert_eq!(text(&mut lua(), script), printed);
}

#[test]
fn settings_and_random_numbers_begin_anew_with_every_run() {
    let mut lua = lua();
    let script = "cjson.encode_number_precision(3) math.random() return cjson.encode(1/3) .. ' ' .. tostring(math.random())";
    let first = text(&mut lua, script);
    assert_eq!(text(&mut lua, script), first);
    assert_eq!(text(&mut lua, "return cjson.encode(1/3)"), "0.33333333333333");
    assert_eq!(text(&mut lua, "return tostring(collectgarbage('setpause', 100))"), "200");
    assert_eq!(text(&mut lua, "return tostring(collectgarbage('setpause', 100))"), "200");
}

#[test]
fn a_library_that_fails_leaves_no_function() {
    let mut lua = lua();
    let mut host = TestHost::new();
    let body = b"#!lua name=l\nredis.register_function('a', function() end)\nredis.foo()";
    let Err(LoadError::Run(Ended::Failed(failure))) = lua.load_library(body, limits(), &mut host) else {
        panic!("loads")
    };
    assert_eq!(
        String::from_utf8_lossy(&failure.message),
        "ERR user_function:3: Script attempted to access nonexistent global variable 'foo'"
    );
    let before = lua.memory_bytes();
    for _ in 0..1000 {
        let mut host = TestHost::new();
        assert!(lua.load_library(body, limits(), &mut host).is_err());
    }
    while lua.collect_garbage() {}
    assert!(lua.memory_bytes() < before + (1 << 20), "{before} bytes became {}", lua.memory_bytes());
    let mut host = TestHost::with_deadline(20.0);
    let endless = b"#!lua name=l\nwhile redis do end";
    assert!(matches!(lua.load_library(endless, limits(), &mut host), Err(LoadError::Run(Ended::Killed(_)))));
    let good = b"#!lua name=l\nlocal n = 0 redis.register_function('a', function() n = n + 1 return n end)";
    let mut host = TestHost::new();
    lua.load_library(good, limits(), &mut host).expect("loads");
    let mut value = Writer::new(usize::MAX);
    for expected in [1.0, 2.0] {
        value.reset(usize::MAX);
        lua.call_function(host.functions[0].3, &a_run(), &mut TestHost::new(), &mut value).expect("runs");
        assert_eq!(Reader::new(value.as_bytes()).next(), Some(Value::Number(expected)));
    }
}

#[test]
fn scripts_that_are_dropped_leave_no_memory() {
    let mut lua = lua();
    let mut host = TestHost::new();
    let mut before = 0;
    for round in 0..2000 {
        let source = format!("local a, b = 'some text {round}', {{1, 2, 3}} return a .. #b");
        let id = lua.compile(source.as_bytes(), limits(), &mut host).expect("compiles");
        lua.drop_script(id);
        if round == 100 {
            before = lua.memory_bytes();
        }
    }
    while lua.collect_garbage() {}
    assert!(lua.memory_bytes() < before + (1 << 20), "{before} bytes became {}", lua.memory_bytes());
}

#[test]
fn ticks_come_at_least_every_ten_thousand_steps_or_so() {
    let mut longest = 0;
    let mut host = Ticking(TestHost::new(), |host: &mut TestHost, steps| {
        longest = longest.max(steps);
        host.tick(steps)
    });
    run(&mut lua(), &mut host, "local n = 0 for i = 1, 1e6 do n = n + i end return n").expect("runs");
    assert!((1_900_000..2_500_000).contains(&host.0.steps), "{} steps", host.0.steps);
    assert!(longest <= 11_000, "{longest} steps between two ticks");
}
