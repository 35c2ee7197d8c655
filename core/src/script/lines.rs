//! An interpreter for tests: every line of a source is a command that is called. `K1` stands for the first key, `A1` for the first
//! argument, `V` for what the line before has given. The value is that of the last line.
//!
//! `fail TEXT` raises an error, `trap TEXT` is the interpreter's own end, `spin` goes on until it is killed, `devour` needs more memory than there is, and in a library
//! `function NAME` begins a function, which is registered.

use std::collections::HashMap;

use super::{
    CompileError, Ended, Failure, FunctionId, Host, LoadError, NewFunction, Reader, Run, RunLimits, Runtime,
    ScriptFlags, ScriptId, Tick, Value, Writer,
};
use crate::script::Answer;

type Line = Vec<Vec<u8>>;

/// The interpreter.
#[derive(Default)]
pub(crate) struct Lines {
    programs: HashMap<u32, Vec<Line>>,
    next: u32,
}

fn failure(message: &[u8]) -> Failure {
    Failure { message: message.to_vec(), place: None, is_plain: false, is_counted: false }
}

fn lines(source: &[u8]) -> Vec<Line> {
    let words = |line: &[u8]| -> Line {
        line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let lines = source.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#!"));
    lines.map(words).filter(|line| !line.is_empty()).collect()
}

/// A text, or the texts of a list with commas between them.
fn shown(value: &Writer) -> Vec<u8> {
    let text = |value| if let Value::Text(text) = value { text.to_vec() } else { b"-".to_vec() };
    match Reader::new(value.as_bytes()).next() {
        Some(Value::Table(table)) => table.values().map(text).collect::<Vec<_>>().join(&b','),
        value => text(value.unwrap_or(Value::Nil)),
    }
}

impl Lines {
    fn add(&mut self, program: Vec<Line>) -> u32 {
        self.next += 1;
        self.programs.insert(self.next, program);
        self.next
    }

    fn run_program(
        &self,
        number: u32,
        run: &Run<'_>,
        host: &mut dyn Host,
        value: &mut Writer,
    ) -> Result<(), Ended> {
        let program = self.programs.get(&number).map(Vec::as_slice).unwrap_or_default();
        value.reset(usize::MAX);
        let mut before = Vec::new();
        for line in program {
            let argument = |word: &'_ Vec<u8>| match word.as_slice() {
                [b'K', digit] => run.keys.get(usize::from(digit - b'1')).map(|key| key.to_vec()),
                [b'A', digit] => {
                    run.arguments.get(usize::from(digit - b'1')).map(|argument| argument.to_vec())
                }
                b"V" => Some(before.clone()),
                _ => Some(word.clone()),
            };
            let words: Vec<Vec<u8>> = line.iter().map(|word| argument(word).unwrap_or_default()).collect();
            match words.first().map(Vec::as_slice) {
                Some(b"fail") => return Err(Ended::Failed(failure(&words[1..].join(&b' ')))),
                Some(b"trap") => {
                    return Err(Ended::Failed(Failure {
                        is_plain: true,
                        ..failure(&words[1..].join(&b' '))
                    }));
                }
                Some(b"devour") => return Err(Ended::Failed(Failure::out_of_memory())),
                Some(b"spin") => {
                    while host.tick(10_000) == Tick::Continue {}
                    return Err(Ended::Killed(failure(b"")));
                }
                _ => {}
            }
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            value.reset(usize::MAX);
            match host.call(&words, value) {
                Answer::Value => before = shown(value),
                Answer::Error => {
                    let text = super::Reader::new(value.as_bytes()).next();
                    let text =
                        if let Some(super::Value::Text(text)) = text { text.to_vec() } else { Vec::new() };
                    return Err(Ended::Failed(Failure { is_counted: true, ..failure(&text) }));
                }
                Answer::Abandon => return Err(Ended::Abandoned),
                Answer::Kill => return Err(Ended::Killed(failure(b""))),
            }
        }
        Ok(())
    }
}

impl Runtime for Lines {
    fn compile(&mut self, source: &[u8], _: RunLimits, _: &mut dyn Host) -> Result<ScriptId, CompileError> {
        if source.starts_with(b"wrong") {
            return Err(CompileError::Syntax(b"user_script:1: wrong".to_vec()));
        }
        Ok(ScriptId(self.add(lines(source))))
    }

    fn drop_script(&mut self, script: ScriptId) {
        self.programs.remove(&script.0);
    }

    fn run(
        &mut self,
        script: ScriptId,
        run: &Run<'_>,
        host: &mut dyn Host,
        value: &mut Writer,
    ) -> Result<(), Ended> {
        self.run_program(script.0, run, host, value)
    }

    fn load_library(&mut self, source: &[u8], _: RunLimits, host: &mut dyn Host) -> Result<(), LoadError> {
        let mut functions: Vec<(Vec<u8>, Vec<Line>)> = Vec::new();
        for line in lines(source) {
            match line.as_slice() {
                [word, name] if word == b"function" => functions.push((name.clone(), Vec::new())),
                _ => functions.last_mut().into_iter().for_each(|(_, body)| body.push(line.clone())),
            }
        }
        let mut ids = Vec::new();
        for (name, body) in functions {
            let id = FunctionId(self.add(body));
            ids.push(id);
            let new = NewFunction { name: &name, description: None, flags: ScriptFlags::NONE, id };
            if let Err(text) = host.register_function(&new) {
                ids.into_iter().for_each(|id| self.drop_function(id));
                return Err(LoadError::Run(Ended::Failed(failure(format!("ERR {text}").as_bytes()))));
            }
        }
        Ok(())
    }

    fn drop_function(&mut self, function: FunctionId) {
        self.programs.remove(&function.0);
    }

    fn call_function(
        &mut self,
        function: FunctionId,
        run: &Run<'_>,
        host: &mut dyn Host,
        value: &mut Writer,
    ) -> Result<(), Ended> {
        self.run_program(function.0, run, host, value)
    }

    fn collect_garbage(&mut self) -> bool {
        false
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}
