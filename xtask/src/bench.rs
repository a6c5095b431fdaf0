//! `cargo xtask bench`: the benchmarks, below a header that says which machine the figures belong to.

use std::fs;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result};

use crate::outside::Outside;
use crate::python;
use crate::verdict::Verdict;
use crate::workspace::{Workspace, output_of};

/// Returns whether the benchmarks with these names ran to their end; no name means all of our own.
pub(crate) fn run(names: &[String]) -> Result<Verdict> {
    let workspace = Workspace::locate()?;
    print_header();
    let (peers, own): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| [PEERS, CEDAR].contains(&name.as_str()));
    let mut passed = true;
    if !own.is_empty() || peers.is_empty() {
        // The benchmark of runs calls the command itself.
        let mut build = workspace.cargo();
        build.args(["build", "--release", "--quiet", "--package", "demur-cli"]);
        passed &= build.status().context("cannot run cargo")?.success();
        let mut cargo = workspace.cargo();
        cargo.args(["run", "--release", "--quiet", "--package", "demur-bench", "--", "run"]).args(&own);
        if own.iter().any(|name| [RACE, ASK].contains(&name.as_str())) {
            provide_langgraph(&workspace, &mut cargo);
        }
        if own.iter().any(|name| *name == MCP) {
            provide_mcp(&workspace, &mut cargo);
        }
        passed &= cargo.status().context("cannot run cargo")?.success();
    }
    for name in peers {
        let packages: &[&str] =
            if name == PEERS { &["demur-peers", "demur-cedar"] } else { &["demur-cedar"] };
        for package in packages {
            passed &= peers_command(&workspace, package).status().context("cannot run cargo")?.success();
        }
    }
    println!();
    print_load("at the end");
    Ok(Verdict::from_passed(passed))
}

/// Prints how busy the machine is: a figure by the clock means little beside other work.
fn print_load(when: &str) {
    let load = fs::read_to_string("/proc/loadavg").map_or_else(|_| unknown(), |text| one_minute(&text));
    println!("load    {load}, in the last minute, {when}");
}

/// Returns the first figure in the text of `/proc/loadavg`.
fn one_minute(loadavg: &str) -> String {
    loadavg.split_whitespace().next().map_or_else(unknown, str::to_owned)
}

/// Makes the environment of the race beside LangGraph and tells the benchmark where it is. Without pip, or without a
/// network, the benchmark measures our side alone.
fn provide_langgraph(workspace: &Workspace, cargo: &mut Command) {
    match python::environment(workspace, "demur-race-python", "bench/race/requirements.txt") {
        Ok(interpreter) => drop(cargo.env("DEMUR_RACE_PYTHON", interpreter)),
        Err(error) => println!("LangGraph cannot be had: {error:#}"),
    }
}

/// Makes the environment with the MCP SDK for Python and tells the benchmark where it is. Without pip, or without a
/// network, the benchmark measures our side alone.
fn provide_mcp(workspace: &Workspace, cargo: &mut Command) {
    match Outside::mcp(workspace) {
        Ok(outside) => outside.announce(cargo),
        Err(error) => println!("the MCP SDK for Python cannot be had: {error:#}"),
    }
}

/// Returns the call of a package that compares with other projects. They are a workspace of their own, which builds
/// inside ours.
fn peers_command(workspace: &Workspace, package: &str) -> Command {
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--release", "--quiet", "--locked", "--manifest-path", "bench/peers/Cargo.toml"]);
    cargo.args(["--package", package]);
    cargo.arg("--target-dir").arg(workspace.target.join(PEERS));
    cargo
}

fn print_header() {
    let cpu = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| cpu_model(&text));
    let cores = thread::available_parallelism().map_or_else(|_| unknown(), |count| count.to_string());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| unknown(), |text| text.trim().to_owned());
    println!("cpu     {}", cpu.unwrap_or_else(unknown));
    println!("cores   {cores}");
    println!("kernel  {kernel}");
    println!("rustc   {}", rustc_version());
    print_load("at the beginning");
}

/// Returns the name of the first processor in the text of `/proc/cpuinfo`.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn rustc_version() -> String {
    let mut rustc = Command::new("rustc");
    rustc.arg("--version");
    output_of(rustc).map_or_else(|_| unknown(), |output| String::from_utf8_lossy(&output).trim().to_owned())
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// The name of the race beside LangGraph, which is downloaded when it is asked for by name.
const RACE: &str = "race";
/// The name of the round trips beside LangGraph.
const ASK: &str = "ask";
/// The name of the rounds beside the MCP SDK for Python.
const MCP: &str = "mcp";
/// The name of the comparison with other projects.
const PEERS: &str = "peers";
/// The name of that part of it which compares conditions with Cedar.
const CEDAR: &str = "cedar";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn load_is_that_of_the_last_minute() {
        assert_eq!(one_minute("0.52 1.48 2.00 2/310 4711\n"), "0.52");
        assert_eq!(one_minute(""), "unknown");
    }

    #[test]
    fn reads_the_first_cpu_model() {
        let text = "processor\t: 0\nmodel name\t: Fast CPU @ 3: GHz\nmodel name\t: Other\n";
        assert_eq!(cpu_model(text).as_deref(), Some("Fast CPU @ 3: GHz"));
        assert_eq!(cpu_model("processor: 0\n"), None);
    }

    /// The peers are built with `--locked`, and nothing else in the gate looks at their lock file.
    #[test]
    fn lock_file_of_the_peers_knows_what_our_crates_depend_on() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap().parse::<toml::Table>().unwrap();
        let lock = read("bench/peers/Cargo.lock");
        let mut seen = 0;
        for package in lock["package"].as_array().unwrap() {
            let name = package["name"].as_str().unwrap();
            let Some(short) = name.strip_prefix("demur-") else { continue };
            let manifest = match short {
                "bench" => "bench/Cargo.toml".to_owned(),
                "peers" => "bench/peers/Cargo.toml".to_owned(),
                "cedar" => "bench/peers/cedar/Cargo.toml".to_owned(),
                other => format!("crates/{other}/Cargo.toml"),
            };
            let locked = package.get("dependencies").and_then(toml::Value::as_array).into_iter().flatten();
            // A name, and its version where there are several.
            let locked: Vec<&str> = locked.filter_map(|one| one.as_str()?.split(' ').next()).collect();
            let manifest = read(&manifest);
            let wanted = manifest["dependencies"].as_table().unwrap().iter();
            let is_optional =
                |one: &toml::Value| one.get("optional").is_some_and(|it| it.as_bool() == Some(true));
            for (wanted, _) in wanted.filter(|(_, one)| !is_optional(one)) {
                assert!(
                    locked.contains(&wanted.as_str()),
                    "{name} needs {wanted}: run `cargo update --workspace --manifest-path bench/peers/Cargo.toml`"
                );
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen} dependencies were found");
    }
}
