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
    /// Returns what ends with this piece: the output with its last one, and otherwise what the producer says. One that says nothing is
    /// not held for ever: then the text tells.
    pub fn boundary(&self) -> CoalesceBoundary {
        match self.coalesce_hint {
            _ if self.complete => CoalesceBoundary::Completion,
            Some(hint) => hint,
            None => boundary_of(&self.chunk),
        }
    }
}

fn boundary_of(text: &str) -> CoalesceBoundary {
    let words = text.trim_end();
    if text[words.len()..].matches('\n').count() > 1 {
        CoalesceBoundary::Paragraph
    } else if words.ends_with(SENTENCE_ENDS) {
        CoalesceBoundary::Sentence
    } else if words.len() < text.len() {
        CoalesceBoundary::Word
    } else {
        CoalesceBoundary::None
    }
}

/// What ends a sentence, in the scripts that have a mark of their own for it.
const SENTENCE_ENDS: [char; 12] = [
    '.', '!', '?', '\u{2026}', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{61f}', '\u{6d4}', '\u{964}',
    '\u{589}', '\u{1362}',
];

/// How long one piece may be.
pub(crate) const MAX_CHUNK_CHARACTERS: usize = 16_384;
