//! Conditions of a rule pack: policies in the syntax of Cedar, decided against a plan that may lack fields
//! (issue "rules as data"; `docs/design/006-rules.md` says why Cedar's own library is not used).
//!
//! A condition is true, false, or lacks fields. What the rest of the crate knows of it is in this file; another
//! evaluator could stand behind it.

mod evaluate;
mod lexer;
mod parser;
mod syntax;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::syntax::Expression;

/// One policy as it stands in a file.
#[derive(Debug)]
pub(crate) struct Policy {
    /// Its annotations: name, value, line.
    pub(crate) annotations: BTreeMap<String, Annotation>,
    /// When it forbids.
    pub(crate) condition: Condition,
    /// The line on which it begins.
    pub(crate) line: u32,
}

/// The value of an annotation and where it stands.
#[derive(Debug)]
pub(crate) struct Annotation {
    pub(crate) value: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) cure: Option<String>,
}

/// When a policy forbids: every `when` holds and no `unless` does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition(Expression);

/// What a condition says about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is true.
    Holds,
    /// It is false.
    Fails,
    /// It cannot be decided without these fields, each with what it has to be.
    Lacks(BTreeMap<String, Lack>),
}

/// What a field has to be, and whether there is something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lack {
    pub(crate) needed: Shape,
    pub(crate) found: Option<Shape>,
}

/// The shapes of values that conditions tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Any,
    Bool,
    Long,
    Decimal,
    Text,
    List,
    Record,
}

impl Shape {
    /// Returns its name in a sentence.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Bool => "yes or no",
            Self::Long => "a whole number",
            Self::Decimal => "a number with a fraction",
            Self::Text => "a text",
            Self::List => "a list",
            Self::Record => "a record",
        }
    }
}

/// Returns the policies of a text.
pub(crate) fn policies(text: &str) -> Result<Vec<Policy>, Fault> {
    parser::Parser::new(lexer::tokens(text)?).policies()
}

impl Condition {
    /// Returns the condition with this normal form.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        parser::Parser::new(lexer::tokens(text)?).condition()
    }

    /// Returns what it says about a plan. `derived` stands in for the member of that name.
    pub(crate) fn decide(&self, plan: &Value, derived: &Value) -> Verdict {
        evaluate::decide(&self.0, evaluate::Context { plan, derived })
    }

    /// Returns the dotted paths it reads, without those that it only asks the presence of.
    pub(crate) fn reads(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        self.0.reads(&mut paths);
        paths
    }

    /// Returns every dotted path in it.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let mut paths = self.reads();
        self.0.asks(&mut paths);
        paths
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decide(text: &str, plan: &Value) -> Verdict {
        let condition = Condition::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        let again = Condition::parse(&condition.to_string()).unwrap();
        assert_eq!(condition, again, "{condition}");
        condition.decide(plan, &json!({"standards": ["a"]}))
    }

    fn lacks(text: &str, plan: &Value) -> Vec<String> {
        match decide(text, plan) {
            Verdict::Lacks(lacks) => lacks.into_keys().collect(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn decides_what_a_plan_has() {
        let plan = json!({"a": 1, "b": "x", "c": {"d": [1, 2]}, "t": true, "n": null, "f": 1.5});
        for text in [
            "context.a == 1",
            "context.a != \"1\"",
            "context.a + 2 * 3 - 1 == 6",
            "-context.a < 0 && -1 == 0 - context.a",
            "context.a <= 1 && context.a >= 1 && !(context.a < 1) && !(context.a > 1)",
            "context.b like \"*\" && context[\"b\"] like \"x\" && !(context.b like \"\\*\")",
            "context.c.d.contains(2) && context.c.d.containsAll([1]) && context.c.d.containsAny([7, 1])",
            "[2, 1, 1] == context.c.d && ![].contains(1) && [].isEmpty()",
            "context has c.d && context.c has d && !(context has x) && !(context has n) && !(context has a.b)",
            "if context.t then context.a == 1 else context.x == 1",
            "context.f != context.a && context.f == context.f",
            "context.derived.standards.contains(\"a\")",
            "true || context.x",
            "context.x == 1 || true",
            "!(context.x && false)",
            "(!context.t).contains(1) || context.t",
        ] {
            assert_eq!(decide(text, &plan), Verdict::Holds, "{text}");
        }
        assert_eq!(decide("context.x == 1 && context.a == 2", &plan), Verdict::Fails);
    }

    /// CLR-15
    #[test]
    fn names_the_fields_without_which_it_cannot_be_decided() {
        let plan = json!({"a": 1, "n": null});
        assert_eq!(lacks("context.x == context.y.z", &plan), ["x", "y.z"]);
        assert_eq!(lacks("context.x && context.y", &plan), ["x"]);
        assert_eq!(lacks("context.a == 1 && (context.x || context.y)", &plan), ["x"]);
        assert_eq!(lacks("context.n < context.x + context.y", &plan), ["n", "x", "y"]);
        assert_eq!(lacks("context.a.b == 1", &plan), ["a.b"]);
        assert_eq!(lacks("if context.x then context.a == 1 else context.a == 2", &plan), ["x"]);
        assert_eq!(decide("if context.x then context.a == 1 else true", &plan), Verdict::Holds);
    }

    #[test]
    fn says_which_shape_is_needed() {
        let lack = |text: &str, plan: Value| match decide(text, &plan) {
            Verdict::Lacks(lacks) => *lacks.values().next().unwrap(),
            other => panic!("{text}: {other:?}"),
        };
        let missing = |needed| Lack { needed, found: None };
        assert_eq!(lack("context.x < 3", json!({})), missing(Shape::Long));
        assert_eq!(lack("context.x == \"a\"", json!({})), missing(Shape::Text));
        assert_eq!(lack("context.x.contains(1)", json!({})), missing(Shape::List));
        assert_eq!(lack("[\"a\"].contains(context.x)", json!({})), missing(Shape::Text));
        assert_eq!(lack("!context.x", json!({})), missing(Shape::Bool));
        let wrong = |needed, found| Lack { needed, found: Some(found) };
        assert_eq!(lack("context.x < 3", json!({"x": "2"})), wrong(Shape::Long, Shape::Text));
        assert_eq!(lack("context.x < 3", json!({"x": 2.5})), wrong(Shape::Long, Shape::Decimal));
        assert_eq!(lack("context.x", json!({"x": []})), wrong(Shape::Bool, Shape::List));
        let large = (1_i64 << 53) - 1;
        assert_eq!(lack("context.x * context.x * context.x > 0", json!({"x": large})).needed, Shape::Long);
    }

    #[test]
    fn depth_and_size_are_bounded() {
        for text in [
            format!("{}true{}", "(".repeat(200), ")".repeat(200)),
            format!("{}true", "!".repeat(200)),
            format!("{}1 == 1", "-".repeat(200)),
            format!("true{}", " && true".repeat(600)),
        ] {
            assert!(Condition::parse(&text).is_err());
        }
    }
}
