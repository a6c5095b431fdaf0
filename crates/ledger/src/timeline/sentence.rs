//! What an event says, in one sentence, and why, in its author's own words.

use demur_core::words::counted_as;

use super::{detail::risk, recall::Recall};
use crate::{
    attribution::{ClientNames, came, is_own},
    content::DeliveryContent,
    event_type::{Content, Facts},
    facts::{
        Assurance, Attribution, IntentDecision, PaperKind, ProposalDecision, Severity, VerificationProfile,
        VerificationStatus,
    },
    name::Sequence,
};

/// Returns how an act came, as the lists of questions say it.
fn way(assurance: Assurance, attribution: Option<&Attribution>) -> String {
    came(assurance, attribution, &ClientNames::default())
}

/// Returns an ending, and whether it came through a program that takes part: then it is that program's word as much as a person's.
fn ends(what: &str, facts: &Facts) -> String {
    let through = if is_own(facts) { " through the client of one who takes part" } else { "" };
    format!("{what}{through}")
}

/// Returns an act of somebody who answers, and how it came where a person is said to have done it.
fn by_way(what: String, facts: &Facts) -> String {
    match facts.attribution().flatten() {
        Some(found) => format!("{what} ({})", way(found.root.bears(), Some(found))),
        None => what,
    }
}

/// Returns what happened, in one sentence.
pub(super) fn what(facts: &Facts, content: Option<&Content>, recall: &Recall) -> String {
    match facts {
        Facts::SessionInitialized(facts) => {
            format!("opens the run for {} participants", facts.participants.len())
        }
        Facts::PolicyRecorded(_) => policy(content),
        Facts::ProposalCreated(facts) => match (facts.replaces, facts.fallback_for) {
            (_, Some(failed)) => {
                format!("proposes a fallback from {}", called("intent", failed, recall.tool(failed)))
            }
            (Some(old), None) => format!("proposes again, in place of #{old}"),
            (None, None) => "proposes".to_owned(),
        },
        Facts::ProposalReviewed(facts) => {
            let number = facts.proposal;
            match facts.decision {
                ProposalDecision::Approved => format!("approves proposal #{number}"),
                ProposalDecision::ConditionallyApproved => {
                    let conditions = counted_as(facts.conditions.as_u64(), "condition", "conditions");
                    format!("approves proposal #{number} on {conditions}")
                }
                ProposalDecision::Blocked => format!("blocks proposal #{number}"),
                ProposalDecision::Rejected => format!("rejects proposal #{number}"),
            }
        }
        Facts::ArtifactRecorded(_) => match content {
            Some(Content::ArtifactRecorded(content)) => {
                let size = counted_as(content.size.as_u64(), "byte", "bytes");
                format!("records {} ({}, {size})", content.name, content.media_type)
            }
            _ => "records an artifact".to_owned(),
        },
        other => what_of_tools(other, content, recall),
    }
}

fn what_of_tools(facts: &Facts, content: Option<&Content>, recall: &Recall) -> String {
    match facts {
        Facts::ToolIntentSigned(facts) => {
            let tool = match content {
                Some(Content::ToolIntentSigned(content)) => content.tool.as_str(),
                _ => "a tool",
            };
            let again = facts.retries.map_or(String::new(), |failed| format!(", trying #{failed} again"));
            let risk = risk(facts.risk);
            format!("intends to run {tool} at {risk} risk for proposal #{}{again}", facts.proposal)
        }
        Facts::ToolIntentReviewed(facts) => {
            let intent = called("intent", facts.intent, recall.tool(facts.intent));
            match facts.decision {
                IntentDecision::Approved => format!("lets {intent} through"),
                IntentDecision::Blocked => format!("blocks {intent}"),
            }
        }
        Facts::ConditionJudged(facts) => {
            let holds = if facts.holds { "holds" } else { "does not hold" };
            let intent = called("intent", facts.intent, recall.tool(facts.intent));
            format!("judges that condition {} {holds} for {intent}", facts.condition.as_u64())
        }
        Facts::CheckStated(facts) => {
            let artifact = called("artifact", facts.artifact, recall.artifact(facts.artifact));
            match facts.condition {
                Some(condition) => {
                    let intent = called("intent", facts.about, recall.tool(facts.about));
                    format!("checks condition {} of {intent} on {artifact}", condition.as_u64())
                }
                None => format!("checks claim #{} on {artifact}", facts.about),
            }
        }
        Facts::ToolExecutionStarted(facts) => {
            format!("starts {}", called("intent", facts.intent, recall.tool(facts.intent)))
        }
        Facts::ToolExecutionCompleted(facts) => {
            format!("completes {}", called("execution", facts.started, recall.tool_started(facts.started)))
        }
        Facts::ToolExecutionFailed(facts) => {
            let execution = called("execution", facts.started, recall.tool_started(facts.started));
            format!("reports that {execution} failed")
        }
        other => what_of_claims(other),
    }
}

