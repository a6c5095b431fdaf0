//! The operations of people: added and removed, codes that sign them in, and the browsers that are signed in.

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation as op,
    person::{
        EndedSessions, Link, ListedPeople, ListedSessions, PersonRole, RemovedPerson, ShownPerson,
        ShownSession,
    },
    refusal::Refusal,
    scope::Scope,
};
use demur_core::limit::Text;

use super::{LINK_TIMEOUT, Person, SIGN_IN_PATH, file, link};
use crate::{
    access::{Admitted, Caller, LinkOrigin},
    desk::Desk,
    entry::{Handle, Handled},
    error, name,
    passkey::Administrator,
    person,
    token::FoundSession,
};

impl From<Person> for ShownPerson {
    fn from(person: Person) -> Self {
        let Person { name, role, added, .. } = person;
        Self { name: name.to_string(), role, added }
    }
}

impl Handle<op::AddPerson> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::AddPerson>) -> Handled<op::AddPerson> {
        let (owner, new) = (&*self.owner()?, request.body);
        let most = self.limits().people as usize;
        let added = person::add(owner, (&new.name, new.role), most, &Administrator::Desk)?;
        Ok(ApiReply::new(added.into()))
    }
}

impl Handle<op::ListPeople> for Desk {
    fn handle(&self, _: &Admitted, _: ApiRequest<op::ListPeople>) -> Handled<op::ListPeople> {
        let people = person::list(&*self.owner()?)?;
        Ok(ApiReply::new(ListedPeople { people: people.into_iter().map(ShownPerson::from).collect() }))
    }
}

impl Desk {
    /// Returns everybody who was added, for the user of this machine, and for an operator who signed in: whom an operator's passkey adds,
    /// changes and removes. May block.
    pub fn people_for(&self, caller: &Caller) -> Result<Vec<ShownPerson>, Refusal> {
        self.admit(caller, &[Scope::Operate])?;
        if caller.role() != Some(PersonRole::Operator) && !caller.is_local() {
            let message = "expected an operator who signed in, found another caller";
            return Err(Refusal::new(Code::Forbidden, message).with_cure("`demur people list` shows them"));
        }
        Ok(person::list(&*self.owner()?)?.into_iter().map(ShownPerson::from).collect())
    }
}

impl Handle<op::RemovePerson> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::RemovePerson>) -> Handled<op::RemovePerson> {
        let (owner, name) = (&*self.owner()?, &request.path.person);
        let (person, sessions) = self.remove_person(owner, by.caller(), name, &Administrator::Desk)?;
        Ok(ApiReply::new(RemovedPerson { person: person.into(), sessions }))
    }
}

impl Handle<op::MakeSignInLink> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::MakeSignInLink>) -> Handled<op::MakeSignInLink> {
        let pages = self.pages().ok_or_else(|| self.no_pages())?;
        let owner = &*self.owner()?;
        let wanted = request.body.person.or_else(|| own_name(self, by.caller()));
        let found = wanted.map(|name| person::find(owner, &name)).transpose()?;
        let origin = LinkOrigin::of(by.caller());
        let person = found.map(|(_, found)| found.name);
        let code = link::draw(owner);
        // A browser here is that of the user of this machine, and nobody else's code is for it.
        let file = (request.body.file && by.caller().is_local() && person.is_none())
            .then(|| file::write(self.data(), &pages, &code))
            .transpose()
            .map_err(|found| error::file("write", &self.data().path().join("sign-in"), &found))?;
        if let Some(path) = file.clone() {
            tokio::spawn(async move {
                tokio::time::sleep(LINK_TIMEOUT).await;
                file::remove(&path);
            });
        }
        let shown = file.as_ref().map(|path| path.to_string_lossy().into_owned());
        link::keep(owner, &code, &link::Link { person, origin, file })?;
        let url = format!("{pages}{SIGN_IN_PATH}");
        Ok(ApiReply::new(Link { url, code, file: shown, seconds: LINK_TIMEOUT.as_secs() }))
    }
}

/// Returns the name of somebody who signed in and was added; none of the user of this machine.
fn own_name(desk: &Desk, caller: &Caller) -> Option<Text<1, 64>> {
    let token = caller.person()?;
    (!name::same(&token.name, desk.user())).then(|| token.name.clone())
}

impl Handle<op::ListSessions> for Desk {
    fn handle(&self, by: &Admitted, _: ApiRequest<op::ListSessions>) -> Handled<op::ListSessions> {
        let (owner, own) = (&*self.owner()?, self.own_sessions_of(by.caller()));
        let found = self.tokens().sessions(owner, self.now()?)?;
        let seen =
            found.into_iter().filter(|found| own.is_none_or(|name| name::same(&found.token.name, name)));
        let caller = by.caller().person().map(|token| token.id.as_str());
        let sessions = seen.map(|found| shown(found, caller)).collect();
        Ok(ApiReply::new(ListedSessions { sessions }))
    }
}

fn shown(found: FoundSession, caller: Option<&str>) -> ShownSession {
    let FoundSession { token, used, ends } = found;
    let browser = token.browser.unwrap_or_default();
    ShownSession {
        own: caller == Some(token.id.as_str()),
        id: token.id,
        person: token.name.to_string(),
        role: token.role.unwrap_or(PersonRole::Auditor),
        begun: token.created,
        used,
        ends,
        browser: browser.agent.map(String::from).unwrap_or_default(),
        address: browser.address.map(String::from).unwrap_or_default(),
        bound: browser.bound.is_some(),
    }
}

impl Handle<op::EndSession> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::EndSession>) -> Handled<op::EndSession> {
        let own = self.own_sessions_of(by.caller());
        self.tokens().end_session(&*self.owner()?, &request.path.sign_in, own)?;
        Ok(ApiReply::new(EndedSessions { ended: 1 }))
    }
}

impl Handle<op::EndSessions> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::EndSessions>) -> Handled<op::EndSessions> {
        let (own, wanted) = (self.own_sessions_of(by.caller()), request.query.person);
        if let (Some(own), Some(wanted)) = (own, &wanted)
            && !name::same(own, wanted)
        {
            let message = "expected one's own sessions, found those of somebody else";
            return Err(Refusal::new(Code::Forbidden, message).with_cure("leave the name out"));
        }
        let of = own.or(wanted.as_deref());
        let ended = self.tokens().end_all_sessions(&*self.owner()?, of)?;
        Ok(ApiReply::new(EndedSessions { ended }))
    }
}

impl Desk {
    /// Returns whose sessions alone a caller sees and ends; none where it may look after everybody's.
    fn own_sessions_of<'a>(&self, caller: &'a Caller) -> Option<&'a str> {
        let token = caller.person()?;
        let administers = self.is_public() && caller.may(&[Scope::Administer]);
        (!administers).then_some(token.name.as_str())
    }

    /// Returns why there are no pages.
    pub(crate) fn no_pages(&self) -> Refusal {
        if let Some(port) = self.waits_for_port() {
            let message = format!(
                "expected port {port}, which is this folder's, to be free, found it in use by another program"
            );
            return Refusal::new(Code::PortTaken, message).with_cure(
                "pages come back when it is free; questions are answered with `demur inbox` meanwhile",
            );
        }
        Refusal::new(Code::NoTcp, "expected a server that listens on TCP, found one that does not")
            .with_cure("start it without --no-tcp")
    }
}
