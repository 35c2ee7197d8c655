//! What may be an argument of a request: [`ToArg`] for one, [`ToArgs`] for any number.
//!
//! A type of one's own becomes an argument by one method:
//!
//! ```
//! use edgecask_client::{ToArg, Words};
//!
//! struct UserId(u64);
//!
//! impl ToArg for UserId {
//!     fn write_to(&self, words: &mut Words) {
//!         words.push_integer(self.0);
//!     }
//! }
//! ```

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use crate::words::Words;

/// A value that is one argument.
pub trait ToArg {
    /// Appends exactly one argument.
    fn write_to(&self, words: &mut Words);
}

/// A value, or several of them side by side, as arguments that may come again (`DEL key [key ...]`).
pub trait ToArgs {
    /// How many arguments it is.
    fn count(&self) -> usize;

    /// Appends that many arguments.
    fn write_all(&self, words: &mut Words);
}

macro_rules! single {
    ($(impl [$($generics:tt)*] $type:ty: |$value:ident, $words:ident| $write:expr;)*) => {$(
        impl<$($generics)*> ToArg for $type {
            fn write_to(&self, $words: &mut Words) {
                let $value = self;
                $write;
            }
        }

        impl<$($generics)*> ToArgs for $type {
            fn count(&self) -> usize {
                1
            }

            fn write_all(&self, words: &mut Words) {
                self.write_to(words);
            }
        }
    )*};
}

single! {
    impl [] str: |text, words| words.push(text.as_bytes());
    impl [] String: |text, words| words.push(text.as_bytes());
    impl [] [u8]: |bytes, words| words.push(bytes);
    impl [] Vec<u8>: |bytes, words| words.push(bytes);
    impl [const N: usize] [u8; N]: |bytes, words| words.push(bytes);
    impl [] char: |one, words| words.push(one.encode_utf8(&mut [0; 4]).as_bytes());
    impl [] i8: |value, words| words.push_integer(*value);
    impl [] i16: |value, words| words.push_integer(*value);
    impl [] i32: |value, words| words.push_integer(*value);
    impl [] i64: |value, words| words.push_integer(*value);
    impl [] i128: |value, words| words.push_integer(*value);
    impl [] isize: |value, words| words.push_integer(*value);
    impl [] u16: |value, words| words.push_integer(*value);
    impl [] u32: |value, words| words.push_integer(*value);
    impl [] u64: |value, words| words.push_integer(*value);
    impl [] u128: |value, words| words.push_integer(*value);
    impl [] usize: |value, words| words.push_integer(*value);
    impl [] f32: |value, words| words.push_double(f64::from(*value));
    impl [] f64: |value, words| words.push_double(*value);
    impl [] bool: |value, words| words.push(if *value { b"1" } else { b"0" });
    impl [] Cow<'_, str>: |text, words| words.push(text.as_bytes());
    impl [] Cow<'_, [u8]>: |bytes, words| words.push(bytes);
}

impl<T: ToArg + ?Sized> ToArg for &T {
    fn write_to(&self, words: &mut Words) {
        (**self).write_to(words);
    }
}

impl<T: ToArgs + ?Sized> ToArgs for &T {
    fn count(&self) -> usize {
        (**self).count()
    }

    fn write_all(&self, words: &mut Words) {
        (**self).write_all(words);
    }
}

macro_rules! pointer {
    ($($pointer:ident)*) => {$(
        impl<T: ToArg + ?Sized> ToArg for $pointer<T> {
            fn write_to(&self, words: &mut Words) {
                (**self).write_to(words);
            }
        }

        impl<T: ToArgs + ?Sized> ToArgs for $pointer<T> {
            fn count(&self) -> usize {
                (**self).count()
            }

            fn write_all(&self, words: &mut Words) {
                (**self).write_all(words);
            }
        }
    )*};
}

pointer! { Box Rc Arc }

// `u8` is no argument by itself, so that a slice of bytes is one argument and not many.
macro_rules! several {
    ($(impl [$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> ToArgs for $type {
            fn count(&self) -> usize {
                self.len()
            }

            fn write_all(&self, words: &mut Words) {
                self.iter().for_each(|value| value.write_to(words));
            }
        }
    )*};
}

several! {
    impl [T: ToArg] [T];
    impl [T: ToArg] Vec<T>;
    impl [T: ToArg, const N: usize] [T; N];
    impl [T: ToArg] std::collections::VecDeque<T>;
    impl [T: ToArg] std::collections::BTreeSet<T>;
    impl [T: ToArg, S] std::collections::HashSet<T, S>;
}

/// A value as JSON, by serde; as a result it is read from a string of JSON.
#[cfg(feature = "json")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Json<T>(pub T);

#[cfg(feature = "json")]
impl<T: serde_core::Serialize> ToArg for Json<T> {
    fn write_to(&self, words: &mut Words) {
        match serde_json::to_string(&self.0) {
            Ok(text) => words.push(text.as_bytes()),
            // A map whose keys are no strings, or the type's own `Serialize` failed.
            Err(error) => words.refuse(crate::Error::Invalid(error.to_string().into())),
        }
    }
}

#[cfg(feature = "json")]
impl<T: serde_core::Serialize> ToArgs for Json<T> {
    fn count(&self) -> usize {
        1
    }

    fn write_all(&self, words: &mut Words) {
        self.write_to(words);
    }
}

macro_rules! side_by_side {
    ($($($name:ident $place:tt),*;)*) => {$(
        /// Arguments of different types, one after the other.
        impl<$($name: ToArgs),*> ToArgs for ($($name,)*) {
            fn count(&self) -> usize {
                0 $(+ self.$place.count())*
            }

            fn write_all(&self, words: &mut Words) {
                $(self.$place.write_all(words);)*
            }
        }
    )*};
}

side_by_side! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}

macro_rules! pairs {
    ($(impl [$($generics:tt)*] $type:ty;)*) => {$(
        /// Pairs, each of which is two arguments.
        impl<K: ToArg, V: ToArg, $($generics)*> ToArgs for $type {
            fn count(&self) -> usize {
                2 * self.len()
            }

            fn write_all(&self, words: &mut Words) {
                for (key, value) in self {
                    key.write_to(words);
                    value.write_to(words);
                }
            }
        }
    )*};
}

pairs! {
    impl [] [(K, V)];
    impl [] Vec<(K, V)>;
    impl [const N: usize] [(K, V); N];
    impl [] std::collections::BTreeMap<K, V>;
    impl [S] std::collections::HashMap<K, V, S>;
}

/// No argument.
impl ToArgs for () {
    fn count(&self) -> usize {
        0
    }

    fn write_all(&self, _words: &mut Words) {}
}

/// One argument or none.
impl<T: ToArg> ToArgs for Option<T> {
    fn count(&self) -> usize {
        usize::from(self.is_some())
    }

    fn write_all(&self, words: &mut Words) {
        if let Some(value) = self {
            value.write_to(words);
        }
    }
}
