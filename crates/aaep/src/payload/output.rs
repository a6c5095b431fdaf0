//! Output, piece by piece (4.3.3).

use demur_core::limit::Text;

use super::payload;
use crate::{
    form::{MediaType, OutputId},
    language::LanguageTag,
    number::Position,
    word::CoalesceBoundary,
};

payload! {
    /// A piece of output. Positions count Unicode scalar values.
    OutputStreaming {
        required {
            /// The piece; empty at the end of an output that has been told in full.
            chunk: Text<0, MAX_CHUNK_CHARACTERS>,
            /// Where in its output it begins.
            position: Position,
            /// Whether it is the last one of its output.
            complete: bool,
        }
        optional {
            /// What ends with it.
            coalesce_hint: CoalesceBoundary,
            /// Which output it belongs to; the only one of the session where nothing is said.
            output_id: OutputId,
            /// What it is; plain text where nothing is said.
            content_type: MediaType,
            /// Its language, where it differs from that of the event.
            language: LanguageTag,
        }
    }
}

impl OutputStreaming {
    /// Returns what ends with this piece: the output with its last one, nothing where nothing is said.
    pub fn boundary(&self) -> CoalesceBoundary {
        if self.complete {
            return CoalesceBoundary::Completion;
        }
        self.coalesce_hint.unwrap_or(CoalesceBoundary::None)
    }
}

/// How long one piece may be.
pub(crate) const MAX_CHUNK_CHARACTERS: usize = 16_384;