fn what_of_claims(facts: &Facts) -> String {
    match facts {
        Facts::ClaimIssued(facts) if facts.about_failure => "claims, about a failure".to_owned(),
        Facts::ClaimIssued(_) => "claims".to_owned(),
        Facts::ClaimRevised(facts) => format!("claims, in place of #{}", facts.replaces),
        Facts::ClaimChallenged(facts) => format!("challenges claim #{}", facts.claim),
        Facts::ClaimResolved(facts) => format!("closes challenge #{}", facts.challenge),
        Facts::ClaimRetracted(facts) => format!("takes back claim #{}", facts.claim),
        Facts::FinalStatementSigned(facts) => {
            let claims = counted_as(facts.claims.len() as u64, "claim", "claims");
            format!("signs the final statement over {claims}")
        }
        Facts::VerificationRunStarted(facts) => match facts.profile {
            VerificationProfile::Strict => "begins to verify, strictly".to_owned(),
            VerificationProfile::Default => "begins to verify".to_owned(),
            VerificationProfile::Lenient => "begins to verify, leniently".to_owned(),
        },
        Facts::ReportRecorded(_) => "records its report".to_owned(),
        Facts::VerificationRunCompleted(facts) => match facts.status {
            VerificationStatus::Pass => "verified: pass".to_owned(),
            VerificationStatus::PassWithWarnings => "verified: pass with warnings".to_owned(),
            VerificationStatus::Fail => "verified: fail".to_owned(),
        },
        Facts::SessionAborted(_) => ends("aborts the run", facts),
        Facts::RecoveryRecorded(_) => "came back after a crash".to_owned(),
        Facts::CommandRefused(facts) => format!("refused a command: {}", facts.code.as_str()),
        Facts::ContentErased(facts) => format!("erased what #{} said", facts.event),
        other => what_of_keys(other),
    }
}

fn what_of_keys(facts: &Facts) -> String {
    match facts {
        Facts::StoreCreated(_) => "opens the store".to_owned(),
        Facts::KeyRegistered(facts) => format!("registers key {}", facts.key.fingerprint().short()),
        Facts::KeyRotated(facts) => {
            format!("rotates key {} to {}", facts.old.short(), facts.key.fingerprint().short())
        }
        Facts::KeyRetired(facts) => format!("retires key {}", facts.key.short()),
        Facts::KeyRevoked(facts) => format!("revokes key {}", facts.key.short()),
        Facts::CheckpointRecorded(_) => "records a checkpoint of all traces".to_owned(),
        Facts::StoreRestored(facts) => format!("restored the store: epoch {}", facts.epoch.as_u64()),
        Facts::ClientBound(facts) => format!("made key {} for client {}", facts.key.short(), facts.client),
        Facts::TokenMade(facts) => {
            let scopes: Vec<_> = facts.scopes.iter().map(|scope| scope.as_str()).collect();
            let until = facts.expires.map_or(String::new(), |time| format!(", good until {time}"));
            format!("gives client {} a token to {}{until}", facts.client, scopes.join(" and "))
        }
        Facts::TokenRevoked(facts) => format!("takes token {} back", facts.token),
        other => what_of_people(other),
    }
}

fn what_of_people(facts: &Facts) -> String {
    match facts {
        Facts::PersonAdded(facts) => format!("adds person {} as {}", facts.person, facts.role.as_str()),
        Facts::PersonChanged(facts) => {
            format!("changes person {}, who is {} from here on", facts.person, facts.role.as_str())
        }
        Facts::PersonRemoved(facts) => format!("removes person {}, whose passkeys end", facts.person),
        Facts::PasskeyRooted(facts) => {
            let key = facts.0.key.fingerprint();
            format!("brings in passkey {}, the root of the store, for which nobody vouches", key.short())
        }
        Facts::PasskeyAdded(facts) => {
            format!("vouches for passkey {} of person {}", facts.key.fingerprint().short(), facts.person)
        }
        Facts::PasskeyRemoved(facts) => format!("removes passkey {}", facts.key.short()),
        Facts::PasskeyReset(facts) => {
            let key = facts.0.key.fingerprint();
            format!("ends every passkey but the new one {}, with the recovery key", key.short())
        }
        Facts::JournalOpened(_) => "opens the journal of sign-ins".to_owned(),
        Facts::SessionOpened(facts) => {
            let way = facts.attribution.as_deref();
            let came = way.map_or_else(
                || "with a passkey".to_owned(),
                |way| came(way.root.bears(), Some(way), &ClientNames::default()),
            );
            format!("person {} signs in ({came})", facts.person)
        }
        other => what_of_questions(other),
    }
}

