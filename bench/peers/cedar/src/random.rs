//! Random policies and plans. A plan has each field three times in four, mostly in the shape that conditions expect.

use demur_core::random::{Random as _, Seeded};
use serde_json::{Map, Value, json};

/// Throws everything.
pub(crate) struct Dice(Seeded);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Seeded::from_number(seed))
    }

    /// Returns the clauses of a policy.
    pub(crate) fn policy(&mut self) -> String {
        let first = format!("when {{ {} }}", self.boolean(3));
        if self.below(4) > 0 {
            return first;
        }
        let word = self.pick(&["when", "unless"]);
        format!("{first} {word} {{ {} }}", self.boolean(2))
    }

    /// Returns a plan.
    pub(crate) fn plan(&mut self) -> Value {
        let (mut plan, mut inner) = (Map::new(), Map::new());
        self.give(&mut plan, &OUTER, 3);
        if self.below(5) > 0 {
            self.give(&mut inner, &INNER, 3);
            plan.insert("e".to_owned(), Value::Object(inner));
        }
        Value::Object(plan)
    }

    /// Returns the same plan with every field that it lacks.
    pub(crate) fn complete(&mut self, plan: &Value) -> Value {
        let mut plan = plan.as_object().cloned().unwrap_or_default();
        self.give(&mut plan, &OUTER, 4);
        let inner = plan.entry("e").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(inner) = inner {
            self.give(inner, &INNER, 4);
        }
        Value::Object(plan)
    }

    /// Gives fields that are not there yet, this often out of four.
    fn give(&mut self, fields: &mut Map<String, Value>, names: &[(&str, u64)], often: u64) {
        for (name, shape) in names {
            if !fields.contains_key(*name) && self.below(4) < often {
                let value = self.value(*shape);
                fields.insert((*name).to_owned(), value);
            }
        }
    }

    /// Returns a value of this shape five times in six; there are four shapes, and more means any.
    fn value(&mut self, shape: u64) -> Value {
        let shape = if shape > 3 || self.below(6) == 0 { self.below(4) } else { shape };
        match shape {
            0 => json!([-1, 0, 1, 2][self.index(4)]),
            1 => json!(self.pick(&["", "x", "xyz", "a*b"])),
            2 => json!(self.below(2) == 0),
            _ => {
                let length = self.below(3);
                (0..length)
                    .map(|_| {
                        let shape = self.below(3);
                        self.value(shape)
                    })
                    .collect()
            }
        }
    }

    fn any(&mut self, depth: u32) -> String {
        match self.below(6) {
            0 => self.long(depth),
            1 => self.text(),
            2 => self.boolean(depth),
            3 => self.list(depth),
            _ => self.pick(&FIELDS).to_owned(),
        }
    }

    fn long(&mut self, depth: u32) -> String {
        let Some(less) = depth.checked_sub(1) else {
            return self.pick(&["0", "1", "2", "-3", "context.a", "context.e.f"]).to_owned();
        };
        match self.below(6) {
            0 => format!("({} + {})", self.long(less), self.long(less)),
            1 => format!("{} - {}", self.long(0), self.long(0)),
            2 => format!("{} * {}", self.long(0), self.long(0)),
            3 => format!("(if {} then {} else {})", self.boolean(less), self.long(less), self.long(less)),
            4 => self.pick(&FIELDS).to_owned(),
            _ => self.long(0),
        }
    }

    fn text(&mut self) -> String {
        self.pick(&["\"\"", "\"x\"", "\"a*b\"", "\"xyz\"", "context.b", "context.t"]).to_owned()
    }

    fn list(&mut self, depth: u32) -> String {
        match depth.checked_sub(1) {
            Some(less) if self.below(2) == 0 => {
                let items: Vec<_> = (0..=self.below(3)).map(|_| self.any(less)).collect();
                format!("[{}]", items.join(", "))
            }
            _ => self.pick(&["context.d", "context.e.l", "[]"]).to_owned(),
        }
    }

    fn boolean(&mut self, depth: u32) -> String {
        let Some(less) = depth.checked_sub(1) else { return self.pick(&TESTS).to_owned() };
        match self.below(12) {
            0 | 1 => format!("({} && {})", self.boolean(less), self.boolean(less)),
            2 | 3 => format!("({} || {})", self.boolean(less), self.boolean(less)),
            4 => format!("!({})", self.boolean(less)),
            5 => format!("({} == {})", self.any(less), self.any(less)),
            6 => format!("({} != {})", self.any(less), self.any(less)),
            7 => {
                let sign = self.pick(&["<", "<=", ">", ">="]);
                format!("({} {sign} {})", self.long(less), self.long(less))
            }
            8 => format!("({} like {})", self.text(), self.pick(&PATTERNS)),
            9 => {
                let test = self.pick(&["containsAll", "containsAny"]);
                format!("{}.{test}({})", self.list(less), self.list(less))
            }
            10 if self.below(4) == 0 => format!("{}.isEmpty()", self.list(less)),
            10 => format!("{}.contains({})", self.list(less), self.any(less)),
            _ => {
                format!("(if {} then {} else {})", self.boolean(less), self.boolean(less), self.boolean(less))
            }
        }
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.index(from.len())]
    }

    #[expect(clippy::cast_possible_truncation, reason = "it is below a length")]
    fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns a number below this one. The larger ones are a little rarer, which does no harm here.
    fn below(&mut self, limit: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_be_bytes(bytes) % limit
    }
}

/// The fields of a plan and their usual shapes.
const OUTER: [(&str, u64); 5] = [("a", 0), ("b", 1), ("c", 2), ("d", 3), ("t", 4)];
/// Those inside of `e`.
const INNER: [(&str, u64); 3] = [("f", 0), ("g-h", 1), ("l", 3)];

const FIELDS: [&str; 8] = [
    "context.a",
    "context.b",
    "context.c",
    "context.d",
    "context.e.f",
    "context[\"e\"][\"g-h\"]",
    "context.e.l",
    "context.t",
];

/// Without parentheses `has` does not stand beside `==`, so some policies are refused.
const TESTS: [&str; 10] = [
    "true",
    "false",
    "context.c",
    "context.t",
    "context has a",
    "(context has a)",
    "(context has e.f)",
    "(context.e has \"g-h\")",
    "(context has zz)",
    "context.c",
];

const PATTERNS: [&str; 7] = ["\"*\"", "\"x*\"", "\"*y*\"", "\"\\*\"", "\"a\\*b\"", "\"\"", "\"*x\""];
