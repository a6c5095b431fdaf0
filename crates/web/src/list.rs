//! The lists: what waits for people, what waits for others, what is settled; with filters that stand in the address.

use askama::Template;

use crate::{
    bulk::BulkFields,
    frame::{Frame, Here, Level},
    question::Card,
    words::{ENGLISH, fill},
};

/// One of the lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// What people may answer.
    #[default]
    Mine,
    /// What only others may answer.
    Others,
    /// What is settled.
    Done,
}

impl Which {
    /// Returns the list of this word; the first one where it is none.
    pub fn from_word(word: &str) -> Self {
        match word {
            "others" => Self::Others,
            "done" => Self::Done,
            _ => Self::Mine,
        }
    }

    /// Returns its word in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::Others => "others",
            Self::Done => "done",
        }
    }

    /// Returns which part of the inbox it is.
    pub const fn here(self) -> Here {
        match self {
            Self::Mine => Here::Mine,
            Self::Others => Here::Others,
            Self::Done => Here::Done,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Mine => ENGLISH.mine,
            Self::Others => ENGLISH.others,
            Self::Done => ENGLISH.done,
        }
    }

    /// Returns what an empty list says: what happens next.
    const fn empty(self) -> &'static str {
        match self {
            Self::Mine => ENGLISH.empty_mine,
            Self::Others => ENGLISH.empty_others,
            Self::Done => ENGLISH.empty_done,
        }
    }
}

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// In which list.
    pub list: Which,
    /// What the words hold.
    pub text: String,
    /// `block`, `warn` or nothing.
    pub severity: String,
    /// What the asker's name holds.
    pub asker: String,
    /// Only in this trace.
    pub trace: Option<String>,
    /// Where the page begins.
    pub after: Option<String>,
}

impl Filters {
    /// Returns whether anything is left out.
    pub fn is_narrow(&self) -> bool {
        !self.text.is_empty() || !self.severity.is_empty() || !self.asker.is_empty() || self.trace.is_some()
    }

    /// Returns whether words have to be read to tell what fits.
    pub fn reads_words(&self) -> bool {
        !self.text.is_empty() || !self.asker.is_empty()
    }

    /// Returns the address of the same list from another place on.
    pub fn address(&self, after: &str) -> String {
        let mut address = format!("/?list={}", self.list.as_str());
        let given = [
            ("q", self.text.as_str()),
            ("severity", &self.severity),
            ("asker", &self.asker),
            ("trace", self.trace.as_deref().unwrap_or_default()),
            ("after", after),
        ];
        for (name, value) in given.into_iter().filter(|(_, value)| !value.is_empty()) {
            address.push('&');
            address.push_str(name);
            address.push('=');
            push_encoded(&mut address, value);
        }
        address
    }
}

/// How many questions there are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// That wait, for anybody.
    pub open: u64,
    /// That are settled.
    pub done: u64,
    /// Operations that wait for a yes or a no of people.
    pub confirmations: usize,
}

/// How far a search went.
#[derive(Clone, Copy, Debug)]
pub struct Searched {
    /// How many questions were read.
    pub read: usize,
    /// Whether there are more.
    pub more: bool,
}

/// The page of a list.
#[derive(Template)]
#[template(path = "list.html")]
pub struct ListPage<'a> {
    /// The frame.
    pub frame: &'a Frame,
    title: &'static str,
    empty: &'static str,
    counts: String,
    confirmations: Option<String>,
    filters: &'a Filters,
    cards: Vec<Card>,
    level: Level,
    bulk: BulkFields,
    searched: Option<String>,
    next: Option<String>,
    next_words: &'static str,
}

impl<'a> ListPage<'a> {
    /// Returns the page of these questions.
    pub fn new(
        frame: &'a Frame,
        filters: &'a Filters,
        level: Level,
        counts: Counts,
        cards: Vec<Card>,
        searched: Option<Searched>,
        after: Option<&str>,
    ) -> Self {
        let narrow = filters.is_narrow() || filters.after.is_some();
        let words = frame.words;
        Self {
            frame,
            title: filters.list.title(),
            empty: if narrow { words.empty_search } else { filters.list.empty() },
            counts: fill(words.counts, &[&counts.open, &counts.done]),
            confirmations: match counts.confirmations {
                0 => None,
                1 => Some(words.confirmation_waits.to_owned()),
                more => Some(fill(words.confirmations_wait, &[&more])),
            },
            filters,
            cards,
            level,
            bulk: BulkFields::default(),
            searched: searched.map(|searched| {
                let text = if searched.more { words.searched_part } else { words.searched_all };
                fill(text, &[&searched.read])
            }),
            next: after.map(|after| filters.address(after)),
            next_words: if searched.is_some() { words.search_further } else { words.next_page },
        }
    }

    fn offers_bulk(&self) -> bool {
        self.cards.iter().filter(|card| card.ways.is_some()).count() > 1
    }
}

/// Appends a value as it stands in a query.
fn push_encoded(address: &mut String, value: &str) {
    use std::fmt::Write as _;
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_keeps_what_is_looked_for() {
        let filters =
            Filters { text: "a&b=c \u{e4}".to_owned(), severity: "block".to_owned(), ..Filters::default() };
        assert_eq!(filters.address("12"), "/?list=mine&q=a%26b%3Dc%20%C3%A4&severity=block&after=12");
    }
}
