//! Bounded texts, lists and numbers.

use demur_core::limit::{LimitError, List, Text, Whole};
use serde::de::value::{Error as ValueError, SeqDeserializer};
use serde::{Deserialize, Deserializer};

type Name = Text<1, 3>;
type Few = List<u8, 1, 3>;
type Percent = Whole<1, 100>;

fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error: serde_json::Error| error.to_string())
}

#[test]
fn a_text_is_counted_in_code_points() {
    for good in ["a", "abc", "€€€", "😂😂😂"] {
        let text = Name::try_from(good).unwrap();
        assert_eq!(text.as_str(), good);
        assert_eq!(read::<Name>(&serde_json::to_string(&text).unwrap()).unwrap(), text);
        assert_eq!(text.to_string(), good);
        assert_eq!(Name::try_from(good.to_owned()), Ok(text));
    }
    for (wrong, found) in [("", 0), ("abcd", 4), ("😂😂😂😂", 4), ("e\u{301}e\u{301}", 4)] {
        assert_eq!(Name::try_from(wrong), Err(LimitError::Text { min: 1, max: 3, found }));
    }
    for (wrong, found) in [("a", 1), ("€", 1), ("😂", 1), ("😂😂😂😂😂", 5)] {
        assert_eq!(Text::<2, 4>::try_from(wrong), Err(LimitError::Text { min: 2, max: 4, found }));
    }
    assert!(read::<Name>("\"abcd\"").unwrap_err().starts_with("expected 1 to 3 code points, found 4"));
    assert!(read::<Name>("7").unwrap_err().contains("a text of 1 to 3 code points"));
}

#[test]
fn a_text_behaves_as_its_string() {
    let text: Text<0, 10> = "a b".parse().unwrap();
    assert_eq!(text.split(' ').count(), 2);
    assert_eq!(String::from(text.clone()), "a b");
    assert_eq!(format!("{text:?}"), "\"a b\"");
}

#[test]
fn a_list_keeps_its_bounds() {
    let list = Few::try_from(vec![1, 2, 3]).unwrap();
    assert_eq!(list.as_slice(), [1, 2, 3]);
    assert_eq!(list.iter().sum::<u8>(), 6);
    assert_eq!((&list).into_iter().count(), 3);
    assert_eq!(read::<Few>("[1,2,3]").unwrap(), list);
    assert_eq!(Vec::from(list), [1, 2, 3]);
    assert_eq!(Few::try_from(vec![]), Err(LimitError::List { min: 1, max: 3, found: 0 }));
    assert_eq!(Few::try_from(vec![0; 5]), Err(LimitError::List { min: 1, max: 3, found: 5 }));
    assert!(read::<Few>("[]").unwrap_err().starts_with("expected 1 to 3 entries, found 0"));
    assert!(read::<Few>("[1,2,3,4]").unwrap_err().starts_with("expected 1 to 3 entries, found 4"));
}

#[test]
fn reading_a_list_stops_right_after_its_last_entry() {
    let mut taken = 0;
    let endless = std::iter::repeat_with(|| {
        taken += 1;
        7_u8
    });
    let found = Few::deserialize(SeqDeserializer::<_, ValueError>::new(endless));
    assert_eq!(found.unwrap_err().to_string(), "expected 1 to 3 entries, found 4");
    assert_eq!(taken, 4);
}

#[test]
fn a_whole_number_keeps_its_range() {
    for good in [1, 50, 100] {
        let number = Percent::try_from(good).unwrap();
        assert_eq!(number.as_u64(), good);
        assert_eq!(read::<Percent>(&good.to_string()).unwrap(), number);
        assert_eq!(number.to_string().parse::<Percent>().unwrap(), number);
    }
    for found in [0, 101, u64::MAX] {
        assert_eq!(Percent::try_from(found), Err(LimitError::Whole { min: 1, max: 100, found }));
    }
    assert!(
        read::<Percent>("101").unwrap_err().starts_with("expected a whole number from 1 to 100, found 101")
    );
}

#[test]
fn a_whole_number_is_spelled_in_digits_only() {
    for wrong in ["-1", "1.0", "1e1", "\"1\"", "null", "true"] {
        assert!(read::<Percent>(wrong).is_err(), "{wrong}");
    }
    for wrong in ["+1", "01", " 1", "1 ", "", "0", "101"] {
        assert!(wrong.parse::<Percent>().is_err(), "{wrong}");
    }
}

#[test]
fn a_size_hint_reserves_nothing() {
    struct Boast;
    impl<'de> serde::de::SeqAccess<'de> for Boast {
        type Error = ValueError;

        fn next_element_seed<T: serde::de::DeserializeSeed<'de>>(
            &mut self,
            _: T,
        ) -> Result<Option<T::Value>, ValueError> {
            Ok(None)
        }

        fn size_hint(&self) -> Option<usize> {
            Some(usize::MAX)
        }
    }
    struct Source;
    impl<'de> Deserializer<'de> for Source {
        type Error = ValueError;

        fn deserialize_any<V: serde::de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
            visitor.visit_seq(Boast)
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
            unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
        }
    }
    assert_eq!(List::<u64, 0, { usize::MAX - 1 }>::deserialize(Source).unwrap().len(), 0);
}
