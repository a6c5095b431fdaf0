//! ULIDs and UUIDs of version 7.

use demur_core::id::{Ulid, Uuid7};
use demur_core::random::Seeded;
use demur_core::time::Timestamp;
use proptest::prelude::*;

demur_core::ulid_id! {
    /// Names a thing in these tests.
    pub(crate) struct ThingId;
}

const ULID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const UUID: &str = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";

#[test]
fn a_ulid_carries_its_time() {
    let id: Ulid = ULID.parse().unwrap();
    assert_eq!(id.timestamp().as_millis(), 1_469_922_850_259);
    assert_eq!(id.to_string(), ULID);
}

/// The example of RFC 9562, appendix A.6.
#[test]
fn a_uuid_of_version_7_carries_its_time() {
    let id: Uuid7 = UUID.parse().unwrap();
    assert_eq!(id.timestamp().as_millis(), 0x017f_22e2_79b0);
    assert_eq!(id.as_u128(), 0x017f_22e2_79b0_7cc3_98c4_dc0c_0c07_398f);
    assert_eq!(id.to_string(), UUID);
}

#[test]
fn refuses_other_spellings_of_a_ulid() {
    for wrong in [
        "01arz3ndektsv4rrffq69g5fav",
        "81ARZ3NDEKTSV4RRFFQ69G5FAV",
        "Z1ARZ3NDEKTSV4RRFFQ69G5FAV",
        "01ARZ3NDEKTSV4RRFFQ69G5FA",
        "01ARZ3NDEKTSV4RRFFQ69G5FAVV",
        "01ARZ3NDEKTSV4RRFFQ69G5FA-",
        "",
    ] {
        assert!(wrong.parse::<Ulid>().is_err(), "{wrong}");
    }
    for letter in ["I", "L", "O", "U", "i", "é"] {
        let wrong = ULID.replace('V', letter);
        assert!(wrong.parse::<Ulid>().is_err(), "{wrong}");
    }
    assert_eq!(
        "81ARZ3NDEKTSV4RRFFQ69G5FAV".parse::<Ulid>().unwrap_err().to_string(),
        "expected a ULID of 26 upper-case characters, found byte 0x38 at offset 0"
    );
}

#[test]
fn refuses_other_spellings_versions_and_variants_of_a_uuid() {
    for wrong in [
        "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
        "017f22e279b07cc398c4dc0c0c07398f",
        "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-18c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398ff",
        "017f22e-279b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398-",
        "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
    ] {
        assert!(wrong.parse::<Uuid7>().is_err(), "{wrong}");
    }
    assert_eq!(
        "017f22e2-79b0-4cc3-98c4-dc0c0c07398f".parse::<Uuid7>().unwrap_err().to_string(),
        "expected a UUID of version 7 in lower case with hyphens, found version 4, variant 10"
    );
}

#[test]
fn ids_of_one_kind_are_no_ids_of_another_but_spelled_alike() {
    let id: ThingId = ULID.parse().unwrap();
    assert_eq!(id, ThingId::from(id.as_ulid()));
    assert_eq!(id.to_string(), ULID);
    assert_eq!(format!("{id:?}"), format!("ThingId({ULID})"));
    assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{ULID}\""));
    assert_eq!(serde_json::from_str::<ThingId>(&format!("\"{ULID}\"")).unwrap(), id);
    assert!(serde_json::from_str::<ThingId>("\"01\"").is_err());
    assert!("01".parse::<ThingId>().is_err());
}

#[test]
fn the_last_ulid_reads_as_the_last_time() {
    assert_eq!("7ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<Ulid>().unwrap().timestamp(), Timestamp::MAX);
}

proptest! {
    #[test]
    fn new_ids_keep_their_time_and_survive_a_round_trip(millis in 0..=Timestamp::MAX.as_millis(), seed: u64) {
        let now = Timestamp::from_millis(millis).unwrap();
        let mut random = Seeded::from_number(seed);
        let ulid = Ulid::new(now, &mut random);
        prop_assert_eq!(ulid.timestamp(), now);
        prop_assert_eq!(ulid.to_string().parse::<Ulid>().unwrap(), ulid);
        prop_assert_eq!(Ulid::from_u128(ulid.as_u128()), ulid);
        let uuid = Uuid7::new(now, &mut random);
        prop_assert_eq!(uuid.timestamp(), now);
        prop_assert_eq!(uuid.to_string().parse::<Uuid7>().unwrap(), uuid);
        prop_assert_eq!(Uuid7::from_u128(uuid.as_u128()).unwrap(), uuid);
        let thing = ThingId::new(now, &mut random);
        prop_assert_ne!(thing.as_ulid(), ulid);
    }

    #[test]
    fn texts_sort_as_their_ids_do(left: u128, right: u128) {
        let (left, right) = (Ulid::from_u128(left), Ulid::from_u128(right));
        prop_assert_eq!(left.cmp(&right), left.to_string().cmp(&right.to_string()));
    }

    #[test]
    fn a_text_is_a_ulid_exactly_if_it_is_written_so_again(text in "[0-9A-Za-z]{26}") {
        if let Ok(id) = text.parse::<Ulid>() {
            prop_assert_eq!(id.to_string(), text);
        } else {
            let crockford = text.bytes().all(|byte| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains(&byte));
            prop_assert!(!crockford || text.as_bytes()[0] > b'7');
        }
    }
}
