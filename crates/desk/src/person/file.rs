//! A file that carries a sign-in code to a browser on this machine. What stands on a command line every process sees, and what stands
//! in an address is kept: the browser is given the path of a file that only its user can read, and the file sends the code by a form.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use demur_core::hash::sha256;

use super::SIGN_IN_PATH;
use crate::{data::DataFolder, durable};

impl DataFolder {
    /// Returns where such files are while they are of use.
    fn sign_in_files(&self) -> PathBuf {
        self.path().join("sign-in")
    }

    /// Removes all of them: a server that was killed may have left some.
    pub fn sweep_sign_in_files(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.sign_in_files()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Writes the file of a code, for a server whose pages are at this address; returns where it is.
pub(super) fn write(data: &DataFolder, pages: &str, code: &str) -> io::Result<PathBuf> {
    let folder = data.sign_in_files();
    durable::create_folder(&folder)?;
    // Its name is seen: it says nothing about the code.
    let name = sha256(format!("demur file {code}").as_bytes()).to_string();
    let path = folder.join(format!("{}.html", &name[..16]));
    durable::create(&path, page(pages, code).as_bytes())?;
    Ok(path)
}

/// Removes a file that is of no use any more.
pub(super) fn remove(path: &Path) {
    if let Err(error) = durable::remove(path) {
        tracing::warn!(%error, "a file for signing in could not be removed; its code is good for nothing");
    }
}

/// Returns the page: it sends itself where scripts run, and has a button where they do not.
fn page(pages: &str, code: &str) -> String {
    let hash = STANDARD.encode(sha256(SCRIPT.as_bytes()).as_bytes());
    let style = STANDARD.encode(sha256(STYLE.as_bytes()).as_bytes());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-{hash}'; \
         style-src 'sha256-{style}'; form-action {pages}; base-uri 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>Sign in to demur</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<h1>Sign in to demur</h1>\n\
         <form method=\"post\" action=\"{pages}{SIGN_IN_PATH}\">\n<input type=\"hidden\" name=\"code\" value=\"{code}\">\n\
         <button type=\"submit\">Go on</button>\n</form>\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

const SCRIPT: &str = "document.forms[0].submit()";
const STYLE: &str = ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;margin:0}\
main{max-width:34rem;margin:10vh auto;padding:1rem}button{font:inherit;padding:.75rem 1.5rem;min-height:44px}";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// ONE-11
    #[test]
    fn nobody_else_reads_the_file_and_its_name_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::at(folder.path().to_owned());
        let path = write(&data, "http://demur.localhost:1", "ABCDE-FGHJK").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert!(!path.to_str().unwrap().contains("ABCDE"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.contains("value=\"ABCDE-FGHJK\"") && text.contains("form-action http://demur.localhost:1;")
        );
        remove(&path);
        assert!(!path.exists());
        write(&data, "http://demur.localhost:1", "ABCDE-FGHJK").unwrap();
        data.sweep_sign_in_files().unwrap();
        data.sweep_sign_in_files().unwrap();
        assert!(!path.exists());
    }
}
