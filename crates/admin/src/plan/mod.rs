//! Plans: what would be changed, before anything is. A plan is made by a pure function from facts, and can be printed and
//! compared.

pub mod copy;
pub mod create;
pub mod delete;
pub mod delete_offsets;
mod offsets;
pub mod reset;
pub mod restore;

pub use offsets::{
    Clamped, Deletion, EpochSource, LeftOut, Move, OffsetPlan, Presence, Shift, Span, SpanEnd,
};
