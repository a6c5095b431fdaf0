//! The web inbox, as a browser without scripts uses it: a link, a cookie, a form, its review, and what is sent from there.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::json;

use super::{answering::Said, wire::Wire};

/// A browser of somebody who signed in.
pub(super) struct Browser {
    /// `demur.localhost:PORT`
    host: String,
    cookie: String,
}

impl Browser {
    pub(super) fn sign_in(local: &Wire, host: &str) -> Self {
        let link = local.post("/v1/sign-in", &json!({})).unwrap();
        let code = link["code"].as_str().unwrap().to_owned();
        let host = host.replace("localhost", "demur.localhost");
        let mut browser = Self { host, cookie: "none=none".to_owned() };
        let (head, _) = browser.post("/sign-in", &format!("code={code}"));
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect(&head);
        cookie.split(';').next().unwrap().clone_into(&mut browser.cookie);
        browser
    }

    /// Fills in the form of a question, looks at the review, and sends it.
    pub(super) fn answer(&self, id: &str, answer: &str) -> Said {
        let form = format!("act=answer&level=normal&text={answer}");
        let (head, page) = self.post(&format!("/questions/{id}/review"), &form);
        if head.starts_with("HTTP/1.1 409") {
            return told(&page);
        }
        assert!(head.starts_with("HTTP/1.1 200") && page.contains(answer), "{head} {page}");
        let (head, page) = self.post(&format!("/questions/{id}/answer"), &hidden(&page));
        match head.split(' ').nth(1) {
            Some("303") => Said::Answered,
            Some("409") => told(&page),
            _ => panic!("{head} {page}"),
        }
    }

    fn post(&self, path: &str, form: &str) -> (String, String) {
        let (host, cookie) = (&self.host, &self.cookie);
        let mut stream = TcpStream::connect(host.replace("demur.localhost", "127.0.0.1")).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            form.len()
        );
        stream.write_all(format!("{head}{form}").as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }
}

/// A page that comes too late says who was first.
fn told(page: &str) -> Said {
    assert!(page.contains("data-state=\"answered\"") && page.contains("Answered"), "{page}");
    Said::Refused { code: "ALREADY_ANSWERED".to_owned(), told: page.to_owned() }
}

/// Returns what the form of a review carries unseen.
fn hidden(page: &str) -> String {
    let form = page.split_once("<form class=\"send\"").unwrap().1.split_once("</form>").unwrap().0;
    let fields = form.split("<input type=\"hidden\" name=\"").skip(1).map(|rest| {
        let (name, rest) = rest.split_once("\" value=\"").unwrap();
        format!("{name}={}", rest.split_once('"').unwrap().0)
    });
    fields.collect::<Vec<_>>().join("&")
}
