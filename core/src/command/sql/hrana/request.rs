//! A body of JSON becomes requests. Nothing here runs.

use base64::prelude::{BASE64_STANDARD_NO_PAD, Engine};
use serde_json::{Map, Value};

use crate::limits::SQL_HRANA_STEPS_MAX;
use crate::sql::{Parameter, SqlValue};

/// Which of the two kinds of bodies it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Pipeline,
    Cursor,
}

#[derive(Debug)]
pub(super) struct Body {
    pub baton: Option<String>,
    pub requests: Vec<Request>,
}

#[derive(Debug)]
pub(super) enum Request {
    Close,
    Execute(Statement),
    Batch(Vec<Step>),
    Sequence(Sql),
    Describe(Sql),
    StoreSql(i64, String),
    CloseSql(i64),
    GetAutocommit,
    /// One that nobody knows; it fails by itself.
    Unknown(String),
}

/// A text, or the number under which the stream has stored it.
#[derive(Debug)]
pub(super) enum Sql {
    Text(String),
    Stored(i64),
}

#[derive(Debug)]
pub(super) struct Statement {
    pub sql: Sql,
    pub arguments: Vec<Argument>,
    pub wants_rows: bool,
}

#[derive(Debug)]
pub(super) struct Argument {
    name: Option<String>,
    value: Owned,
}

#[derive(Debug)]
enum Owned {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Argument {
    pub fn parameter(&self) -> Parameter<'_> {
        let value = match &self.value {
            Owned::Null => SqlValue::Null,
            Owned::Integer(number) => SqlValue::Integer(*number),
            Owned::Real(number) => SqlValue::Real(*number),
            Owned::Text(text) => SqlValue::Text(text.as_bytes()),
            Owned::Blob(bytes) => SqlValue::Blob(bytes),
        };
        Parameter { name: self.name.as_ref().map(String::as_bytes), value }
    }
}

#[derive(Debug)]
pub(super) struct Step {
    pub condition: Option<Condition>,
    pub statement: Statement,
}

#[derive(Debug)]
pub(super) enum Condition {
    Ok(usize),
    Error(usize),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    IsAutocommit,
}

/// What is wrong with a body.
type Fault = String;

impl Body {
    pub fn read(bytes: &[u8], wanted: Wanted) -> Result<Body, Fault> {
        let body: Value =
            serde_json::from_slice(bytes).map_err(|error| format!("the body is no JSON: {error}"))?;
        let Value::Object(mut body) = body else { return Err("the body is no object".into()) };
        let baton = match body.remove("baton") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(_) => return Err("the baton is no string".into()),
        };
        let requests = match wanted {
            Wanted::Cursor => vec![Request::Batch(read_steps(body.remove("batch"))?)],
            Wanted::Pipeline => match body.remove("requests") {
                Some(Value::Array(requests)) if requests.len() <= SQL_HRANA_STEPS_MAX => {
                    requests.into_iter().map(read_request).collect::<Result<_, _>>()?
                }
                Some(Value::Array(_)) => return Err("too many requests".into()),
                _ => return Err("there are no requests".into()),
            },
        };
        Ok(Body { baton, requests })
    }
}

fn object(value: Option<Value>, what: &str) -> Result<Map<String, Value>, Fault> {
    match value {
        Some(Value::Object(object)) => Ok(object),
        _ => Err(format!("{what} is no object")),
    }
}

fn kind_of(object: &mut Map<String, Value>) -> Result<String, Fault> {
    match object.remove("type") {
        Some(Value::String(kind)) => Ok(kind),
        _ => Err("an object has no type".into()),
    }
}

fn number_of(object: &Map<String, Value>, name: &str) -> Result<i64, Fault> {
    object.get(name).and_then(Value::as_i64).ok_or_else(|| format!("{name} is no integer"))
}

fn read_request(value: Value) -> Result<Request, Fault> {
    let mut request = object(Some(value), "a request")?;
    Ok(match kind_of(&mut request)?.as_str() {
        "close" => Request::Close,
        "execute" => Request::Execute(read_statement(request.remove("stmt"))?),
        "batch" => Request::Batch(read_steps(request.remove("batch"))?),
        "sequence" => Request::Sequence(read_sql(&mut request)?),
        "describe" => Request::Describe(read_sql(&mut request)?),
        "store_sql" => match request.remove("sql") {
            Some(Value::String(text)) => Request::StoreSql(number_of(&request, "sql_id")?, text),
            _ => return Err("sql is no string".into()),
        },
        "close_sql" => Request::CloseSql(number_of(&request, "sql_id")?),
        "get_autocommit" => Request::GetAutocommit,
        unknown => Request::Unknown(unknown.to_owned()),
    })
}

