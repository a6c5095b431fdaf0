//! From words to policies: the part of Cedar's grammar that conditions on a plan need. Everything else is refused
//! by name, with what to write instead.

use std::collections::BTreeMap;

use super::{
    Annotation, Condition, Fault, Policy,
    lexer::{Kind, Token},
    syntax::{Expression, How, Order, Piece, Sign},
};

/// Reads words one after the other.
pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    deepest: usize,
    nodes: usize,
}

impl Parser {
    /// Returns a parser of these words, which end with [`Kind::End`].
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, at: 0, depth: 0, deepest: DEEPEST, nodes: 0 }
    }

    /// Returns all policies up to the end.
    pub(super) fn policies(mut self) -> Result<Vec<Policy>, Fault> {
        let mut policies = Vec::new();
        while self.peek() != &Kind::End {
            policies.push(self.policy()?);
        }
        Ok(policies)
    }

    /// Returns the one condition that the words are.
    pub(super) fn condition(mut self) -> Result<Condition, Fault> {
        // The normal form has brackets around every operator: some levels for each one that was written.
        self.deepest = DEEPEST * 6;
        let condition = self.expression()?;
        if self.peek() != &Kind::End {
            return Err(self.fault("the end of the condition"));
        }
        self.whole(condition)
    }

    fn policy(&mut self) -> Result<Policy, Fault> {
        let line = self.place().0;
        let annotations = self.annotations()?;
        if self.is_name("permit") {
            return Err(
                self.fault_cured("`forbid`", "a rule says what is a gap; write its condition as a forbid")
            );
        }
        self.name("forbid")?;
        self.scope()?;
        self.nodes = 0;
        let mut clauses = Vec::new();
        loop {
            let negated = self.is_name("unless");
            if !negated && !self.is_name("when") {
                break;
            }
            self.advance();
            self.sign("{")?;
            let body = self.expression()?;
            self.sign("}")?;
            clauses.push(if negated { Expression::Not(Box::new(body)) } else { body });
        }
        if clauses.is_empty() {
            return Err(self.fault("`when` or `unless`"));
        }
        self.sign(";")?;
        let condition = self.whole(one_or(clauses, Expression::All))?;
        Ok(Policy { annotations, condition, line })
    }

    /// Returns the condition, unless it reads the plan as a whole.
    fn whole(&self, expression: Expression) -> Result<Condition, Fault> {
        let condition = Condition(expression);
        if condition.reads().contains("") {
            return Err(self.fault_cured("a field after every `context`", "write `context.field`"));
        }
        Ok(condition)
    }

    fn annotations(&mut self) -> Result<BTreeMap<String, Annotation>, Fault> {
        let mut annotations = BTreeMap::new();
        while self.is_sign("@") {
            let (line, column) = self.place();
            self.advance();
            let name = self.any_name("the name of an annotation")?;
            self.sign("(")?;
            let value = self.plain_text()?;
            self.sign(")")?;
            if annotations.insert(name.clone(), Annotation { value, line, column }).is_some() {
                let (expected, found) = ("each annotation once".to_owned(), format!("@{name} twice"));
                return Err(Fault { line, column, expected, found, cure: None });
            }
        }
        Ok(annotations)
    }

    /// Reads `(principal, action, resource)`: a plan has no others.
    fn scope(&mut self) -> Result<(), Fault> {
        self.sign("(")?;
        for (index, name) in ["principal", "action", "resource"].into_iter().enumerate() {
            if index > 0 {
                self.sign(",")?;
            }
            self.name(name)?;
            if !self.is_sign(",") && !self.is_sign(")") {
                return Err(self.fault_cured("`,` or `)`", "write conditions on the plan after `when`"));
            }
        }
        self.sign(")")
    }

    fn expression(&mut self) -> Result<Expression, Fault> {
        self.depth += 1;
        if self.depth > self.deepest {
            return Err(self.fault(&format!("at most {} brackets inside one another", self.deepest)));
        }
        let expression = if self.is_name("if") { self.choice() } else { self.any() };
        self.depth -= 1;
        expression
    }

    fn choice(&mut self) -> Result<Expression, Fault> {
        self.name("if")?;
        let condition = Box::new(self.expression()?);
        self.name("then")?;
        let then = Box::new(self.expression()?);
        self.name("else")?;
        let otherwise = Box::new(self.expression()?);
        Ok(Expression::If { condition, then, otherwise })
    }

    fn any(&mut self) -> Result<Expression, Fault> {
        self.chain("||", Self::all, Expression::Any)
    }

    fn all(&mut self) -> Result<Expression, Fault> {
        self.chain("&&", Self::relation, Expression::All)
    }

    fn chain(
        &mut self,
        sign: &'static str,
        part: fn(&mut Self) -> Result<Expression, Fault>,
        make: fn(Vec<Expression>) -> Expression,
    ) -> Result<Expression, Fault> {
        let mut parts = vec![part(self)?];
        while self.is_sign(sign) {
            self.advance();
            parts.push(part(self)?);
        }
        Ok(one_or(parts, make))
    }

    fn relation(&mut self) -> Result<Expression, Fault> {
        let left = self.sum()?;
        let order =
            match self.peek() {
                Kind::Sign("==" | "!=") => return self.equal(left),
                Kind::Sign("<") => Order::Less,
                Kind::Sign("<=") => Order::LessOrEqual,
                Kind::Sign(">") => Order::Greater,
                Kind::Sign(">=") => Order::GreaterOrEqual,
                Kind::Name(name) if name == "has" => return self.has(left),
                Kind::Name(name) if name == "like" => return self.like(left),
                Kind::Name(name) if name == "in" => {
                    return Err(self
                        .fault_cured("another operator", "write `[\"a\", \"b\"].contains(context.field)`"));
                }
                Kind::Name(name) if name == "is" => {
                    return Err(self
                        .fault_cured("another operator", "a plan has no entities; compare a field with =="));
                }
                _ => return Ok(left),
            };
        self.advance();
        let right = Box::new(self.sum()?);
        Ok(Expression::Order { left: Box::new(left), right, order })
    }

    fn equal(&mut self, left: Expression) -> Result<Expression, Fault> {
        let negated = self.is_sign("!=");
        self.advance();
        let right = Box::new(self.sum()?);
        Ok(Expression::Equal { left: Box::new(left), right, negated })
    }

    fn has(&mut self, left: Expression) -> Result<Expression, Fault> {
        let Expression::Field(mut path) = left else {
            return Err(
                self.fault_cured("another operator", "write `context has field` or `context.a has b`")
            );
        };
        self.advance();
        if let Kind::Text(_) = self.peek() {
            path.push(self.plain_text()?);
        } else {
            path.push(self.any_name("the name of a field")?);
            while self.is_sign(".") {
                self.advance();
                path.push(self.any_name("the name of a field")?);
            }
        }
        self.checked_path(path).map(Expression::Has)
    }

    fn like(&mut self, left: Expression) -> Result<Expression, Fault> {
        self.advance();
        let Kind::Text(pattern) = self.peek().clone() else { return Err(self.fault("a pattern as a text")) };
        self.advance();
        Ok(Expression::Like { text: Box::new(left), pattern })
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        let first = self.product()?;
        let mut parts = vec![(Sign::Plus, first)];
        while self.is_sign("+") || self.is_sign("-") {
            let sign = if self.is_sign("+") { Sign::Plus } else { Sign::Minus };
            self.advance();
            parts.push((sign, self.product()?));
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0).1);
        }
        Ok(Expression::Sum(parts))
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        self.chain("*", Self::unary, Expression::Product)
    }

    fn unary(&mut self) -> Result<Expression, Fault> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(self.fault(&format!("at most {MOST_NODES} parts in one policy")));
        }
        if self.is_sign("!") {
            self.advance();
            return self.nested(Self::unary).map(|part| Expression::Not(Box::new(part)));
        }
        if self.is_sign("-") {
            self.advance();
            return match self.nested(Self::unary)? {
                Expression::Long(number) => Ok(Expression::Long(-number)),
                other => Ok(Expression::Sum(vec![(Sign::Plus, Expression::Long(0)), (Sign::Minus, other)])),
            };
        }
        self.member()
    }

    /// Reads a part one level deeper.
    fn nested(&mut self, part: fn(&mut Self) -> Result<Expression, Fault>) -> Result<Expression, Fault> {
        self.depth += 1;
        if self.depth > self.deepest {
            return Err(self.fault(&format!("at most {} brackets inside one another", self.deepest)));
        }
        let read = part(self);
        self.depth -= 1;
        read
    }

    fn member(&mut self) -> Result<Expression, Fault> {
        let mut whole = self.primary()?;
        loop {
            if self.is_sign("[") {
                self.advance();
                let name = self.plain_text()?;
                self.sign("]")?;
                whole = self.step(whole, name)?;
            } else if self.is_sign(".") {
                self.advance();
                let name = self.any_name("the name of a field or method")?;
                if self.is_sign("(") {
                    return self.method(whole, &name);
                }
                whole = self.step(whole, name)?;
            } else {
                return Ok(whole);
            }
        }
    }

    fn step(&mut self, whole: Expression, name: String) -> Result<Expression, Fault> {
        let Expression::Field(mut path) = whole else {
            return Err(
                self.fault_cured("an operator", "fields are written from `context` on: `context.a.b`")
            );
        };
        path.push(name);
        self.checked_path(path).map(Expression::Field)
    }

    fn method(&mut self, whole: Expression, name: &str) -> Result<Expression, Fault> {
        let how = match name {
            "contains" => How::One,
            "containsAll" => How::All,
            "containsAny" => How::Any,
            "isEmpty" => {
                self.sign("(")?;
                self.sign(")")?;
                return Ok(Expression::IsEmpty(Box::new(whole)));
            }
            _ => return Err(self.fault_at(self.at - 1, "contains, containsAll, containsAny or isEmpty")),
        };
        self.sign("(")?;
        let entry = Box::new(self.expression()?);
        self.sign(")")?;
        Ok(Expression::Contains { list: Box::new(whole), entry, how })
    }

    fn primary(&mut self) -> Result<Expression, Fault> {
        match self.peek().clone() {
            Kind::Name(name) if name == "true" || name == "false" => {
                self.advance();
                Ok(Expression::Bool(name == "true"))
            }
            Kind::Name(name) if name == "context" => {
                self.advance();
                Ok(Expression::Field(Vec::new()))
            }
            Kind::Number(number) => {
                self.advance();
                Ok(Expression::Long(number))
            }
            Kind::Text(_) => self.plain_text().map(Expression::Text),
            Kind::Sign("(") => {
                self.advance();
                let inner = self.expression()?;
                self.sign(")")?;
                Ok(inner)
            }
            Kind::Sign("[") => self.list(),
            Kind::Name(name) if matches!(name.as_str(), "principal" | "action" | "resource") => {
                Err(self.fault_cured("a field of the plan", "the plan is `context`: write `context.field`"))
            }
            _ => Err(self.fault("a value: context.field, a text, a number, true, false, a list or brackets")),
        }
    }

    fn list(&mut self) -> Result<Expression, Fault> {
        self.sign("[")?;
        let mut entries = Vec::new();
        while !self.is_sign("]") {
            entries.push(self.expression()?);
            if !self.is_sign("]") {
                self.sign(",")?;
            }
        }
        self.advance();
        Ok(Expression::List(entries))
    }

    fn checked_path(&self, path: Vec<String>) -> Result<Vec<String>, Fault> {
        let dotted = path.join(".");
        if dotted.parse::<demur_clarify::name::FieldPath>().is_ok()
            && !path.iter().any(|name| name.contains('.'))
        {
            return Ok(path);
        }
        Err(self.fault_at(self.at.saturating_sub(1), "a field of letters, digits, _, $ and -"))
    }

    fn plain_text(&mut self) -> Result<String, Fault> {
        let Kind::Text(pieces) = self.peek() else { return Err(self.fault("a text in double quotes")) };
        let characters = pieces.iter().map(|piece| match piece {
            Piece::Star => '*',
            Piece::Character(character) => *character,
        });
        let text = characters.collect();
        self.advance();
        Ok(text)
    }

    fn any_name(&mut self, expected: &str) -> Result<String, Fault> {
        let Kind::Name(name) = self.peek() else { return Err(self.fault(expected)) };
        let name = name.clone();
        self.advance();
        Ok(name)
    }

    fn name(&mut self, name: &str) -> Result<(), Fault> {
        if !self.is_name(name) {
            return Err(self.fault(&format!("`{name}`")));
        }
        self.advance();
        Ok(())
    }

    fn sign(&mut self, sign: &'static str) -> Result<(), Fault> {
        if !self.is_sign(sign) {
            return Err(self.fault(&format!("`{sign}`")));
        }
        self.advance();
        Ok(())
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Kind::Name(found) if found == name)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Kind::Sign(found) if *found == sign)
    }

    fn peek(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    fn place(&self) -> (u32, u32) {
        (self.tokens[self.at].line, self.tokens[self.at].column)
    }

    /// Goes on by one word; the end stays the end.
    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn fault(&self, expected: &str) -> Fault {
        self.fault_at(self.at, expected)
    }

    fn fault_at(&self, at: usize, expected: &str) -> Fault {
        let Token { kind, line, column } = &self.tokens[at];
        let expected = expected.to_owned();
        Fault { line: *line, column: *column, expected, found: kind.words(), cure: None }
    }

    fn fault_cured(&self, expected: &str, cure: &str) -> Fault {
        Fault { cure: Some(cure.to_owned()), ..self.fault(expected) }
    }
}

fn one_or(mut parts: Vec<Expression>, make: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() == 1 { parts.remove(0) } else { make(parts) }
}

/// Brackets inside one another: far more than anybody reads, far less than a stack holds.
const DEEPEST: usize = 16;

/// Parts of one policy.
const MOST_NODES: usize = 512;
