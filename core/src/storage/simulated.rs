//! A device that loses power.
