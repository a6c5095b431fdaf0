//! The streams of a store in memory.

use std::collections::BTreeMap;

use demur_core::time::Timestamp;

use crate::contract::{
    Acknowledgement, ConsumerName, KeptPost, MOST_SWEPT, PAGE_BYTES, Post, PostName, StreamName,
    StreamPosition,
};

/// Every stream.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamTable {
    posts: BTreeMap<(StreamName, StreamPosition), Post>,
    names: BTreeMap<(StreamName, PostName), StreamPosition>,
    acknowledged: BTreeMap<(StreamName, ConsumerName), Acknowledgement>,
    /// The newest position that was given out.
    newest: u64,
}

impl StreamTable {
    /// Returns whether no stream has a post with the name of one of these.
    pub(super) fn are_new(&self, posts: &[Post]) -> bool {
        posts.iter().filter_map(key).all(|key| !self.names.contains_key(&key))
    }

    /// Keeps posts.
    pub(super) fn post(&mut self, posts: &[Post]) {
        for post in posts {
            self.newest += 1;
            let position = StreamPosition::new(self.newest);
            self.names.extend(key(post).map(|key| (key, position)));
            self.posts.insert((post.stream.clone(), position), post.clone());
        }
    }

    /// Keeps what was acknowledged, and takes nothing back.
    pub(super) fn acknowledge(&mut self, acknowledged: &[Acknowledgement]) {
        for new in acknowledged {
            let key = (new.stream.clone(), new.consumer.clone());
            let kept = self.acknowledged.entry(key).or_insert_with(|| new.clone());
            kept.position = kept.position.max(new.position);
            kept.expires = new.expires;
        }
    }

    pub(super) fn page(&self, stream: &StreamName, after: StreamPosition, limit: usize) -> Vec<KeptPost> {
        let mut bytes = 0;
        let fits = |(index, post): &(usize, KeptPost)| {
            bytes += post.bytes.len();
            bytes <= PAGE_BYTES || *index == 0
        };
        let of_stream = self.of(stream).filter(|(position, _)| *position > after).take(limit);
        let kept =
            |(position, post): (StreamPosition, &Post)| KeptPost { position, bytes: post.bytes.clone() };
        of_stream.map(kept).enumerate().take_while(fits).map(|(_, post)| post).collect()
    }

    pub(super) fn named(&self, stream: &StreamName, name: &PostName) -> Option<StreamPosition> {
        self.names.get(&(stream.clone(), name.clone())).copied()
    }

    pub(super) fn newest(&self, stream: &StreamName) -> StreamPosition {
        self.of(stream).last().map_or(StreamPosition::START, |(position, _)| position)
    }

    pub(super) fn acknowledged(&self, stream: &StreamName, consumer: &ConsumerName) -> StreamPosition {
        let kept = self.acknowledged.get(&(stream.clone(), consumer.clone()));
        kept.map_or(StreamPosition::START, |kept| kept.position)
    }

    /// Removes what has expired, a bounded number of entries.
    pub(super) fn sweep(&mut self, now: Timestamp) -> u64 {
        let is_due = |expires: Option<Timestamp>| expires.is_some_and(|expires| expires <= now);
        let posts = self.posts.iter().filter(|(_, post)| is_due(post.expires)).map(|(key, _)| key.clone());
        let posts: Vec<_> = posts.take(MOST_SWEPT).collect();
        for key in &posts {
            let name = self.posts.remove(key).and_then(|post| self::key(&post));
            name.map(|name| self.names.remove(&name));
        }
        let words = self.acknowledged.iter().filter(|(_, kept)| is_due(kept.expires));
        let words: Vec<_> = words.map(|(key, _)| key.clone()).take(MOST_SWEPT).collect();
        for key in &words {
            self.acknowledged.remove(key);
        }
        (posts.len() + words.len()) as u64
    }

    fn of(&self, stream: &StreamName) -> impl Iterator<Item = (StreamPosition, &Post)> {
        let first = (stream.clone(), StreamPosition::START);
        let last = (stream.clone(), StreamPosition::new(u64::MAX));
        self.posts.range(first..=last).map(|((_, position), post)| (*position, post))
    }
}

fn key(post: &Post) -> Option<(StreamName, PostName)> {
    Some((post.stream.clone(), post.name.clone()?))
}
