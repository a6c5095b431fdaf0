//! One call of an operation, in process or over HTTP: its request, its reply, and its address.

use std::fmt;

use crate::{
    operation::{Nothing, Operation, PathArguments as _, in_path},
    refusal::Refusal,
};

/// The request for an operation.
pub struct ApiRequest<O: Operation> {
    /// The arguments in its path.
    pub path: O::Path,
    /// The parameters in its query.
    pub query: O::Query,
    /// The document that is sent.
    pub body: O::Body,
    /// The key that makes a retry safe.
    pub key: Option<IdempotencyKey>,
}

/// The reply of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiReply<T> {
    /// The document.
    pub document: T,
    /// Whether the same had been recorded before, and nothing was recorded now.
    pub repeated: bool,
}

impl<T> ApiReply<T> {
    /// Returns the reply of an operation that was not done before.
    pub const fn new(document: T) -> Self {
        Self { document, repeated: false }
    }
}

/// A way to have an operation done.
pub trait Call<O: Operation> {
    /// Has it done.
    fn call(
        &self,
        request: ApiRequest<O>,
    ) -> impl Future<Output = Result<ApiReply<O::Output>, Refusal>> + Send;
}

impl<O: Operation<Body = Nothing>> ApiRequest<O> {
    /// Returns a request without a document.
    pub const fn get(path: O::Path, query: O::Query) -> Self {
        Self { path, query, body: Nothing {}, key: None }
    }
}

impl<O: Operation<Query = Nothing>> ApiRequest<O> {
    /// Returns a request with a document, and without parameters.
    pub const fn send(path: O::Path, body: O::Body) -> Self {
        Self { path, query: Nothing {}, body, key: None }
    }
}

impl<O: Operation> ApiRequest<O> {
    /// Returns the request under a key that makes a retry safe.
    #[must_use]
    pub fn under(mut self, key: IdempotencyKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Returns its address over HTTP: the path with its arguments, and the query.
    pub fn address(&self) -> Result<String, QueryError> {
        let mut values = self.path.values().into_iter();
        let part = |part: &str| match part.strip_prefix('{') {
            Some(_) => values.next().map_or_else(String::new, |value| in_path(&value)),
            None => part.to_owned(),
        };
        let mut address = O::ABOUT.path.split('/').map(part).collect::<Vec<_>>().join("/");
        let query =
            serde_urlencoded::to_string(&self.query).map_err(|error| QueryError(error.to_string()))?;
        if !query.is_empty() {
            address.push('?');
            address.push_str(&query);
        }
        Ok(address)
    }
}

/// A query that cannot be written: a document in it has members of its own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected parameters that stand in a query, found others: {0}")]
pub struct QueryError(String);

/// A key that makes a retry safe: the same request under the same key is recorded once, for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// How many characters one has at most.
    pub const LENGTH_LIMIT: usize = 256;

    /// Returns the key as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for IdempotencyKey {
    type Error = NoKey;

    fn try_from(text: String) -> Result<Self, NoKey> {
        let fits = (1..=Self::LENGTH_LIMIT).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) { Ok(Self(text)) } else { Err(NoKey) }
    }
}

/// A text that is no idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an Idempotency-Key of 1 to 256 visible characters, found another")]
pub struct NoKey;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        operation::{ListQuestions, NoArguments, OfPerson, OfQuestion, RemovePerson, WaitForQuestion},
        question::{QuestionListParameters, WaitParameters},
    };

    #[test]
    fn address_holds_what_stands_in_the_path_and_in_the_query() {
        let question = "01ARZ3NDEKTSV4RRFFQ69G5FAV.12".parse().unwrap();
        let query = WaitParameters { seconds: Some(30) };
        let request = ApiRequest::<WaitForQuestion>::get(OfQuestion { question }, query);
        let address = "/v1/questions/01ARZ3NDEKTSV4RRFFQ69G5FAV.12/wait?seconds=30";
        assert_eq!(request.address().unwrap(), address);
    }

    #[test]
    fn what_is_left_out_of_a_query_does_not_stand_in_it() {
        let query = QuestionListParameters { mine: Some(true), ..QuestionListParameters::default() };
        let request = ApiRequest::<ListQuestions>::get(NoArguments {}, query);
        assert_eq!(request.address().unwrap(), "/v1/questions?mine=true");
    }

    #[test]
    fn name_in_a_path_leads_nowhere_else() {
        for (person, part) in
            [("a/../b c?d#e%", "a%2F..%2Fb%20c%3Fd%23e%25"), ("..", "%2E%2E"), ("é", "%C3%A9")]
        {
            let request =
                ApiRequest::<RemovePerson>::send(OfPerson { person: person.to_owned() }, Nothing {});
            assert_eq!(request.address().unwrap(), format!("/v1/people/{part}"));
        }
    }

    #[test]
    fn key_is_visible_and_not_too_long() {
        let key = |text: &str| IdempotencyKey::try_from(text.to_owned()).is_ok();
        assert!(key("a") && key(&"~".repeat(256)));
        assert!(!key("") && !key(&"a".repeat(257)) && !key("a b") && !key("\u{e9}") && !key("a\n"));
    }
}