fn what_of_questions(all: &Facts) -> String {
    match all {
        Facts::QuestionAsked(facts) if facts.0.is_secret() => {
            format!("asks for a secret{}", weight(facts.0.severity))
        }
        Facts::QuestionAsked(facts) => format!("asks{}", weight(facts.0.severity)),
        Facts::GapFound(facts) => match facts.0.repeats {
            Some(before) => format!("asks #{before} again{}", weight(facts.0.severity)),
            None => format!("found a gap{}", weight(facts.0.severity)),
        },
        Facts::GapAccepted(facts) => {
            let came = way(facts.assurance, facts.attribution.as_deref());
            format!("accepts #{} as it is ({came})", facts.question.sequence)
        }
        Facts::GapWithdrawn(facts) => by_way(format!("withdraws question #{}", facts.question), all),
        Facts::QuestionDelivered(facts) => format!("delivered question #{}", facts.question),
        Facts::QuestionAnswered(facts) => {
            format!(
                "answers question #{} ({})",
                facts.question.sequence,
                way(facts.assurance, facts.attribution.as_deref())
            )
        }
        Facts::AnswerClaimed(facts) => {
            format!("thinks it knows the answer to its own question #{}", facts.question)
        }
        Facts::AnswerRejected(facts) => {
            format!("rejects an answer to question #{}: {}", facts.question, facts.code.as_str())
        }
        Facts::AnswerSuperseded(facts) => {
            let answer = &facts.answer;
            let came = way(answer.assurance, answer.attribution.as_deref());
            let question = answer.question.sequence;
            format!("answers question #{question} anew, in place of #{} ({came})", facts.replaces)
        }
        Facts::AnswerRevoked(facts) => {
            let (answer, question) = (facts.answer, facts.question);
            by_way(format!("takes back answer #{answer}; question #{question} is open again"), all)
        }
        Facts::QuestionDeclined(facts) => {
            by_way(format!("declines to answer question #{}", facts.question), all)
        }
        Facts::QuestionPassedOn(facts) => by_way(format!("passes question #{} on", facts.question), all),
        Facts::QuestionEscalated(facts) => format!("escalates question #{}", facts.question),
        Facts::QuestionExtended(facts) => {
            by_way(format!("gives question #{} time until {}", facts.question, facts.deadline), all)
        }
        Facts::QuestionCancelled(facts) => format!("no longer needs an answer to #{}", facts.question),
        Facts::QuestionExpired(facts) => format!("question #{} expired unanswered", facts.question),
        Facts::QuestionDefaulted(facts) => {
            format!("nobody answered question #{} in time: its default holds", facts.question)
        }
        other => what_of_confirmations(other),
    }
}

fn what_of_confirmations(facts: &Facts) -> String {
    match facts {
        Facts::ConfirmationAsked(facts) => match facts.about {
            Some(intent) => format!("asks for a yes to intent #{intent} before it starts"),
            None => "asks for a yes to an operation before it starts".to_owned(),
        },
        Facts::ConfirmationGiven(facts) => {
            format!(
                "confirms #{} ({})",
                facts.confirmation.sequence,
                way(facts.assurance, facts.attribution.as_deref())
            )
        }
        Facts::ConfirmationRefused(facts) => {
            format!(
                "refuses #{} ({})",
                facts.confirmation.sequence,
                way(facts.assurance, facts.attribution.as_deref())
            )
        }
        Facts::ConfirmationExpired(facts) => {
            format!("nobody confirmed #{} in time: it is refused", facts.confirmation)
        }
        Facts::OperationStarted(facts) => match facts.confirmation {
            Some(confirmation) => format!("begins {}, on confirmation #{confirmation}", facts.operation),
            None => format!("begins {}", facts.operation),
        },
        Facts::OperationEnded(facts) if facts.failed => {
            format!("says that operation #{} failed", facts.started)
        }
        Facts::OperationEnded(facts) => format!("says that operation #{} is done", facts.started),
        other => what_of_plans(other),
    }
}

fn what_of_plans(facts: &Facts) -> String {
    match facts {
        Facts::PlanSubmitted(_) => "submits a plan".to_owned(),
        Facts::RulesRecorded(_) => "holds the plan against these rules".to_owned(),
        Facts::PlanAmended(_) => "amends the plan".to_owned(),
        Facts::PlanWithdrawn(_) => ends("withdraws the plan", facts),
        Facts::PlanConfirmed(_) => "confirms the plan".to_owned(),
        Facts::PaperRecorded(facts) => match facts.kind {
            PaperKind::Acceptance => {
                format!("signs the attestation of the plan confirmed in #{}", facts.about)
            }
            PaperKind::Document => format!("signs what is open after #{}", facts.about),
            PaperKind::Handoff => "signs the package for whoever goes on".to_owned(),
            PaperKind::Round => format!("signs the round that #{} ended", facts.about),
        },
        Facts::PlanAttested(_) => "attests what was made of the plan".to_owned(),
        _ => "says something this version does not know".to_owned(),
    }
}

