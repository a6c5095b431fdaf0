//! A run of a thousand tool calls: what each call costs from its intent to its end, everything signed and durable, beside
//! what the tool and its helper process cost alone and what one commit costs, all in the same minute.

use std::{
    fmt::Write as _,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use demur_bench::{
    measure::median,
    table::{Table, met, whole},
};
use demur_sandbox::Request;
use rusqlite::Connection;

use crate::append;

/// Measures runs.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    let program = program()?;
    let (mut passes, mut folders) = (Vec::new(), Vec::new());
    for pass in 1..=PASSES {
        eprintln!("run: {CALLS} tool calls, pass {pass} of {PASSES}");
        // Kept until the end: a file system may be slow to make files right after many were deleted.
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        passes.push(measure(&program, folder.path())?);
        folders.push(folder);
    }
    let of = |pick: fn(&Pass) -> f64| median(passes.iter().map(pick));
    let ratio = of(|pass| (pass.whole - pass.tools) / pass.commit);
    let mut table = Table::new([&format!("per call of {}", whole(f64::from(CALLS))), ""]);
    let mut row = |name: &str, figure: String| table.row([name.to_owned(), figure]);
    row("events, all signed", format!("{:.2}", of(|pass| pass.events)));
    row("commits", format!("{:.2}", of(|pass| pass.commits)));
    row("whole", format!("{:.2} ms", of(|pass| pass.whole)));
    row("tool and helper alone", format!("{:.2} ms", of(|pass| pass.tools)));
    row("overhead", format!("{:.2} ms", of(|pass| pass.whole - pass.tools)));
    row("one commit of one event", format!("{:.2} ms", of(|pass| pass.commit)));
    row("overhead in commits", format!("{ratio:.2} (bar: under {BAR}: {})", met(ratio < BAR)));
    table.write(out)?;
    Ok(())
}

/// One pass; times in milliseconds per call.
struct Pass {
    events: f64,
    commits: f64,
    whole: f64,
    tools: f64,
    commit: f64,
}

fn measure(program: &Path, folder: &Path) -> Result<Pass> {
    let data = folder.join("data");
    write_task(folder)?;
    let begun = Instant::now();
    let ran = Command::new(program)
        .args(["run", "--json", "--task"])
        .arg(folder.join("task.toml"))
        .arg("--data")
        .arg(&data)
        .output()
        .context("cannot start demur")?;
    let whole = per_call(begun.elapsed());
    ensure!(ran.status.success(), "the run failed: {}", String::from_utf8_lossy(&ran.stderr));
    // The server that drove it would take its share of what is measured next.
    let stopped = Command::new(program).arg("stop").arg("--data").arg(&data).output();
    ensure!(stopped.context("cannot start demur")?.status.success(), "the server of the run did not end");
    let (events, commits) = counted(&data)?;
    let tools = tools_alone(program, folder)?;
    let commit = append::one_commit()?.as_secs_f64() * 1e3;
    Ok(Pass { events, commits, whole, tools, commit })
}

/// Returns events and commits per call.
fn counted(data: &Path) -> Result<(f64, f64)> {
    let database = Connection::open(data.join("ledger.db"))?;
    let sql = "SELECT count(*), count(head) FROM events WHERE trace = (SELECT max(id) FROM traces)";
    let (events, commits): (u32, u32) = database.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((f64::from(events) / f64::from(CALLS), f64::from(commits) / f64::from(CALLS)))
}

fn tools_alone(program: &Path, folder: &Path) -> Result<f64> {
    let begun = Instant::now();
    for number in 0..CALLS {
        let mut request = Request::new(["echo".to_owned(), number.to_string()], folder);
        request.limits.time_ms = 30_000;
        demur_sandbox::run(program, &request)?;
    }
    Ok(per_call(begun.elapsed()))
}

fn per_call(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3 / f64::from(CALLS)
}

fn write_task(folder: &Path) -> Result<()> {
    let mut task =
        "name = \"many calls\"\nobjective = \"call a tool a thousand times\"\npolicy = \"policy.toml\"\n\n\
                    [[goal]]\nobjective = \"call it\"\n"
            .to_owned();
    for number in 0..CALLS {
        write!(
            task,
            "\n[[goal.call]]\nname = \"call-{number}\"\ntool = \"echo\"\ncommand = [\"echo\", \"{number}\"]\n\
             risk = \"medium\"\n"
        )?;
    }
    task += "\n[[goal.claim]]\ntext = \"The first of them ran.\"\nconfidence = 90\ncalls = [\"call-0\"]\n";
    fs::write(folder.join("task.toml"), task)?;
    fs::write(folder.join("policy.toml"), "[tools.echo]\n")?;
    Ok(())
}

/// Returns the command, which is built beside this program.
fn program() -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("demur");
    ensure!(path.is_file(), "expected {}: build it with `cargo build --release`", path.display());
    Ok(path)
}

const CALLS: u32 = 1000;
const PASSES: usize = 3;
/// The bar of the overhead, in commits.
const BAR: f64 = 5.0;
