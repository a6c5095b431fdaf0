//! What clients can read as it is: a question, the export of a trace, the report on it, the audit record of a plan.

use demur_api::{
    call::ApiRequest,
    operation::{Nothing, OfQuestion, ShowQuestion},
    question::QuestionId,
    refusal::Refusal,
};
use demur_clarify::uuid::Uuid;
use demur_ledger::name::TraceId;
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, ResourceContents, ResourceTemplate},
};
use serde::Serialize;

use crate::{
    ask,
    host::{CallerConnection, Visitor},
    listen,
    pass::heard,
    plan,
};

/// Something that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resource {
    Question(QuestionId),
    Trace(TraceId),
    Report(TraceId),
    Audit(Uuid),
}

impl Resource {
    fn parse(uri: &str) -> Option<Self> {
        if let Some(id) = listen::question(uri) {
            return Some(Self::Question(id));
        }
        let parts: Vec<_> = uri.strip_prefix("demur://")?.split('/').collect();
        match parts.as_slice() {
            ["traces", trace] => trace.parse().ok().map(Self::Trace),
            ["traces", trace, "report"] => trace.parse().ok().map(Self::Report),
            ["plans", session, "audit"] => session.parse().ok().map(Self::Audit),
            _ => None,
        }
    }
}

/// Returns what can be read, with names in place of what is to be filled in.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, media: &str, words: &str| {
        ResourceTemplate::new(uri, name).with_description(words).with_mime_type(media)
    };
    vec![
        template(
            "demur://questions/{id}",
            "question",
            JSON,
            "A question and how it stands. A subscriber hears when it is answered.",
        ),
        template("demur://traces/{trace}", "trace", LINES, "A trace as a file that anybody can verify."),
        template("demur://traces/{trace}/report", "report", JSON, "What the export of a trace proves."),
        template(
            "demur://plans/{session}/audit",
            "audit",
            JSON,
            "The signed record of every round of a plan.",
        ),
    ]
}

/// Returns what a name stands for.
pub(crate) async fn read(
    visitor: &Visitor<impl CallerConnection>,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let resource = Resource::parse(uri).ok_or_else(|| unknown(uri))?;
    let (text, media) = content(visitor, resource).await.map_err(|refusal| refused(uri, &refusal))?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(media)]))
}

async fn content(
    visitor: &Visitor<impl CallerConnection>,
    resource: Resource,
) -> Result<(String, &'static str), Refusal> {
    match resource {
        Resource::Question(id) => {
            let request = ApiRequest::<ShowQuestion>::get(OfQuestion { question: id }, Nothing {});
            let view = visitor.ask(request).await?;
            let shown = text(&view)?;
            if visitor.is_asker(&view.asker) && !ask::is_secret(&view) {
                heard(visitor, &view).await;
            }
            Ok((shown, JSON))
        }
        Resource::Trace(trace) => {
            let bytes = visitor.export(trace, MAX_RESOURCE_BYTES).await?;
            Ok((String::from_utf8_lossy(&bytes).into_owned(), LINES))
        }
        Resource::Report(trace) => Ok((visitor.verify(trace).await?.to_string(), JSON)),
        Resource::Audit(session) => Ok((text(&plan::record(visitor, session).await?)?, JSON)),
    }
}

/// Returns a document as text, with its members in the order of their names.
fn text(document: &impl Serialize) -> Result<String, Refusal> {
    let value = serde_json::to_value(document).map_err(|error| Refusal::bug(&error))?;
    Ok(value.to_string())
}

fn unknown(uri: &str) -> ErrorData {
    let shown: String = uri.chars().take(128).collect();
    ErrorData::resource_not_found(
        format!("unknown resource {shown:?}; resources/templates/list names what there is"),
        None,
    )
}

fn refused(uri: &str, refusal: &Refusal) -> ErrorData {
    let hint = refusal.cure.as_deref().map_or_else(String::new, |hint| format!("; {hint}"));
    let message = format!("{uri}: {}{hint}", refusal.message);
    match refusal.code.status() {
        404 => ErrorData::resource_not_found(message, None),
        500.. => ErrorData::internal_error(message, None),
        _ => ErrorData::invalid_params(message, None),
    }
}

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";
/// How large a resource may be.
const MAX_RESOURCE_BYTES: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_completely_can_be_read() {
        let trace = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert!(matches!(Resource::parse(&format!("demur://traces/{trace}")), Some(Resource::Trace(_))));
        assert!(matches!(
            Resource::parse(&format!("demur://traces/{trace}/report")),
            Some(Resource::Report(_))
        ));
        for uri in [
            "",
            "demur://",
            "demur://traces/",
            "demur://traces/../x",
            "file:///etc/passwd",
            "demur://plans/x/audit",
        ] {
            assert_eq!(Resource::parse(uri), None, "{uri}");
        }
    }
}
