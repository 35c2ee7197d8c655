// Made from the table of commands by core/tests/client_methods. Do not edit.

//! Words of which one must be chosen.

/// One of `AND`, `OR`, `XOR`, `NOT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AndOrOrOrXorOrNot {
    /// `AND`
    And,
    /// `OR`
    Or,
    /// `XOR`
    Xor,
    /// `NOT`
    Not,
}

impl AndOrOrOrXorOrNot {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
            Self::Xor => "XOR",
            Self::Not => "NOT",
        }
    }
}

/// One of `BEFORE`, `AFTER`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeforeOrAfter {
    /// `BEFORE`
    Before,
    /// `AFTER`
    After,
}

impl BeforeOrAfter {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Before => "BEFORE",
            Self::After => "AFTER",
        }
    }
}

/// One of `BFS`, `DFS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BfsOrDfs {
    /// `BFS`
    Bfs,
    /// `DFS`
    Dfs,
}

impl BfsOrDfs {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Bfs => "BFS",
            Self::Dfs => "DFS",
        }
    }
}

/// One of `INCLUDE`, `EXCLUDE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludeOrExclude {
    /// `INCLUDE`
    Include,
    /// `EXCLUDE`
    Exclude,
}

impl IncludeOrExclude {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Include => "INCLUDE",
            Self::Exclude => "EXCLUDE",
        }
    }
}

/// One of `LEFT`, `RIGHT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOrRight {
    /// `LEFT`
    Left,
    /// `RIGHT`
    Right,
}

impl LeftOrRight {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Left => "LEFT",
            Self::Right => "RIGHT",
        }
    }
}

/// One of `M`, `KM`, `FT`, `MI`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MOrKmOrFtOrMi {
    /// `M`
    M,
    /// `KM`
    Km,
    /// `FT`
    Ft,
    /// `MI`
    Mi,
}

impl MOrKmOrFtOrMi {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::M => "M",
            Self::Km => "KM",
            Self::Ft => "FT",
            Self::Mi => "MI",
        }
    }
}

/// One of `MIN`, `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinOrMax {
    /// `MIN`
    Min,
    /// `MAX`
    Max,
}

impl MinOrMax {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Min => "MIN",
            Self::Max => "MAX",
        }
    }
}

/// One of `NODE`, `EDGE`, `PATH`, `NONE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeOrEdgeOrPathOrNone {
    /// `NODE`
    Node,
    /// `EDGE`
    Edge,
    /// `PATH`
    Path,
    /// `NONE`
    None,
}

impl NodeOrEdgeOrPathOrNone {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Node => "NODE",
            Self::Edge => "EDGE",
            Self::Path => "PATH",
            Self::None => "NONE",
        }
    }
}

/// One of `NORMAL`, `MASTER`, `REPLICA`, `PUBSUB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalOrMasterOrReplicaOrPubsub {
    /// `NORMAL`
    Normal,
    /// `MASTER`
    Master,
    /// `REPLICA`
    Replica,
    /// `PUBSUB`
    Pubsub,
}

impl NormalOrMasterOrReplicaOrPubsub {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Normal => "NORMAL",
            Self::Master => "MASTER",
            Self::Replica => "REPLICA",
            Self::Pubsub => "PUBSUB",
        }
    }
}

/// One of `ON`, `OFF`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOrOff {
    /// `ON`
    On,
    /// `OFF`
    Off,
}

impl OnOrOff {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::On => "ON",
            Self::Off => "OFF",
        }
    }
}

/// One of `ON`, `OFF`, `SKIP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOrOffOrSkip {
    /// `ON`
    On,
    /// `OFF`
    Off,
    /// `SKIP`
    Skip,
}

impl OnOrOffOrSkip {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::On => "ON",
            Self::Off => "OFF",
            Self::Skip => "SKIP",
        }
    }
}

/// One of `OUT`, `IN`, `BOTH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOrInOrBoth {
    /// `OUT`
    Out,
    /// `IN`
    In,
    /// `BOTH`
    Both,
}

impl OutOrInOrBoth {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Out => "OUT",
            Self::In => "IN",
            Self::Both => "BOTH",
        }
    }
}

/// One of `PIPELINE`, `CURSOR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineOrCursor {
    /// `PIPELINE`
    Pipeline,
    /// `CURSOR`
    Cursor,
}

impl PipelineOrCursor {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pipeline => "PIPELINE",
            Self::Cursor => "CURSOR",
        }
    }
}

/// One of `SEARCH`, `AGGREGATE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOrAggregate {
    /// `SEARCH`
    Search,
    /// `AGGREGATE`
    Aggregate,
}

impl SearchOrAggregate {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Search => "SEARCH",
            Self::Aggregate => "AGGREGATE",
        }
    }
}

/// One of `SQLITE`, `MYSQL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqliteOrMysql {
    /// `SQLITE`
    Sqlite,
    /// `MYSQL`
    Mysql,
}

impl SqliteOrMysql {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLITE",
            Self::Mysql => "MYSQL",
        }
    }
}

/// One of `SUM`, `MIN`, `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumOrMinOrMax {
    /// `SUM`
    Sum,
    /// `MIN`
    Min,
    /// `MAX`
    Max,
}

impl SumOrMinOrMax {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Sum => "SUM",
            Self::Min => "MIN",
            Self::Max => "MAX",
        }
    }
}

/// One of `WRAP`, `SAT`, `FAIL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrapOrSatOrFail {
    /// `WRAP`
    Wrap,
    /// `SAT`
    Sat,
    /// `FAIL`
    Fail,
}

impl WrapOrSatOrFail {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Wrap => "WRAP",
            Self::Sat => "SAT",
            Self::Fail => "FAIL",
        }
    }
}

/// One of `YES`, `NO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesOrNo {
    /// `YES`
    Yes,
    /// `NO`
    No,
}

impl YesOrNo {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Yes => "YES",
            Self::No => "NO",
        }
    }
}

/// One of `YES`, `SYNC`, `NO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YesOrSyncOrNo {
    /// `YES`
    Yes,
    /// `SYNC`
    Sync,
    /// `NO`
    No,
}

impl YesOrSyncOrNo {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Yes => "YES",
            Self::Sync => "SYNC",
            Self::No => "NO",
        }
    }
}
