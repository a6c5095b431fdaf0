//! Chunks of lines through all cores: one thread reads, some examine, the caller walks through the results in
//! order. What is under way is bounded by the number of chunks there are, whatever the lines hold.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
};

use super::{
    Chunk, Input, Options, VerifyError, Walk,
    examine::{Item, examine},
    finding::Findings,
};
use crate::registry::Registry;

/// A chunk on its way: read, then examined, then walked through, then empty again for the next lines. So its
/// memory is taken once, however long the file is.
#[derive(Default)]
struct Work {
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
    let mut first = Work::default();
    input.read_chunk(&mut first.chunk)?;
    let mut read = 0;
    let mut progress = |bytes| {
        read += bytes;
        progress(read);
    };
    // Threads would cost a tiny file more than they save, and one worker only hands over to itself.
    if first.chunk.end.is_some() || !walk.goes_on() || options.threads <= 1 {
        input.digest(&first.chunk);
        return run_alone(first, input, walk, options, findings, &mut progress);
    }
    let begun = read_ahead(first, input)?;
    if begun.last().is_some_and(|work| work.chunk.end.is_some()) {
        let chunks: Vec<_> = begun.into_iter().map(|work| work.chunk).collect();
        run_short(&chunks, input, walk, options, findings, &mut progress);
        return Ok(());
    }
    let workers = options.threads;
    // One for each worker, one to be read, one to be walked through. More would wait in line and cost their memory.
    let circulating = workers + 2;
    std::thread::scope(|scope| {
        let (empties, granted) = channel::<Work>();
        let (give_work, work) = sync_channel::<Work>(workers);
        let (give_done, done) = channel::<Work>();
        for _ in begun.len()..circulating {
            // The receiver lives until the reading thread ends.
            let _ = empties.send(Work::default());
        }
        let ahead = circulating as u64..begun.len() as u64;
        let reading = scope.spawn(move || read_chunks(begun, input, &granted, &give_work));
        // The workers alone own the queue: when the last of them ends, the reading thread learns of it.
        let work = Arc::new(Mutex::new(work));
        for _ in 0..workers {
            let (work, give_done) = (Arc::clone(&work), give_done.clone());
            scope.spawn(move || examine_chunks(&work, registry, options, &give_done));
        }
        drop((work, give_done));
        walk_in_order(walk, &done, (&empties, &ahead), findings, &mut progress);
        // Without receivers everybody else stops.
        drop((done, empties));
        match reading.join() {
            Ok(read) => Ok(read?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Reads as many chunks as a short file has.
fn read_ahead<R: BufRead>(first: Work, input: &mut Input<R>) -> io::Result<Vec<Work>> {
    let mut length = first.chunk.length();
    let mut begun = vec![first];
    while length < SHORT && begun.last().is_some_and(|work| work.chunk.end.is_none()) {
        let mut next = Work { index: begun.len() as u64, ..Work::default() };
        input.read_chunk(&mut next.chunk)?;
        length += next.chunk.length();
        begun.push(next);
    }
    Ok(begun)
}

/// Examines a whole file on all cores. This thread takes the digest meanwhile, walks through what is ready, and examines
/// where nothing is: with so little to do nobody should wait for somebody else.
fn run_short<R: BufRead>(
    chunks: &[Chunk],
    input: &mut Input<R>,
    walk: &mut Walk<'_>,
    options: &Options,
    findings: &mut Findings,
    progress: &mut dyn FnMut(u64),
) {
    let registry = walk.registry;
    let next = AtomicUsize::new(0);
    let examine_next = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let chunk = chunks.get(index)?;
        let mut items = Vec::new();
        examine(chunk, registry, options, &mut items);
        Some((index, items))
    };
    let (give_done, done) = channel();
    std::thread::scope(|scope| {
        for _ in 1..options.threads.min(chunks.len()) {
            let give_done = give_done.clone();
            scope.spawn(
                move || while examine_next().is_some_and(|examined| give_done.send(examined).is_ok()) {},
            );
        }
        drop(give_done);
        for chunk in chunks {
            input.digest(chunk);
        }
        let (mut ready, mut walked) = (BTreeMap::new(), 0);
        while let Some(chunk) = chunks.get(walked) {
            ready.extend(done.try_iter());
            if let Some(mut items) = ready.remove(&walked) {
                take(walk, chunk, &mut items, findings);
                progress(chunk.length());
                walked += 1;
                if !walk.goes_on() {
                    return;
                }
            } else if let Some(examined) = examine_next().or_else(|| done.recv().ok()) {
                ready.extend([examined]);
            } else {
                // A thread that panicked left its chunk: the scope says so.
                return;
            }
        }
    });
}

/// Does everything on this thread, one chunk after the other.
fn run_alone<R: BufRead>(
    mut work: Work,
    input: &mut Input<R>,
    walk: &mut Walk<'_>,
    options: &Options,
    findings: &mut Findings,
    progress: &mut dyn FnMut(u64),
) -> Result<(), VerifyError> {
    loop {
        examine(&work.chunk, walk.registry, options, &mut work.items);
        take(walk, &work.chunk, &mut work.items, findings);
        progress(work.chunk.length());
        if work.chunk.end.is_some() || !walk.goes_on() {
            return Ok(());
        }
        input.next_chunk(&mut work.chunk)?;
    }
}

fn read_chunks<R: BufRead>(
    begun: Vec<Work>,
    input: &mut Input<R>,
    granted: &Receiver<Work>,
    work: &SyncSender<Work>,
) -> io::Result<()> {
    let read = begun.len() as u64;
    for next in begun {
        input.digest(&next.chunk);
        if work.send(next).is_err() {
            return Ok(());
        }
    }
    for index in read.. {
        let Ok(mut next) = granted.recv() else { return Ok(()) };
        next.index = index;
        input.next_chunk(&mut next.chunk)?;
        let ends = next.chunk.end.is_some();
        if work.send(next).is_err() || ends {
            return Ok(());
        }
    }
    Ok(())
}

fn examine_chunks(work: &Mutex<Receiver<Work>>, registry: &Registry, options: &Options, done: &Sender<Work>) {
    loop {
        let Ok(next) = work.lock().map(|work| work.recv()) else { return };
        let Ok(mut next) = next else { return };
        examine(&next.chunk, registry, options, &mut next.items);
        if done.send(next).is_err() {
            return;
        }
    }
}

fn walk_in_order(
    walk: &mut Walk<'_>,
    done: &Receiver<Work>,
    (empties, ahead): (&Sender<Work>, &Range<u64>),
    findings: &mut Findings,
    progress: &mut dyn FnMut(u64),
) {
    let mut next = 0;
    let mut early = BTreeMap::new();
    for arrived in done {
        early.insert(arrived.index, arrived);
        while let Some(mut work) = early.remove(&next) {
            take(walk, &work.chunk, &mut work.items, findings);
            progress(work.chunk.length());
            next += 1;
            if !walk.goes_on() {
                return;
            }
            // What was read ahead beyond what circulates goes. The reading thread may have ended: then nobody needs it.
            if !ahead.contains(&work.index) {
                let _ = empties.send(work);
            }
        }
    }
}

/// Walks through the examined lines of a chunk.
pub(super) fn take(walk: &mut Walk<'_>, chunk: &Chunk, items: &mut Vec<Item>, findings: &mut Findings) {
    let mut line = chunk.first;
    for (item, text) in items.iter_mut().zip(chunk.lines()) {
        walk.take(line, text, item, findings);
        line += 1;
    }
    items.clear();
    if let Some(end) = chunk.end {
        walk.end(line, end, findings);
    }
}

/// A file below this is read whole before it is examined.
const SHORT: u64 = 2 << 20;
