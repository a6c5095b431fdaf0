//! Chunks of lines through all cores: one thread reads, some examine, the caller walks through the results in
//! order. What is under way is bounded by tokens, whatever the lines hold.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
};

use super::{
    Chunk, Input, Options, VerifyError, Walk,
    examine::{Item, examine},
    finding::Findings,
};
use crate::registry::Registry;

/// A chunk on its way.
struct Work {
    index: u64,
    chunk: Chunk,
}

/// A chunk that was examined.
struct Done {
    index: u64,
    chunk: Chunk,
    items: Vec<Item>,
}

/// Runs the rest of the file through the walk.
pub(super) fn run<R: BufRead + Send>(
    input: &mut Input<R>,
    walk: &mut Walk<'_>,
    options: &Options,
    findings: &mut Findings,
    progress: &mut dyn FnMut(u64),
) -> Result<(), VerifyError> {
    let registry = walk.registry;
    let first = input.next_chunk()?;
    let mut read = 0;
    if first.end.is_some() || !walk.goes_on() {
        // Threads would cost a short file more than they save.
        let items = examine(&first, registry, options);
        take(walk, &first, items, findings);
        progress(first.length());
        return Ok(());
    }
    let workers = options.threads.max(1);
    std::thread::scope(|scope| {
        let (tokens, granted) = channel::<()>();
        let (give_work, work) = sync_channel::<Work>(workers);
        let (give_done, done) = channel::<Done>();
        for _ in 0..=workers * 2 {
            // The receiver lives until the reading thread ends.
            let _ = tokens.send(());
        }
        let reading = scope.spawn(move || read_chunks(first, input, &granted, &give_work));
        // The workers alone own the queue: when the last of them ends, the reading thread learns of it.
        let work = Arc::new(Mutex::new(work));
        for _ in 0..workers {
            let (work, give_done) = (Arc::clone(&work), give_done.clone());
            scope.spawn(move || examine_chunks(&work, registry, options, &give_done));
        }
        drop((work, give_done));
        walk_in_order(walk, &done, &tokens, findings, &mut |bytes| {
            read += bytes;
            progress(read);
        });
        // Without receivers everybody else stops.
        drop((done, tokens));
        match reading.join() {
            Ok(read) => Ok(read?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn read_chunks<R: BufRead>(
    first: Chunk,
    input: &mut Input<R>,
    granted: &Receiver<()>,
    work: &SyncSender<Work>,
) -> io::Result<()> {
    if work.send(Work { index: 0, chunk: first }).is_err() {
        return Ok(());
    }
    for index in 1.. {
        if granted.recv().is_err() {
            return Ok(());
        }
        let chunk = input.next_chunk()?;
        let ends = chunk.end.is_some();
        if work.send(Work { index, chunk }).is_err() || ends {
            return Ok(());
        }
    }
    Ok(())
}

fn examine_chunks(work: &Mutex<Receiver<Work>>, registry: &Registry, options: &Options, done: &Sender<Done>) {
    loop {
        let Ok(next) = work.lock().map(|work| work.recv()) else { return };
        let Ok(Work { index, chunk }) = next else { return };
        let items = examine(&chunk, registry, options);
        if done.send(Done { index, chunk, items }).is_err() {
            return;
        }
    }
}

fn walk_in_order(
    walk: &mut Walk<'_>,
    done: &Receiver<Done>,
    tokens: &Sender<()>,
    findings: &mut Findings,
    progress: &mut dyn FnMut(u64),
) {
    let mut next = 0;
    let mut early = BTreeMap::new();
    for arrived in done {
        early.insert(arrived.index, arrived);
        while let Some(Done { chunk, items, .. }) = early.remove(&next) {
            take(walk, &chunk, items, findings);
            progress(chunk.length());
            next += 1;
            if !walk.goes_on() {
                return;
            }
            // The reading thread may have ended: then nobody needs the token.
            let _ = tokens.send(());
        }
    }
}

/// Walks through the examined lines of a chunk.
pub(super) fn take(walk: &mut Walk<'_>, chunk: &Chunk, items: Vec<Item>, findings: &mut Findings) {
    let mut line = chunk.first;
    for item in items {
        walk.take(line, item, findings);
        line += 1;
    }
    if let Some(end) = chunk.end {
        walk.end(line, end, findings);
    }
}
