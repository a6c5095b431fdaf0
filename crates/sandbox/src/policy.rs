//! What the policy of a run lets its tools do beyond what every tool may, and whether a weaker sandbox will do.

use serde::{Deserialize, Serialize};

/// How closely tools are held. The default is the closest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxPolicy {
    /// A tool also runs where the kernel cannot enforce what it is held to. Otherwise none starts there.
    pub best_effort: bool,
    /// Modes, owners, times and attributes of files may be changed by their path, of any file of the user.
    pub chmod: bool,
    /// Sockets for UDP may be opened.
    pub udp: bool,
}
