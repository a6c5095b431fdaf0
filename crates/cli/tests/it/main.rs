//! The command from outside: the real executable in folders of its own.
#![expect(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod checkpoint;
mod completions;
mod corpus;
mod crash;
mod damage;
mod demo;
mod doors;
mod export;
mod help;
mod identity;
mod identity_verify;
mod independent;
mod keys_list;
mod keys_new;
mod keys_revoke;
mod keys_rotate;
mod keys_show;
mod output;
mod plan;
mod reference;
mod rules;
mod run;
mod sandbox;
mod secrets;
mod store_backup;
mod store_check;
mod store_trouble;
mod tool_limits;
mod trace_list;
mod trace_show;
mod trace_show_graph;
mod turns;
mod verify;
mod verify_anchors;
mod verify_input;
