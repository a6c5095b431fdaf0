//! The longer texts of `--help` for rule packs.

pub(in crate::arguments) const RULES_ABOUT: &str = "\
Look at rule packs: what they say, and why a plan has the gaps it has.

A pack is a folder with a pack.toml (facts, required fields, wordings) and any number of *.cedar files (conditions). \
The pack that comes with demur lies at the bottom; each further pack adds rows, replaces rows with the same id and \
takes rows away. Nothing has to be built again. Every decision records the hash of the rules it was made by.";

pub(in crate::arguments) const RULES_EXAMPLES: &str = "\
Examples:
  demur rules check
  demur rules check ./our-rules
  demur rules use ./our-rules
  demur rules explain plan.json --rules ./our-rules

`demur --help` lists the exit codes.";

pub(in crate::arguments) const RULES_CHECK_ABOUT: &str = "\
Say whether rule packs can be used, and what is in them: the rows of each table with the pack they come from, and the \
hash that decisions by these rules record.

The folders are layered over the built-in pack in the order they are given; with --only the built-in pack is left \
out. A mistake is told with file, line and column, what was expected and found, and what to do about it.

Only pack.toml and *.cedar directly in the folder are read: at most 64 files of 256 KiB, and none that a link leads to \
outside of it.";

pub(in crate::arguments) const RULES_CHECK_EXAMPLES: &str = "\
Examples:
  demur rules check                              the built-in pack
  demur rules check ./our-rules                  our pack over it
  demur rules check ./company ./team             two layers, the team's on top
  demur rules check ./travel --only              a domain of its own
  demur rules check ./our-rules --json | jq -r .hash

Exit codes: 0 the rules can be used; 2 they cannot, the message says where and why. `demur --help` lists the others.";

pub(in crate::arguments) const RULES_USE_ABOUT: &str = "\
Keep rule packs in the data folder: every server that is started in it holds plans against them, also one that another \
command starts, and so do `demur check`, `demur rules explain` and `demur plan submit` where no --rules is given. A server that runs takes them \
with the next plan; one that was started with --rules keeps its own. Plans that were submitted keep the rules they were \
submitted under.

The packs are read where they lie, every time; nothing is copied. Only packs that can be used are kept.";

pub(in crate::arguments) const RULES_USE_EXAMPLES: &str = "\
Examples:
  demur rules use ./our-rules                    our pack over the built-in one
  demur rules use ./travel --only                a domain of its own, without the built-in pack
  demur rules use --built-in                     as it was in the beginning

Exit codes: 0 they are kept; 2 they cannot be used, the message says where and why. `demur --help` lists the others.";

pub(in crate::arguments) const RULES_EXPLAIN_ABOUT: &str = "\
Say for each gap of a plan which pack and which row or policy made it, and what in the plan made that apply.

The plan is looked at as if nobody had answered or accepted anything yet. Nothing is recorded and nobody is asked.";

pub(in crate::arguments) const RULES_EXPLAIN_EXAMPLES: &str = "\
Examples:
  demur rules explain plan.json
  demur rules explain plan.json --rules ./our-rules
  demur rules explain trip.json --rules ./travel --only
  demur rules explain - --json < plan.json | jq -r '.gaps[] | \"\\(.field): \\(.because)\"'

Exit codes: 0 whether there are gaps or not; 2 the plan or a pack cannot be used. `demur --help` lists the others.";
