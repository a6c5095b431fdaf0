//! What the user is called who runs this: by the user database of the system. The environment says what whoever started the
//! process wants it to say.

use std::fs;

use demur_core::limit::Text;

use crate::failure::Failure;

/// Returns the name of the user of this process.
pub(crate) fn user_name() -> Result<Text<1, 256>, Failure> {
    let uid = rustix::process::geteuid().as_raw();
    let database = fs::read_to_string(DATABASE).unwrap_or_default();
    let name = named(&database, uid).map_or_else(|| format!("uid {uid}"), str::to_owned);
    Ok(Text::cut(&name)?)
}

/// Returns the name that the database gives a user. One that it does not list, such as one of a directory service, has a number.
fn named(database: &str, uid: u32) -> Option<&str> {
    database.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, number) = (fields.next()?, fields.next()?, fields.next()?);
        (number.parse() == Ok(uid) && !name.is_empty()).then_some(name)
    })
}

/// The users of this machine.
const DATABASE: &str = "/etc/passwd";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_that_of_the_number_and_of_no_other() {
        let database = "root:x:0:0:root:/root:/bin/sh\n\nbroken\n:x:7:7::/:\nada:x:1000:1000:Ada,,,:/home/ada:/bin/sh\n\
                        eve:x:1000:1000::/home/eve:/bin/sh\n";
        for (uid, name) in [(0, Some("root")), (1000, Some("ada")), (7, None), (100, None)] {
            assert_eq!(named(database, uid), name, "{uid}");
        }
    }
}
