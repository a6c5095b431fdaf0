//! The whole store as an export, signed with the desk's key.

use demur_ledger::{
    chain::Tip,
    export::{ExportWriter, Header},
    signed::{Head, Signed},
    verify::{Options, Report, verify_whole},
};

use super::{Log, World};
use crate::words::text;

impl World {
    /// Returns what the verifier says of the run, or of the registry while there is no run.
    pub(crate) fn verified(&self) -> Report {
        verify_whole(&self.export(), &Options::default()).unwrap()
    }

    /// Returns the export of the run, or of the registry while there is no run.
    pub(crate) fn export(&self) -> Vec<u8> {
        let exported = if self.run.entries.is_empty() { &self.registry } else { &self.run };
        let tip = *exported.state.tip();
        let header =
            Header { format: 1, software: text("demur test"), store: self.store(), trace: tip.trace() };
        let (mut writer, mut file) = ExportWriter::begin(&header).unwrap();
        for log in [&self.registry, &self.run] {
            self.write(log, &mut writer, &mut file);
        }
        let registry = self.known_registry();
        let end = (registry.head(), registry.epoch_at(registry.head().sequence));
        file.extend(writer.finish(tip.head().unwrap(), end, self.now, &self.desk).unwrap());
        file
    }

    fn write(&self, log: &Log, writer: &mut ExportWriter, file: &mut Vec<u8>) {
        for entry in &log.entries {
            file.extend(writer.event(&entry.event, entry.opening.as_ref()).unwrap());
            if let Some(place) = &entry.artifact {
                let bytes = &self.artifacts[&place.address];
                let at = entry.event.position().sequence;
                file.extend(writer.artifact(at, bytes, &place.salt).unwrap());
            }
        }
        if let Some(head) = self.head(log.state.tip()) {
            file.extend(writer.head(&head).unwrap());
        }
    }

    fn head(&self, tip: &Tip) -> Option<Signed<Head>> {
        let registry = self.known_registry();
        let document = Head {
            epoch: registry.epoch_at(registry.head().sequence),
            head: tip.head()?,
            registry: registry.head(),
            store: self.store(),
            trace: tip.trace(),
        };
        Some(Signed::new(document, &self.desk).unwrap())
    }
}
