//! Merkle trees as in RFC 6962, section 2.1: roots, inclusion proofs, and accumulators. Section "Registry"
//! of the format: a revocation and a checkpoint record the root over all traces.

use crate::hash::{Digest, Hasher, Purpose};

/// The bytes that tell leaves, nodes and the empty tree apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheme {
    leaf: &'static [u8],
    node: &'static [u8],
    /// What is hashed for a tree without leaves.
    empty: &'static [u8],
}

impl Scheme {
    /// The tree of RFC 6962 to the letter: `0x00`, `0x01`, and SHA-256 of nothing.
    pub const RFC6962: Self = Self { leaf: &[0], node: &[1], empty: &[] };

    /// The tree of this format, with the prefixes of [`Purpose::Leaf`] and [`Purpose::Node`].
    ///
    /// Everything we hash begins with a prefix, so the empty tree is a node without children. The leaf prefix
    /// would not do: an empty tree would have the root of a tree with one empty leaf.
    pub const DEMUR: Self =
        Self { leaf: Purpose::Leaf.prefix(), node: Purpose::Node.prefix(), empty: Purpose::Node.prefix() };

    /// Returns the hash of a leaf with these bytes.
    pub fn leaf_hash(self, bytes: &[u8]) -> Digest {
        let mut hasher = Hasher::with_prefix(self.leaf);
        hasher.update(bytes);
        hasher.finish()
    }

    fn node_hash(self, left: &Digest, right: &Digest) -> Digest {
        let mut hasher = Hasher::with_prefix(self.node);
        hasher.update(left.as_bytes());
        hasher.update(right.as_bytes());
        hasher.finish()
    }
}

/// Returns the hash of a leaf with these bytes.
pub fn leaf_hash(scheme: Scheme, bytes: &[u8]) -> Digest {
    scheme.leaf_hash(bytes)
}

/// Returns the root over these leaf hashes.
pub fn root(scheme: Scheme, leaves: &[Digest]) -> Digest {
    let mut tree = Tree::new(scheme);
    for leaf in leaves {
        tree.push(*leaf);
    }
    tree.root()
}

/// Returns the proof that the leaf at `index` is in the tree, from the leaf up; empty where there is no such
/// leaf. For many leaves of one tree there is [`WholeTree`].
pub fn inclusion(scheme: Scheme, leaves: &[Digest], index: usize) -> Vec<Digest> {
    WholeTree::new(scheme, leaves.to_vec()).inclusion(index)
}

/// Returns whether `proof` shows `leaf` at `index` in the tree of `size` leaves with this root
/// (RFC 9162, section 2.1.3.2).
#[must_use]
pub fn verify_inclusion(
    scheme: Scheme,
    leaf: &Digest,
    index: u64,
    size: u64,
    proof: &[Digest],
    root: &Digest,
) -> bool {
    if index >= size {
        return false;
    }
    // `node` and `last` are where we and the last leaf stand on the present level.
    let (mut node, mut last, mut hash) = (index, size - 1, *leaf);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if node & 1 == 1 || node == last {
            hash = scheme.node_hash(sibling, &hash);
            // The last node of a level with an odd count has no sibling and rises as it is.
            let levels = if node & 1 == 1 { 0 } else { node.trailing_zeros().min(63) };
            node >>= levels;
            last >>= levels;
        } else {
            hash = scheme.node_hash(&hash, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    last == 0 && hash == *root
}

/// A tree that takes one leaf after another and keeps only the roots of its complete parts.
#[derive(Debug, Clone)]
pub struct Tree {
    scheme: Scheme,
    size: u64,
    /// The roots of the complete subtrees, the largest first: one for each bit set in `size`.
    parts: Vec<Digest>,
}

impl Tree {
    /// Returns the tree without leaves.
    pub const fn new(scheme: Scheme) -> Self {
        Self { scheme, size: 0, parts: Vec::new() }
    }

    /// Adds a leaf by its hash.
    pub fn push(&mut self, leaf: Digest) {
        let mut hash = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.parts.pop() {
                hash = self.scheme.node_hash(&left, &hash);
            }
        }
        self.parts.push(hash);
        self.size += 1;
    }

    /// Returns how many leaves there are.
    pub const fn len(&self) -> u64 {
        self.size
    }

    /// Returns whether there is no leaf.
    pub const fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Returns the root over the leaves so far.
    pub fn root(&self) -> Digest {
        let whole =
            self.parts.iter().rev().copied().reduce(|right, left| self.scheme.node_hash(&left, &right));
        whole.unwrap_or_else(|| Hasher::with_prefix(self.scheme.empty).finish())
    }
}

/// A tree with all of its nodes: a proof for a leaf hashes nothing more.
#[derive(Debug, Clone)]
pub struct WholeTree {
    scheme: Scheme,
    /// The leaves first, the root alone at the end. The last node of a level with an odd count rises as it is.
    levels: Vec<Vec<Digest>>,
}

impl WholeTree {
    /// Returns the tree over these leaf hashes.
    pub fn new(scheme: Scheme, leaves: Vec<Digest>) -> Self {
        let mut levels = vec![leaves];
        while let Some(below) = levels.last().filter(|below| below.len() > 1) {
            let above = |nodes: &[Digest]| match nodes {
                [left, right] => Some(scheme.node_hash(left, right)),
                nodes => nodes.first().copied(),
            };
            levels.push(below.chunks(2).filter_map(above).collect());
        }
        Self { scheme, levels }
    }

    /// Returns the root.
    pub fn root(&self) -> Digest {
        let root = self.levels.last().and_then(|level| level.first());
        root.copied().unwrap_or_else(|| Tree::new(self.scheme).root())
    }

    /// Returns how many leaves there are.
    pub fn leaf_count(&self) -> usize {
        self.levels.first().map_or(0, Vec::len)
    }

    /// Returns the proof that the leaf at `index` is in the tree, from the leaf up; empty where there is no such leaf.
    pub fn inclusion(&self, index: usize) -> Vec<Digest> {
        if index >= self.leaf_count() {
            return Vec::new();
        }
        let siblings = self.levels.iter().enumerate();
        siblings.filter_map(|(height, level)| level.get((index >> height) ^ 1).copied()).collect()
    }
}
