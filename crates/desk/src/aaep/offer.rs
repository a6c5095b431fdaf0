//! What is offered to subscribers, and the manifest that says so (5.10).

use demur_aaep::{
    envelope::Producer, form::Uri, language::LanguageTag, manifest::Manifest, negotiation::ServiceOffer,
    resolved,
};
use demur_api::refusal::Refusal;
use demur_core::limit::{List, Text};

use super::broken;
use crate::desk::Desk;

impl Desk {
    /// Returns what subscribers are offered.
    pub(super) fn aaep_offer(&self) -> Result<ServiceOffer, Refusal> {
        Ok(ServiceOffer {
            producer: self.producer()?,
            max_events_per_second: None,
            languages: vec![language()?],
            extensions: vec![resolved::known().map_err(|error| Refusal::bug(&error))?],
            manifest_uri: self.manifest_uri(),
            signed_manifest: None,
        })
    }

    /// Returns the manifest.
    pub fn aaep_manifest(&self) -> Result<Manifest, Refusal> {
        let level = |number: u64| number.try_into().map_err(|error| Refusal::bug(&error));
        let levels = [level(1)?, level(2)?, level(3)?];
        let levels = List::try_from(levels.to_vec()).map_err(|error| Refusal::bug(&error))?;
        let transports =
            List::try_from(vec![Text::try_from("sse")?]).map_err(|error| Refusal::bug(&error))?;
        let producer = self.producer()?;
        let manifest = Manifest::new(producer.agent_id.clone(), levels, transports);
        let mut manifest = manifest.map_err(|violation| broken(&violation))?;
        manifest.agent_version = producer.agent_version;
        manifest.agent_name = producer.agent_name;
        manifest.languages_supported = List::try_from(vec![language()?]).ok();
        let contexts = vec![resolved::known().map_err(|error| Refusal::bug(&error))?.context];
        manifest.extensions_supported = List::try_from(contexts).ok();
        Ok(manifest)
    }

    /// Returns who speaks where demur does: about prompts that it resolved.
    pub(super) fn producer(&self) -> Result<Producer, Refusal> {
        let mut producer = Producer::new(Text::try_from(AGENT_ID)?);
        producer.agent_version = Text::cut(self.version()).ok();
        producer.agent_name = Text::try_from(AGENT_ID).ok();
        producer.manifest_uri = self.manifest_uri();
        Ok(producer)
    }

    fn manifest_uri(&self) -> Option<Uri> {
        format!("{}{MANIFEST_PATH}", self.address()?).parse().ok()
    }
}

/// Returns the language of our own texts.
pub(super) fn language() -> Result<LanguageTag, Refusal> {
    "en".parse().map_err(|error| Refusal::bug(&error))
}

/// Where the manifest is.
pub(super) const MANIFEST_PATH: &str = "/.well-known/aaep-manifest.json";
const AGENT_ID: &str = "demur";
