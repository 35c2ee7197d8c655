//! Several requests as one: tuples, arrays and lists of requests that stand on nothing, each with its own type of reply.

use crate::build::Build;
use crate::error::Result;
use crate::reply::{FromReply, ReplyReader};
use crate::request::Request;

/// Requests that are sent together: a tuple, an array or a `Vec` of requests that stand on nothing (made by
/// [`Build`]).
pub trait Requests {
    /// Their replies: a tuple or a `Vec`.
    type Replies;

    /// How many there are.
    fn count(&self) -> usize;

    /// For how many milliseconds they may block their connection in all, `u64::MAX` for ever. Those that may have one of their own.
    fn blocking_ms(&self) -> u64 {
        0
    }

    /// Appends them to `out`.
    ///
    /// # Errors
    /// A value cannot be an argument.
    fn write_to(&self, out: &mut Vec<u8>) -> Result<()>;

    /// Reads their replies.
    ///
    /// # Errors
    /// One of them is an error or of another type. A reply of type `Result<T, ServerError>` is never an error.
    fn read(&self, reader: &mut ReplyReader) -> Result<Self::Replies>;
}

impl<Kind, Reply: FromReply> Requests for Request<Build, Kind, Reply> {
    type Replies = Reply;

    fn count(&self) -> usize {
        1
    }

    fn blocking_ms(&self) -> u64 {
        self.waits_for_ms()
    }

    fn write_to(&self, out: &mut Vec<u8>) -> Result<()> {
        self.words().check()?;
        self.words().write_to(out);
        Ok(())
    }

    fn read(&self, reader: &mut ReplyReader) -> Result<Reply> {
        reader.next_value()
    }
}

impl<R: Requests> Requests for [R] {
    type Replies = Vec<R::Replies>;

    fn count(&self) -> usize {
        self.iter().map(Requests::count).sum()
    }

    fn blocking_ms(&self) -> u64 {
        self.iter().map(Requests::blocking_ms).fold(0, u64::saturating_add)
    }

    fn write_to(&self, out: &mut Vec<u8>) -> Result<()> {
        self.iter().try_for_each(|request| request.write_to(out))
    }

    fn read(&self, reader: &mut ReplyReader) -> Result<Self::Replies> {
        self.iter().map(|request| request.read(reader)).collect()
    }
}

macro_rules! as_slice {
    ($(impl [$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> Requests for $type {
            type Replies = Vec<R::Replies>;

            fn count(&self) -> usize {
                self.as_slice().count()
            }

            fn blocking_ms(&self) -> u64 {
                self.as_slice().blocking_ms()
            }

            fn write_to(&self, out: &mut Vec<u8>) -> Result<()> {
                self.as_slice().write_to(out)
            }

            fn read(&self, reader: &mut ReplyReader) -> Result<Self::Replies> {
                self.as_slice().read(reader)
            }
        }
    )*};
}

as_slice! {
    impl [R: Requests] Vec<R>;
    impl [R: Requests, const N: usize] [R; N];
}

impl<R: Requests + ?Sized> Requests for &R {
    type Replies = R::Replies;

    fn count(&self) -> usize {
        (**self).count()
    }

    fn blocking_ms(&self) -> u64 {
        (**self).blocking_ms()
    }

    fn write_to(&self, out: &mut Vec<u8>) -> Result<()> {
        (**self).write_to(out)
    }

    fn read(&self, reader: &mut ReplyReader) -> Result<Self::Replies> {
        (**self).read(reader)
    }
}

macro_rules! tuples {
    ($($($name:ident $place:tt),*;)*) => {$(
        impl<$($name: Requests),*> Requests for ($($name,)*) {
            type Replies = ($($name::Replies,)*);

            fn count(&self) -> usize {
                0 $(+ self.$place.count())*
            }

            fn blocking_ms(&self) -> u64 {
                0_u64 $(.saturating_add(self.$place.blocking_ms()))*
            }

            fn write_to(&self, out: &mut Vec<u8>) -> Result<()> {
                $(self.$place.write_to(out)?;)*
                Ok(())
            }

            fn read(&self, reader: &mut ReplyReader) -> Result<Self::Replies> {
                Ok(($(self.$place.read(reader)?,)*))
            }
        }
    )*};
}

tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}