fn read_sql(object: &mut Map<String, Value>) -> Result<Sql, Fault> {
    match object.remove("sql") {
        Some(Value::String(text)) => Ok(Sql::Text(text)),
        None | Some(Value::Null) => Ok(Sql::Stored(number_of(object, "sql_id")?)),
        Some(_) => Err("sql is no string".into()),
    }
}

fn read_statement(value: Option<Value>) -> Result<Statement, Fault> {
    let mut statement = object(value, "stmt")?;
    let mut arguments = Vec::new();
    for value in list(statement.remove("args"), "args")? {
        arguments.push(Argument { name: None, value: read_value(value)? });
    }
    for value in list(statement.remove("named_args"), "named_args")? {
        let mut named = object(Some(value), "a named argument")?;
        let Some(Value::String(name)) = named.remove("name") else {
            return Err("a named argument has no name".into());
        };
        let value = read_value(named.remove("value").unwrap_or_default())?;
        arguments.push(Argument { name: Some(name), value });
    }
    let wants_rows = statement.get("want_rows").and_then(Value::as_bool).unwrap_or(true);
    Ok(Statement { sql: read_sql(&mut statement)?, arguments, wants_rows })
}

fn list(value: Option<Value>, what: &str) -> Result<Vec<Value>, Fault> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) => Ok(values),
        Some(_) => Err(format!("{what} is no array")),
    }
}

fn read_value(value: Value) -> Result<Owned, Fault> {
    let mut value = object(Some(value), "a value")?;
    let kind = kind_of(&mut value)?;
    let content = value.remove("value");
    match (kind.as_str(), content) {
        ("null", _) => Ok(Owned::Null),
        ("integer", Some(Value::String(text))) => {
            text.parse().map(Owned::Integer).map_err(|_| "an integer does not fit into 64 bits".into())
        }
        ("integer", Some(Value::Number(number))) => {
            number.as_i64().map(Owned::Integer).ok_or_else(|| "an integer does not fit into 64 bits".into())
        }
        ("float", Some(Value::Number(number))) => {
            number.as_f64().map(Owned::Real).ok_or_else(|| "a float is none".into())
        }
        ("text", Some(Value::String(text))) => Ok(Owned::Text(text)),
        ("blob", _) => match value.remove("base64") {
            Some(Value::String(text)) => {
                let bytes = BASE64_STANDARD_NO_PAD.decode(text.trim_end_matches('='));
                bytes.map(Owned::Blob).map_err(|_| "a blob is no base64".into())
            }
            _ => Err("a blob has no base64".into()),
        },
        _ => Err(format!("a value of type {kind:?} is not understood")),
    }
}

fn read_steps(value: Option<Value>) -> Result<Vec<Step>, Fault> {
    let mut batch = object(value, "batch")?;
    let steps = list(batch.remove("steps"), "steps")?;
    if steps.len() > SQL_HRANA_STEPS_MAX {
        return Err("too many steps".into());
    }
    steps.into_iter().enumerate().map(|(at, step)| read_step(at, step)).collect()
}

fn read_step(at: usize, step: Value) -> Result<Step, Fault> {
    let mut step = object(Some(step), "a step")?;
    let condition = match step.remove("condition") {
        None | Some(Value::Null) => None,
        Some(condition) => Some(read_condition(at, condition)?),
    };
    Ok(Step { condition, statement: read_statement(step.remove("stmt"))? })
}

/// Recurses as deep as JSON may be nested.
fn read_condition(at: usize, condition: Value) -> Result<Condition, Fault> {
    let mut condition = object(Some(condition), "a condition")?;
    let kind = kind_of(&mut condition)?;
    let step = |condition: &Map<String, Value>| {
        let step = usize::try_from(number_of(condition, "step")?).ok().filter(|step| *step < at);
        step.ok_or_else(|| Fault::from("a condition is about a step that did not come before"))
    };
    let all = |condition: &mut Map<String, Value>| {
        let conditions = list(condition.remove("conds"), "conds")?;
        conditions.into_iter().map(|one| read_condition(at, one)).collect::<Result<Vec<_>, _>>()
    };
    Ok(match kind.as_str() {
        "ok" => Condition::Ok(step(&condition)?),
        "error" => Condition::Error(step(&condition)?),
        "not" => Condition::Not(Box::new(read_condition(at, condition.remove("cond").unwrap_or_default())?)),
        "and" => Condition::All(all(&mut condition)?),
        "or" => Condition::Any(all(&mut condition)?),
        "is_autocommit" => Condition::IsAutocommit,
        _ => return Err(format!("a condition of type {kind:?} is not known")),
    })
}
