//! Many open questions: how long a page of them takes, how much memory the server holds with none and with all of them, and
//! how soon a question shows that was asked where no server ran.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use demur_api::question::Ask;
use demur_bench::{
    measure::median,
    table::{Table, met, whole},
};
use demur_desk::{data::DataFolder, owner::Owner, question};
use demur_ledger::role::Role;

use super::{
    load::{self, Connection},
    ours::{Server, command},
};

/// Long enough for the allocator to give back what the start took.
const REST: Duration = Duration::from_secs(3);

/// Measures pages, memory and the first sight of a question.
pub(super) fn run(out: &mut impl Write) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let data = folder.path().join("data");
    let server = Server::start(&data)?;
    thread::sleep(REST);
    let idle = mebibytes(server.memory()?);
    drop(server);
    eprintln!("ask: {QUESTIONS} open questions");
    fill(&data)?;
    let server = Server::start(&data)?;
    let pages = pages(&server)?;
    let full = mebibytes(server.memory()?);
    drop(server);
    let seen = median((0..SIGHTS).map(|_| first_sight()).collect::<Result<Vec<_>>>()?.into_iter());
    let mut table =
        Table::new([&format!("{} open questions", whole(f64::from(QUESTIONS))), "", "bar", "met"]);
    let mut row = |name: &str, figure: f64, unit: &str, bar: f64, least: &str| {
        table.row([
            name.to_owned(),
            format!("{figure:.1} {unit}"),
            least.to_owned(),
            met(figure < bar).to_owned(),
        ]);
    };
    row(&format!("a page of {PAGE} over HTTP, middle of all pages"), pages.0, "ms", 50.0, "50 ms");
    row("the slowest of them", pages.1, "ms", 50.0, "50 ms");
    row("memory of the server afterwards", full, "MiB", 190.7, "200 MB");
    row("memory of an idle server", idle, "MiB", 28.6, "30 MB");
    let name = "from `demur ask` where no server runs to the question in `demur inbox --list`";
    row(&format!("{name}, middle of {SIGHTS}"), seen, "ms", 300.0, "300 ms");
    table.write(out)?;
    Ok(())
}

/// Asks many questions, without a server.
fn fill(data: &Path) -> Result<()> {
    let (owner, _) = Owner::open_or_create(&DataFolder::at(data.to_owned()))?;
    owner.enrol("asker", Role::Agent)?;
    let author = owner.find_author("asker", Role::Agent)?.context("the key is gone")?;
    let work = |number: u32| -> Result<()> {
        for round in 0..QUESTIONS / THREADS {
            let words = format!("Question {round} of {number}: where shall the build go, and why there?");
            question::ask(&owner, &author, &Ask::new(words.try_into()?), None)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || work(number))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Result<()>>| {
            thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?
        };
        threads.into_iter().try_for_each(join)
    })
}

/// Returns the middle and the longest time of a page, in milliseconds, over pages from one end to the other.
fn pages(server: &Server) -> Result<(f64, f64)> {
    let token = server.token("reader", "read")?;
    let times = load::runtime()?.block_on(async {
        let mut connection = Connection::open(server.address, Some(token)).await?;
        let (mut times, mut after) = (Vec::new(), String::new());
        for _ in 0..QUESTIONS / PAGE {
            let begin = Instant::now();
            let path = format!("/v1/questions?state=open&limit={PAGE}{after}");
            let listed = connection.call("GET", &path, "").await?;
            times.push(begin.elapsed().as_secs_f64() * 1e3);
            let questions = listed["questions"].as_array().map_or(0, Vec::len);
            anyhow::ensure!(questions == PAGE as usize, "a page of {questions}");
            after = listed["next"].as_str().map(|cursor| format!("&after={cursor}")).unwrap_or_default();
        }
        Ok::<_, anyhow::Error>(times)
    })?;
    Ok((median(times.iter().copied()), times.iter().copied().fold(0.0, f64::max)))
}

/// Returns how long it takes from `demur ask` without a server until `demur inbox --list` shows the question.
fn first_sight() -> Result<f64> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let data = folder.path().join("data");
    let demur = || -> Result<Command> {
        let mut command = Command::new(command()?);
        command.arg("--data").arg(&data).stdin(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    };
    let begin = Instant::now();
    let mut asking = demur()?.args(["ask", "Is anybody there?"]).stdout(Stdio::null()).spawn()?;
    let seen = loop {
        let listed = demur()?.args(["inbox", "--list"]).output()?;
        if String::from_utf8_lossy(&listed.stdout).contains("Is anybody there?") {
            break begin.elapsed();
        }
        anyhow::ensure!(begin.elapsed() < Duration::from_secs(20), "the question does not show");
    };
    asking.kill()?;
    asking.wait()?;
    demur()?.arg("stop").stdout(Stdio::null()).status()?;
    Ok(seen.as_secs_f64() * 1e3)
}

fn mebibytes(bytes: u64) -> f64 {
    f64::from(u32::try_from(bytes >> 10).unwrap_or(u32::MAX)) / 1024.0
}

const QUESTIONS: u32 = 100_000;
/// They divide the questions evenly.
const THREADS: u32 = 50;
/// They divide the questions evenly.
const PAGE: u32 = 50;
/// Odd, so that there is a middle one.
const SIGHTS: usize = 11;
