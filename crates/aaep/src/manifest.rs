//! The manifest of a producer (5.10), unsigned and signed (10.4). The specification has no schema for it; ours is closed.

use demur_core::{
    canonical,
    jws::{self, HeaderText, JwsKey, JwsSecretKey},
    limit::{Limits, List, Text},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    check::unique,
    envelope::Languages,
    error::{Rule, RuleViolation, WHOLE},
    event_type::Patterns,
    extension::Strictness,
    form::{AaepVersion, Uri},
    handshake::SubscriptionAccepted,
    language::is_served,
    member::{object, present},
    number::Integer,
    word::Verbosity,
};

/// What a producer says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    #[serde(rename = "@context")]
    context: ManifestContext,
    r#type: ManifestType,
    /// Names the agent, as its events do.
    pub agent_id: Text<1, 1024>,
    /// Its version.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<Text<1, 256>>,
    /// Its name for people.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<Text<1, 1024>>,
    /// The versions of the protocol that it speaks.
    pub aaep_versions_supported: List<AaepVersion, 1, 32>,
    /// The levels it conforms to.
    pub conformance_levels_supported: List<Integer<1, 3>, 1, 3>,
    /// How it is reached, such as `sse`, `websocket` or `stdio-jsonrpc`.
    pub transports_supported: List<Text<1, 64>, 1, 16>,
    /// The languages of its texts.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub languages_supported: Option<Languages>,
    /// The types of its events.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub event_types_emitted: Option<Patterns>,
    /// The extensions it knows.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub extensions_supported: Option<List<Uri, 0, 64>>,
    /// Its verbosity for subscribers that state none.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub default_verbosity: Option<Verbosity>,
    /// How many subscriptions it takes on.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_concurrent_subscriptions: Option<Integer<1, 1_000_000>>,
    /// Where its operator is reached.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub contact: Option<Text<1, 1024>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum ManifestContext {
    #[serde(rename = "https://aaep-protocol.org/context/v1")]
    Core,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum ManifestType {
    #[serde(rename = "aaep:producer.manifest")]
    Manifest,
}

impl Manifest {
    /// Returns a manifest with its required fields.
    pub fn new(
        agent_id: Text<1, 1024>,
        levels: List<Integer<1, 3>, 1, 3>,
        transports: List<Text<1, 64>, 1, 16>,
    ) -> Result<Self, RuleViolation> {
        let versions = List::try_from(vec![AaepVersion::current()])
            .map_err(|error| RuleViolation::new(Rule::Manifest, "aaep_versions_supported", error, "one"))?;
        Ok(Self {
            context: ManifestContext::Core,
            r#type: ManifestType::Manifest,
            agent_id,
            agent_version: None,
            agent_name: None,
            aaep_versions_supported: versions,
            conformance_levels_supported: levels,
            transports_supported: transports,
            languages_supported: None,
            event_types_emitted: None,
            extensions_supported: None,
            default_verbosity: None,
            max_concurrent_subscriptions: None,
            contact: None,
        })
    }

    /// Returns the manifest in these bytes.
    pub fn read(bytes: &[u8]) -> Result<Self, RuleViolation> {
        let members =
            canonical::members(bytes, &MANIFEST_LIMITS).map_err(|error| RuleViolation::of_json(&error))?;
        let members =
            members.ok_or_else(|| RuleViolation::new(Rule::Object, WHOLE, "an object", "another value"))?;
        let manifest: Self = object(&members, |_| false, Strictness::Exact, Rule::Manifest)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// Checks that what a producer grants is what its manifest claims (10.4.2, steps 4 and 5). For subscribers.
    pub fn check_accepted(&self, accepted: &SubscriptionAccepted) -> Result<(), RuleViolation> {
        let other = |field: &str, found: &str| {
            Err(RuleViolation::new(Rule::Manifest, field, "what the manifest claims", found))
        };
        if accepted.producer.agent_id != self.agent_id {
            return other("producer.agent_id", &accepted.producer.agent_id);
        }
        if !self.aaep_versions_supported.contains(&accepted.aaep_version) {
            return other("aaep_version", accepted.aaep_version.as_str());
        }
        let honored = &accepted.honored_capabilities;
        let spoken = self.languages_supported.as_ref().map(List::as_slice);
        let mut languages = honored.languages.iter().flatten();
        if let Some(language) =
            languages.find(|language| spoken.is_some_and(|spoken| !is_served(language, spoken)))
        {
            return other("honored_capabilities.languages", language.as_str());
        }
        let known = self.extensions_supported.as_ref().map_or(&[][..], List::as_slice);
        let mut extensions = honored.supported_extensions.iter().flatten();
        match extensions.find(|extension| !known.contains(extension)) {
            Some(extension) => other("honored_capabilities.supported_extensions", extension.as_str()),
            None => Ok(()),
        }
    }

    /// Returns the rule that a list with the same entry twice breaks.
    fn check(&self) -> Result<(), RuleViolation> {
        let rule = Rule::Manifest;
        unique(rule, "aaep_versions_supported", &self.aaep_versions_supported)?;
        unique(rule, "conformance_levels_supported", &self.conformance_levels_supported)?;
        unique(rule, "transports_supported", &self.transports_supported)?;
        unique(rule, "languages_supported", self.languages_supported.iter().flatten())?;
        unique(rule, "event_types_emitted", self.event_types_emitted.iter().flatten())?;
        unique(rule, "extensions_supported", self.extensions_supported.iter().flatten())
    }

    /// Returns the manifest and its signature in one text.
    pub fn sign(&self, key: &JwsSecretKey, key_id: &HeaderText) -> Result<String, RuleViolation> {
        let refused = |error: String| RuleViolation::new(Rule::Manifest, WHOLE, "a manifest to sign", error);
        let payload = canonical::to_vec(self).map_err(|error| refused(error.to_string()))?;
        let content = HeaderText::try_from(MANIFEST_CONTENT).map_err(|error| refused(error.to_string()))?;
        jws::sign(key, Some(key_id), Some(&content), &payload).map_err(|error| refused(error.to_string()))
    }

    /// Returns the manifest in a signed text, if the signature is by this key and the agent is this one.
    pub fn verify(signed: &str, key: &JwsKey, agent_id: &str) -> Result<Self, RuleViolation> {
        let verified = jws::verify(signed, key).map_err(|error| {
            RuleViolation::new(Rule::Manifest, WHOLE, "a signature by the agent's key", error)
        })?;
        let manifest = Self::read(&verified.payload)?;
        if manifest.agent_id.as_str() != agent_id {
            return Err(RuleViolation::new(Rule::Manifest, "agent_id", agent_id, &*manifest.agent_id));
        }
        Ok(manifest)
    }
}

/// What the header says of the payload; that a payload is a manifest is told by its `type`.
const MANIFEST_CONTENT: &str = "aaep-manifest";

/// Limits of a manifest.
const MANIFEST_LIMITS: Limits = Limits { bytes: 64 << 10, depth: 4, members: 256, text: 8 << 10 };
