//! Merkle trees: the vectors of RFC 6962, every small tree, and proofs that must not hold.

use demur_core::hash::{Digest, Purpose, digest, sha256};
use demur_core::merkle::{Scheme, Tree, WholeTree, inclusion, leaf_hash, root, verify_inclusion};
use serde::Deserialize;

use crate::keys::bytes;

#[derive(Deserialize)]
struct Vectors {
    leaves: Vec<String>,
    roots: Vec<Digest>,
}

fn leaves(scheme: Scheme, count: usize) -> Vec<Digest> {
    (0..count).map(|number| leaf_hash(scheme, &number.to_be_bytes())).collect()
}

/// The definition of RFC 6962, section 2.1, word by word.
fn defined_root(scheme: Scheme, leaves: &[Digest]) -> Digest {
    if let [leaf] = leaves {
        return *leaf;
    }
    let mut split = 1;
    while split * 2 < leaves.len() {
        split *= 2;
    }
    let (left, right) = (defined_root(scheme, &leaves[..split]), defined_root(scheme, &leaves[split..]));
    if scheme == Scheme::DEMUR {
        digest(Purpose::Node, &[left.as_bytes(), right.as_bytes()])
    } else {
        sha256(&[&[1], left.as_bytes().as_slice(), right.as_bytes()].concat())
    }
}

#[test]
fn roots_of_the_reference_leaves_are_the_reference_roots() {
    let vectors: Vectors =
        serde_json::from_str(include_str!("../../../../conformance/core/rfc6962.json")).unwrap();
    let leaves: Vec<_> = vectors.leaves.iter().map(|leaf| leaf_hash(Scheme::RFC6962, &bytes(leaf))).collect();
    for (size, expected) in vectors.roots.iter().enumerate() {
        assert_eq!(root(Scheme::RFC6962, &leaves[..size]), *expected, "{size} leaves");
    }
    assert_eq!(vectors.roots.len(), 9);
}

#[test]
fn our_scheme_has_our_prefixes() {
    assert_eq!(leaf_hash(Scheme::DEMUR, b"x"), digest(Purpose::Leaf, &[b"x"]));
    let pair = leaves(Scheme::DEMUR, 2);
    let expected = digest(Purpose::Node, &[pair[0].as_bytes(), pair[1].as_bytes()]);
    assert_eq!(root(Scheme::DEMUR, &pair), expected);
    assert_eq!(root(Scheme::DEMUR, &[]), digest(Purpose::Node, &[]));
}

#[test]
fn the_empty_tree_is_no_tree_with_an_empty_leaf() {
    for scheme in [Scheme::RFC6962, Scheme::DEMUR] {
        assert_ne!(root(scheme, &[]), root(scheme, &[leaf_hash(scheme, b"")]));
        let empty = WholeTree::new(scheme, Vec::new());
        assert_eq!((empty.root(), empty.inclusion(0)), (root(scheme, &[]), Vec::new()));
    }
}

#[test]
fn every_leaf_of_every_small_tree_is_proven() {
    for scheme in [Scheme::RFC6962, Scheme::DEMUR] {
        let leaves = leaves(scheme, LARGEST);
        let mut tree = Tree::new(scheme);
        for size in 1..=LARGEST {
            tree.push(leaves[size - 1]);
            let root = root(scheme, &leaves[..size]);
            assert_eq!(root, defined_root(scheme, &leaves[..size]));
            assert_eq!(tree.root(), root);
            assert_eq!(tree.len(), size as u64);
            assert_eq!(WholeTree::new(scheme, leaves[..size].to_vec()).root(), root);
            for index in 0..size {
                let proof = inclusion(scheme, &leaves[..size], index);
                let (index, size) = (index as u64, size as u64);
                let holds = verify_inclusion(
                    scheme,
                    &leaves[usize::try_from(index).unwrap()],
                    index,
                    size,
                    &proof,
                    &root,
                );
                assert!(holds, "{index} of {size}");
            }
        }
    }
}

