//! The lines of an export, written. Pure: every call returns the bytes of one line.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use demur_core::{
    canonical::{self, WriteError},
    commitment::Salt,
    hash::{Hasher, Purpose},
    key::SecretKey,
    time::Timestamp,
};
use serde::Serialize;

use super::{Disclosure, Header};
use crate::{
    content::Opening,
    envelope::Event,
    name::{Position, Sequence, StoreId, TraceId},
    signed::{Checkpoint, Head, Inclusion, Signed},
};

/// Writes an export line by line and binds it with a checkpoint.
#[derive(Debug)]
pub struct ExportWriter {
    digest: Hasher,
    store: StoreId,
    trace: TraceId,
}

impl ExportWriter {
    /// Returns a writer and the first line.
    pub fn begin(header: &Header) -> Result<(Self, Vec<u8>), WriteError> {
        let mut writer =
            Self { digest: Hasher::new(Purpose::Export), store: header.store, trace: header.trace };
        let line = writer.tagged("header", header)?;
        Ok((writer, line))
    }

    /// Returns the line of an event with its content disclosed, or without content.
    pub fn event(&mut self, event: &Event, opening: Option<&Opening>) -> Result<Vec<u8>, WriteError> {
        let disclosure = if opening.is_some() { Disclosure::Disclosed } else { Disclosure::Absent };
        self.event_as(event, opening, disclosure)
    }

    /// Returns the line of an event whose content is withheld or erased.
    pub fn event_without_content(
        &mut self,
        event: &Event,
        disclosure: Disclosure,
    ) -> Result<Vec<u8>, WriteError> {
        self.event_as(event, None, disclosure)
    }

    /// Returns the line of an event on its own, for readers that follow a trace without an export.
    pub fn event_line(
        event: &Event,
        opening: Option<&Opening>,
        disclosure: Disclosure,
    ) -> Result<Vec<u8>, WriteError> {
        // Events and content are canonical bytes already: they are joined, not written again.
        let content = opening.map_or(b"null".as_slice(), |opening| &opening.bytes);
        let mut line = Vec::with_capacity(event.bytes().len() + content.len() + 160);
        line.extend_from_slice(br#"{"event":{"content":"#);
        line.extend_from_slice(content);
        line.extend_from_slice(br#","disclosure":"#);
        canonical::write(&disclosure, &mut line)?;
        line.extend_from_slice(br#","event":"#);
        line.extend_from_slice(event.bytes());
        line.extend_from_slice(br#","salt":"#);
        canonical::write(&opening.map(|opening| opening.salt), &mut line)?;
        line.extend_from_slice(b"}}\n");
        Ok(line)
    }

    /// Returns the line of an artifact on its own: its bytes and salt, or why they are not there.
    pub fn artifact_line(
        event: Sequence,
        bytes: Option<(&[u8], &Salt)>,
        disclosure: Disclosure,
    ) -> Result<Vec<u8>, WriteError> {
        #[derive(Serialize)]
        struct Artifact<'a> {
            bytes: Option<String>,
            disclosure: Disclosure,
            event: Sequence,
            salt: Option<&'a Salt>,
        }
        let (bytes, salt) = bytes.map(|(bytes, salt)| (STANDARD.encode(bytes), salt)).unzip();
        tagged_line("artifact", &Artifact { bytes, disclosure, event, salt })
    }

    fn event_as(
        &mut self,
        event: &Event,
        opening: Option<&Opening>,
        disclosure: Disclosure,
    ) -> Result<Vec<u8>, WriteError> {
        Self::event_line(event, opening, disclosure).map(|line| self.bind(line))
    }

    /// Returns the line with the bytes of the artifact that the event just written records.
    pub fn artifact(&mut self, event: Sequence, bytes: &[u8], salt: &Salt) -> Result<Vec<u8>, WriteError> {
        Self::artifact_line(event, Some((bytes, salt)), Disclosure::Disclosed).map(|line| self.bind(line))
    }

    /// Returns the line that says why the artifact of the event just written is not there.
    pub fn artifact_without_bytes(
        &mut self,
        event: Sequence,
        disclosure: Disclosure,
    ) -> Result<Vec<u8>, WriteError> {
        Self::artifact_line(event, None, disclosure).map(|line| self.bind(line))
    }

    /// Returns the line of a signed head.
    pub fn head(&mut self, head: &Signed<Head>) -> Result<Vec<u8>, WriteError> {
        self.tagged("head", head)
    }

    /// Returns the line of an inclusion.
    pub fn inclusion(&mut self, inclusion: &Inclusion) -> Result<Vec<u8>, WriteError> {
        self.tagged("inclusion", inclusion)
    }

    /// Returns the last line, which binds all before it.
    pub fn finish(
        self,
        head: Position,
        registry: (Position, u64),
        time: Timestamp,
        key: &SecretKey,
    ) -> Result<Vec<u8>, WriteError> {
        let (registry, epoch) = registry;
        let checkpoint = Checkpoint {
            bytes: self.digest.finish(),
            epoch,
            head,
            registry,
            store: self.store,
            time,
            trace: self.trace,
        };
        tagged_line("checkpoint", &Signed::new(checkpoint, key)?)
    }

    fn tagged(&mut self, tag: &str, value: &impl Serialize) -> Result<Vec<u8>, WriteError> {
        tagged_line(tag, value).map(|line| self.bind(line))
    }

    /// Takes a line into what the checkpoint binds.
    fn bind(&mut self, line: Vec<u8>) -> Vec<u8> {
        self.digest.update(&line);
        line
    }
}

fn tagged_line(tag: &str, value: &impl Serialize) -> Result<Vec<u8>, WriteError> {
    let mut line = Vec::new();
    line.push(b'{');
    canonical::write(tag, &mut line)?;
    line.push(b':');
    canonical::write(value, &mut line)?;
    line.extend_from_slice(b"}\n");
    Ok(line)
}
