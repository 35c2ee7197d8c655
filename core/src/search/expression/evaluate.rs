//! The value of a tree for a row.

use super::super::value::{Message, Value, message};
use super::functions::{self, Function};
use super::{Expression, Lookup, Node, Operator};

/// Why there is no value.
pub(super) enum Stop {
    /// A property of this number has none.
    Missing(usize),
    /// The text for the client.
    Error(Message),
}

impl From<Message> for Stop {
    fn from(text: Message) -> Stop {
        Stop::Error(text)
    }
}

pub(super) fn evaluate<'a>(expression: &'a Expression, row: Lookup<'a>) -> Result<Value, Message> {
    value(&expression.root, row).map_err(|stop| match stop {
        Stop::Error(text) => text,
        Stop::Missing(at) => {
            let name = expression.names.get(at).map_or(&b""[..], Vec::as_slice);
            let why =
                b"Could not find the value for a parameter name, consider using EXISTS if applicable for ";
            message(&[why, name])
        }
    })
}

/// Recursion: `DEPTH_MAX` bounds the tree.
fn value<'a>(node: &'a Node, row: Lookup<'a>) -> Result<Value, Stop> {
    match node {
        Node::Literal(value) => Ok(value.clone()),
        Node::Property(at) => row(*at).cloned().ok_or(Stop::Missing(*at)),
        Node::Not(inner) => Ok(Value::truth(!value(inner, row)?.is_true())),
        Node::Binary(Operator::Or, left, right) => {
            Ok(Value::truth(value(left, row)?.is_true() || value(right, row)?.is_true()))
        }
        Node::Binary(Operator::And, left, right) => {
            Ok(Value::truth(value(left, row)?.is_true() && value(right, row)?.is_true()))
        }
        Node::Binary(operator, left, right) => Ok(apply(*operator, &value(left, row)?, &value(right, row)?)?),
        Node::Call(function, arguments) => call(*function, arguments, row),
    }
}

fn call<'a>(function: Function, arguments: &'a [Node], row: Lookup<'a>) -> Result<Value, Stop> {
    match (function, arguments) {
        (Function::Exists, [argument]) => match value(argument, row) {
            Ok(found) => Ok(Value::truth(found != Value::Null)),
            Err(Stop::Missing(_)) => Ok(Value::truth(false)),
            Err(stop) => Err(stop),
        },
        (Function::Case, [condition, then, otherwise]) => {
            value(if value(condition, row)?.is_true() { then } else { otherwise }, row)
        }
        (Function::MatchedTerms, [terms, most @ ..]) => {
            let most = most.first().map(|most| value(most, row)).transpose()?;
            match value(terms, row) {
                Ok(terms) => Ok(functions::matched_terms(&terms, most.as_ref())),
                Err(_) => Ok(Value::Null),
            }
        }
        _ => {
            let values =
                arguments.iter().map(|argument| value(argument, row)).collect::<Result<Vec<_>, _>>()?;
            Ok(functions::apply(function, &values)?)
        }
    }
}

fn apply(operator: Operator, left: &Value, right: &Value) -> Result<Value, Message> {
    let is_true = match operator {
        Operator::Equal => left.equals(right),
        Operator::NotEqual => !left.equals(right),
        Operator::Less => left.compare(right)?.is_lt(),
        Operator::LessOrEqual => left.compare(right)?.is_le(),
        Operator::Greater => left.compare(right)?.is_gt(),
        Operator::GreaterOrEqual => left.compare(right)?.is_ge(),
        _ => {
            let (Some(one), Some(two)) = (left.to_number(), right.to_number()) else {
                return Err("Could not convert value to a number".into());
            };
            return Ok(Value::Number(calculate(operator, one, two)));
        }
    };
    Ok(Value::truth(is_true))
}

fn calculate(operator: Operator, one: f64, two: f64) -> f64 {
    let result = match operator {
        Operator::Add => one + two,
        Operator::Subtract => one - two,
        Operator::Multiply => one * two,
        Operator::Divide if two == 0.0 => return f64::NAN,
        Operator::Divide => one / two,
        Operator::Remainder => one % two,
        _ => one.powf(two),
    };
    functions::settled(result, &[one, two])
}