#[test]
fn refuses_every_other_index_size_leaf_and_root() {
    let scheme = Scheme::DEMUR;
    let leaves = leaves(scheme, 40);
    for size in 1..=33 {
        let root = root(scheme, &leaves[..size]);
        for index in 0..size {
            let proof = inclusion(scheme, &leaves[..size], index);
            let holds = |leaf: &Digest, index: usize, size: usize, proof: &[Digest], root: &Digest| {
                verify_inclusion(scheme, leaf, index as u64, size as u64, proof, root)
            };
            for other in (0..40).filter(|other| *other != index) {
                assert!(!holds(&leaves[index], other, size, &proof, &root), "{other} for {index} of {size}");
                assert!(
                    !holds(&leaves[other], index, size, &proof, &root),
                    "leaf {other} for {index} of {size}"
                );
            }
            assert!(!holds(&leaves[index], index, size, &proof, &leaves[39]));
            assert!(!holds(&leaves[index], index, 0, &proof, &root));
        }
    }
}

/// A size is not bound by the proof alone: it is refused where the path would have another length.
#[test]
fn refuses_sizes_that_need_another_path() {
    let scheme = Scheme::DEMUR;
    let leaves = leaves(scheme, 9);
    let root = root(scheme, &leaves[..8]);
    for index in 0..8 {
        let proof = inclusion(scheme, &leaves[..8], index);
        for size in [0, 1, 2, 4, 9, 16, 17, u64::MAX] {
            let holds = verify_inclusion(scheme, &leaves[index], index as u64, size, &proof, &root);
            assert!(!holds, "{index} of {size}");
        }
    }
}

/// Without a check on the length of the path, the right leaf of two would pass as the only leaf of one.
#[test]
fn refuses_a_path_that_is_too_long_for_its_tree() {
    let leaves = leaves(Scheme::DEMUR, 2);
    let root = root(Scheme::DEMUR, &leaves);
    assert!(verify_inclusion(Scheme::DEMUR, &leaves[1], 1, 2, &leaves[..1], &root));
    assert!(!verify_inclusion(Scheme::DEMUR, &leaves[1], 0, 1, &leaves[..1], &root));
}

#[test]
fn refuses_every_changed_proof() {
    let scheme = Scheme::DEMUR;
    for size in 2..=33 {
        let leaves = leaves(scheme, size);
        let root = root(scheme, &leaves);
        for index in 0..size {
            let proof = inclusion(scheme, &leaves, index);
            let holds = |proof: &[Digest]| {
                verify_inclusion(scheme, &leaves[index], index as u64, size as u64, proof, &root)
            };
            assert!(holds(&proof));
            assert!(!holds(&proof[1..]));
            assert!(!holds(&proof[..proof.len() - 1]));
            assert!(!holds(&[proof.as_slice(), &[root]].concat()));
            for place in 0..proof.len() {
                let mut changed = proof.clone();
                changed[place] = root;
                assert!(!holds(&changed), "{place} of the proof for {index} of {size}");
            }
        }
    }
}

#[test]
fn the_two_schemes_do_not_accept_each_other() {
    let leaves = leaves(Scheme::DEMUR, 5);
    let root = root(Scheme::DEMUR, &leaves);
    let proof = inclusion(Scheme::DEMUR, &leaves, 2);
    assert!(verify_inclusion(Scheme::DEMUR, &leaves[2], 2, 5, &proof, &root));
    assert!(!verify_inclusion(Scheme::RFC6962, &leaves[2], 2, 5, &proof, &root));
}

#[test]
fn there_is_no_proof_for_a_leaf_that_is_not_there() {
    let leaves = leaves(Scheme::DEMUR, 3);
    assert_eq!(inclusion(Scheme::DEMUR, &leaves, 3), []);
    assert_eq!(inclusion(Scheme::DEMUR, &[], 0), []);
    assert!(!verify_inclusion(Scheme::DEMUR, &leaves[0], 0, 0, &[], &root(Scheme::DEMUR, &[])));
    assert!(Tree::new(Scheme::DEMUR).is_empty());
}

const LARGEST: usize = 257;