const fn weight(severity: Severity) -> &'static str {
    match severity {
        Severity::Block => ", must be answered",
        Severity::Warn => ", please confirm",
    }
}

/// Returns an intent or an execution, by its tool where that is known.
fn called(noun: &str, at: Sequence, tool: Option<&str>) -> String {
    tool.map_or_else(|| format!("{noun} #{at}"), |tool| format!("{tool} ({noun} #{at})"))
}

/// Returns what a policy says of tools.
fn policy(content: Option<&Content>) -> String {
    let Some(Content::PolicyRecorded(content)) = content else {
        return "records the policy of the run".to_owned();
    };
    match &content.document.tools {
        None => "records the policy of the run, which lets any tool run at any risk".to_owned(),
        Some(tools) => {
            let tools = counted_as(tools.iter().count() as u64, "tool", "tools");
            format!("records the policy of the run, which names {tools}")
        }
    }
}

/// Returns the author's own words.
pub(super) fn why(content: &Content) -> Option<String> {
    Some(match content {
        Content::SessionInitialized(content) => content.objective.to_string(),
        Content::ProposalCreated(content) => content.objective.to_string(),
        Content::ProposalReviewed(content) => content.rationale.to_string(),
        Content::ToolIntentSigned(content) => content.justification.to_string(),
        Content::ToolIntentReviewed(content) => content.rationale.to_string(),
        Content::CheckStated(content) => content.to_string(),
        Content::ToolExecutionCompleted(content) => content.note.as_ref()?.to_string(),
        Content::ToolExecutionFailed(content) => content.message.to_string(),
        Content::ClaimIssued(content) | Content::ClaimRevised(content) => content.text.to_string(),
        Content::ClaimChallenged(content)
        | Content::ClaimResolved(content)
        | Content::ClaimRetracted(content)
        | Content::SessionAborted(content) => content.reason.to_string(),
        Content::FinalStatementSigned(content) => content.verdict.to_string(),
        Content::VerificationRunCompleted(content) => content.summary.to_string(),
        Content::CommandRefused(content) => content.message.to_string(),
        Content::ContentErased(content) => content.why.to_string(),
        Content::RecoveryRecorded(content)
        | Content::KeyRevoked(content)
        | Content::StoreRestored(content) => content.note.to_string(),
        Content::StoreCreated(content)
        | Content::KeyRegistered(content)
        | Content::PersonAdded(content)
        | Content::PersonChanged(content) => content.name.to_string(),
        Content::PasskeyRooted(content) | Content::PasskeyAdded(content) | Content::PasskeyReset(content) => {
            content.label.to_string()
        }
        other => return why_of_questions(other),
    })
}

fn why_of_questions(content: &Content) -> Option<String> {
    Some(match content {
        Content::QuestionAsked(content) | Content::GapFound(content) => content.wording.normal.to_string(),
        Content::QuestionAnswered(content) | Content::AnswerSuperseded(content) => content.answer.to_string(),
        Content::AnswerClaimed(content) => content.answer.to_string(),
        Content::AnswerRejected(content) => content.answer.as_ref()?.to_string(),
        Content::QuestionDefaulted(content) => content.default.to_string(),
        Content::QuestionDelivered(DeliveryContent { channel, said_by, to, .. }) => match said_by {
            Some(program) => format!("to {to} by {channel}; {program} says it was shown"),
            None => format!("to {to} by {channel}"),
        },
        Content::GapAccepted(content)
        | Content::GapWithdrawn(content)
        | Content::PlanWithdrawn(content)
        | Content::AnswerRevoked(content)
        | Content::QuestionDeclined(content)
        | Content::QuestionPassedOn(content)
        | Content::QuestionEscalated(content)
        | Content::QuestionExtended(content)
        | Content::QuestionCancelled(content) => content.reason.to_string(),
        Content::PlanSubmitted(content) => format!("session {} of {}", content.session, content.agent),
        Content::RulesRecorded(content) => {
            content.packs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        }
        Content::ConfirmationAsked(content) => content.action.to_string(),
        Content::ConfirmationGiven(content) => content.note.as_ref()?.to_string(),
        Content::ConfirmationRefused(content) => content.note.as_ref()?.to_string(),
        Content::OperationStarted(content) => content.note.as_ref()?.to_string(),
        _ => return None,
    })
}
