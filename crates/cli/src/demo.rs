//! `demur demo`: a small accountable run of the four roles (seed 002), told as it happens, kept in a
//! store, exported from it and checked from the file. Keys, signatures and work are real; the folder is new.

mod asking;
mod cast;
mod desk;
mod ending;
mod folder;
mod script;
mod session;
mod task;
mod tasks;

use std::path::Path;

use demur_desk::{data::DataFolder, durable, operating_system::OperatingSystem, visible::visible_path};
use demur_ledger::{
    name::TraceId,
    verify::{Report, Verdict},
};

pub(crate) use desk::DemoDesk;

use self::{cast::Cast, ending::Ending, folder::make_folder, session::Session};
use crate::{arguments::Demo, context::Context, exit::Exit, failure::Failure, verify};

/// Runs the demo.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Demo) -> Result<(), Failure> {
    if context.data.is_some() {
        let message = "expected no --data: the demo uses a folder of its own";
        return Err(Failure::input("USAGE", message).with_hint("name the folder with --keep DIR"));
    }
    let mut system = OperatingSystem::open()?;
    let data = DataFolder::at(make_folder(arguments.keep.as_deref(), &mut system)?);
    let output = &mut *context.output;
    output.tell("Four agents, one small task, every step signed.\n")?;
    output.tell(&format!("Everything happens in a new folder: {}", visible_path(data.path())))?;
    let desk = DemoDesk::open(&data)?;
    let cast = Cast::gather(&desk)?;
    cast.introduce(output)?;

    let trace = TraceId::new(system.now()?, &mut system);
    let outcome = script::perform(&mut Session::new(&desk, trace, output), &cast)?;
    // It follows the verdict by itself.
    output.tell("\nThe desk records a checkpoint: it fixes every trace of the store as it is now.")?;
    let export = data.path().join("demo.jsonl");
    write(&export, &desk.export(trace)?)?;
    write(&data.path().join("report.json"), &outcome.report)?;

    let report = verified(&export)?;
    let mut ending = Ending::new(&data, &cast, outcome, report);
    ending.asked = Some(asking::perform(data.path(), context.output)?);
    ending.runs = tasks::perform(data.path(), context.output)?;
    // Whoever follows the advice at the end finds the folder free.
    drop(desk);
    context.output.reply(&ending)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    durable::create(path, bytes).map_err(|error| Failure::file("write", path, &error))
}

/// Reads the export back from the disk and verifies it.
fn verified(path: &Path) -> Result<Report, Failure> {
    let report = verify::quietly(path)?;
    if report.verdict == Verdict::Pass {
        return Ok(report);
    }
    let message = format!("{}: {}", visible_path(path), report.words);
    Err(Failure::new(Exit::VerificationFailed, "EXPORT_DOES_NOT_HOLD", message)
        .with_hint("this is a mistake in demur: please report it"))
}
