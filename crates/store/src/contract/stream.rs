//! Streams: messages in the order in which they were posted, kept until their time. What is told to others and must not be lost
//! (an outbox, a log that is read from a place on) is a stream.

use std::fmt;

use demur_core::time::Timestamp;

use super::StoreError;

/// Reads streams. They are written by [`Store::commit`](super::Store::commit) alone.
///
/// **With its event**: what is posted in a write is there with the events and records of that write, or not at all.
/// **In order**: a later post has a greater position, and nothing appears behind a position that was read. **Once**: of posts with
/// one name in one stream there is one, until it has expired and was swept. **Forward only**: what a consumer acknowledged stays
/// acknowledged. **Bounded**: a page holds at most [`PAGE_BYTES`], and at least one post if there is one.
pub trait Streams {
    /// Returns posts of a stream after a position, in order. One that has expired may be among them until it is swept.
    fn posts(
        &self,
        stream: &StreamName,
        after: StreamPosition,
        limit: usize,
    ) -> Result<Vec<KeptPost>, StoreError>;

    /// Returns the position of the post with this name.
    fn named_post(&self, stream: &StreamName, name: &PostName) -> Result<Option<StreamPosition>, StoreError>;

    /// Returns the position of the newest post of a stream; [`StreamPosition::START`] where there is none.
    fn newest_post(&self, stream: &StreamName) -> Result<StreamPosition, StoreError>;

    /// Returns up to where a consumer has acknowledged a stream; [`StreamPosition::START`] where it has not.
    fn acknowledged(
        &self,
        stream: &StreamName,
        consumer: &ConsumerName,
    ) -> Result<StreamPosition, StoreError>;

    /// Removes posts and acknowledgements whose time is at or before `now`, a bounded number of them at once. Returns how many.
    fn sweep(&self, now: Timestamp) -> Result<u64, StoreError>;
}

/// How much a page of posts holds.
pub const PAGE_BYTES: usize = 4 << 20;

/// How much one call of [`Streams::sweep`] removes at most.
pub(crate) const MOST_SWEPT: usize = 4096;

macro_rules! name {
    ($(#[$attribute:meta])* $name:ident, $what:literal) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// How many bytes it has at most.
            pub const LONGEST: usize = 256;

            /// Returns the name with this text.
            pub fn new(text: impl Into<String>) -> Result<Self, StoreError> {
                let text = text.into();
                if (1..=Self::LONGEST).contains(&text.len()) {
                    Ok(Self(text))
                } else {
                    Err(StoreError::Misuse { what: concat!($what, " has 1 to 256 bytes") })
                }
            }

            /// Returns its text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

name! {
    /// The name of a stream: 1 to 256 bytes. A stream is there as soon as something is posted to it.
    StreamName, "the name of a stream"
}
name! {
    /// The name of a post within its stream: 1 to 256 bytes.
    PostName, "the name of a post"
}
name! {
    /// The name of one who acknowledges posts: 1 to 256 bytes.
    ConsumerName, "the name of a consumer"
}

/// A place in a stream. Only good for going on from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamPosition(u64);

impl StreamPosition {
    /// Before the first post.
    pub const START: Self = Self(0);

    /// Returns the position with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns its number: from 1, and later ones are greater.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A message that is to be kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Post {
    /// The stream.
    pub stream: StreamName,
    /// Its name, where it is posted once.
    pub name: Option<PostName>,
    /// In a form that the stream's readers know. At most [`Post::LARGEST`].
    pub bytes: Vec<u8>,
    /// From when on it may be swept; never without.
    pub expires: Option<Timestamp>,
}

impl Post {
    /// How many bytes a post has at most.
    pub const LARGEST: usize = 2 << 20;

    /// How many one write may have.
    pub const MOST: usize = 256;
}

/// A message may be private: it does not show in logs.
impl fmt::Debug for Post {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, name, bytes, expires } = self;
        write!(formatter, "Post({stream}, {name:?}, {} bytes, {expires:?})", bytes.len())
    }
}

/// A message as it is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptPost {
    /// Its place.
    pub position: StreamPosition,
    /// What was posted.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for KeptPost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KeptPost({:?}, {} bytes)", self.position, self.bytes.len())
    }
}

/// A consumer's word that it needs nothing up to a position any more. A position behind an earlier one takes nothing back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The stream.
    pub stream: StreamName,
    /// Who says it.
    pub consumer: ConsumerName,
    /// Up to where.
    pub position: StreamPosition,
    /// From when on it may be swept; never without. The newest word counts.
    pub expires: Option<Timestamp>,
}
