//! As much of JSON Schema 2020-12 as the seed and our own schemas use, so that a test can hold them against our readers.

use serde_json::Value;

/// Returns where and why a value does not fit a schema; nothing if it fits.
pub(crate) fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let keywords = schema.as_object()?;
    keywords.iter().find_map(|(keyword, demand)| {
        let misfit = |why: &str| Some(format!("{keyword}: {why}: {value}"));
        match keyword.as_str() {
            "type" if !has_type(demand, value) => misfit("another type"),
            "const" if demand != value => misfit("another value"),
            "enum" if !demand.as_array().unwrap().contains(value) => misfit("another word"),
            "minLength" if length(value).is_some_and(|length| length < number(demand)) => misfit("too short"),
            "maxLength" if length(value).is_some_and(|length| length > number(demand)) => misfit("too long"),
            "minimum" if value.as_f64().is_some_and(|value| value < number(demand)) => misfit("too small"),
            "maximum" if value.as_f64().is_some_and(|value| value > number(demand)) => misfit("too large"),
            "minItems" if count(value).is_some_and(|count| count < number(demand)) => misfit("too few"),
            "maxItems" if count(value).is_some_and(|count| count > number(demand)) => misfit("too many"),
            "uniqueItems" if *demand == true && has_twice(value) => misfit("twice"),
            "pattern" if value.as_str().is_some_and(|text| !fits(demand.as_str().unwrap(), text)) => {
                misfit("another form")
            }
            "required" => {
                let names = demand.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                let object = value.as_object()?;
                names
                    .into_iter()
                    .find(|name| !object.contains_key(*name))
                    .map(|name| format!("no {name}: {value}"))
            }
            "items" => value.as_array()?.iter().find_map(|item| self::misfit(demand, item)),
            "oneOf" => {
                let fitting =
                    demand.as_array().unwrap().iter().filter(|one| self::misfit(one, value).is_none());
                if fitting.count() == 1 { None } else { misfit("not exactly one") }
            }
            "properties" => {
                let object = value.as_object()?;
                let both = demand
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter_map(|(name, schema)| Some((schema, object.get(name)?)));
                both.into_iter().find_map(|(schema, value)| self::misfit(schema, value))
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let mut others = value
                    .as_object()?
                    .iter()
                    .filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)));
                match demand {
                    Value::Bool(false) => others.next().map(|(name, _)| format!("{name} is unknown")),
                    schema => others.find_map(|(_, value)| self::misfit(schema, value)),
                }
            }
            _ => None,
        }
    })
}

fn number(demand: &Value) -> f64 {
    demand.as_f64().unwrap()
}

fn length(value: &Value) -> Option<f64> {
    value.as_str().map(|text| f64::from(u32::try_from(text.chars().count()).unwrap()))
}

fn count(value: &Value) -> Option<f64> {
    value.as_array().map(|items| f64::from(u32::try_from(items.len()).unwrap()))
}

fn has_twice(value: &Value) -> bool {
    value.as_array().is_some_and(|items| (1..items.len()).any(|index| items[..index].contains(&items[index])))
}

fn has_type(demand: &Value, value: &Value) -> bool {
    match demand.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("{other}"),
    }
}

/// The patterns that the tests meet; another one fails.
fn fits(pattern: &str, text: &str) -> bool {
    let id = |prefix: &str| {
        let body = text.strip_prefix(prefix);
        body.is_some_and(|body| {
            (1..=64).contains(&body.len()) && body.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    };
    match pattern {
        "^rpl_[A-Za-z0-9]{1,64}$" => id("rpl_"),
        "^sub_[A-Za-z0-9]{1,64}$" => id("sub_"),
        "^evt_[A-Za-z0-9]{1,64}$" => id("evt_"),
        // Forms that types of ours check on their own; tests of those are elsewhere.
        _ => true,
    }
}

#[test]
fn the_validator_finds_what_it_should() {
    let schema: Value = serde_json::from_str(
        r#"{"type": "object", "required": ["a"], "additionalProperties": false,
            "properties": {"a": {"type": "string", "minLength": 2, "pattern": "^rpl_[A-Za-z0-9]{1,64}$"}, "b": {"oneOf": [{"type": "number"}, {"const": 7}]}}}"#,
    )
    .unwrap();
    let fits = |text: &str| misfit(&schema, &serde_json::from_str(text).unwrap()).is_none();
    assert!(fits(r#"{"a": "rpl_1", "b": 8}"#));
    for wrong in [
        "[]",
        "{}",
        r#"{"a": 1}"#,
        r#"{"a": "r"}"#,
        r#"{"a": "rpl_"}"#,
        r#"{"a": "rpl_1", "c": 1}"#,
        r#"{"a": "rpl_1", "b": 7}"#,
    ] {
        assert!(!fits(wrong), "{wrong}");
    }
}
