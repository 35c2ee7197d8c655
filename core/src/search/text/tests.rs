//! Tables of texts and their words, the folding table beside Unicode's data, and properties over random bytes.

mod analyzers;
mod folding_table;
mod properties;
mod stems;

pub(crate) use properties::Random;
