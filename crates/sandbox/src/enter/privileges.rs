//! Rights beyond those of the user.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};

/// Makes sure that no program the tool executes has more rights than the tool.
pub(super) fn gain_none() -> Result<String, String> {
    set_no_new_privs(true).map_err(|error| format!("it cannot be kept from gaining rights: {error}"))?;
    Ok("rights: none can be gained by executing a program".to_owned())
}

/// Takes away what an administrator may do beyond other users. Returns what there is to say about it.
pub(super) fn drop_all() -> Option<String> {
    if capabilities(None).is_ok_and(|sets| (sets.permitted | sets.inheritable).is_empty()) {
        return None;
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Some(match set_capabilities(None, sets) {
        Ok(()) => "rights: every capability of the administrator is taken away".to_owned(),
        Err(error) => format!("rights: the capabilities of the administrator are not taken away: {error}"),
    })
}
