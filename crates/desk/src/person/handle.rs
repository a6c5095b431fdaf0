//! The operations of people: added and removed by the user of this machine only, and links that sign them in.

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation as op,
    person::{Link, ListedPeople, RemovedPerson, ShownPerson},
    refusal::Refusal,
};

use super::{LINK_TIMEOUT, Person, SIGN_IN_PATH, link};
use crate::{
    access::{Admitted, LinkOrigin},
    desk::Desk,
    entry::{Handle, Handled},
    person,
};

impl From<Person> for ShownPerson {
    fn from(person: Person) -> Self {
        let Person { name, role, added } = person;
        Self { name: name.to_string(), role, added }
    }
}

impl Handle<op::AddPerson> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::AddPerson>) -> Handled<op::AddPerson> {
        let (owner, new) = (&*self.owner()?, request.body);
        let most = self.limits().people as usize;
        let added = person::add(owner, &new.name, new.role, most)?;
        Ok(ApiReply::new(added.into()))
    }
}

impl Handle<op::ListPeople> for Desk {
    fn handle(&self, _: &Admitted, _: ApiRequest<op::ListPeople>) -> Handled<op::ListPeople> {
        let people = person::list(&*self.owner()?)?;
        Ok(ApiReply::new(ListedPeople { people: people.into_iter().map(ShownPerson::from).collect() }))
    }
}

impl Handle<op::RemovePerson> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::RemovePerson>) -> Handled<op::RemovePerson> {
        let (person, sessions) = self.remove_person(&*self.owner()?, &request.path.person)?;
        Ok(ApiReply::new(RemovedPerson { person: person.into(), sessions }))
    }
}

impl Handle<op::MakeSignInLink> for Desk {
    fn handle(&self, by: &Admitted, request: ApiRequest<op::MakeSignInLink>) -> Handled<op::MakeSignInLink> {
        let address = self.address().ok_or_else(|| {
            Refusal::new(Code::NoTcp, "expected a server that listens on TCP, found one that does not")
                .with_cure("start it without --no-tcp")
        })?;
        let owner = &*self.owner()?;
        let found = request.body.person.map(|name| person::find(owner, &name)).transpose()?;
        let way = by.caller().attribution();
        let origin = LinkOrigin { client: way.client, root: way.root };
        let code = link::make(owner, found.map(|(_, found)| found.name), origin)?;
        let url = format!("{address}{SIGN_IN_PATH}?code={code}");
        Ok(ApiReply::new(Link { url, seconds: LINK_TIMEOUT.as_secs() }))
    }
}
