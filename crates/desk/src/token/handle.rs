//! The operations of tokens: made and taken back by the user of this machine only.

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation as op,
    refusal::Refusal,
    scope::Scope,
    token::{ListedTokens, MadeToken, NewToken, ShownToken},
};
use demur_core::limit::{Text, Whole};

use super::Wanted;
use crate::{
    access::{Admitted, Token},
    desk::Desk,
    entry::{Handle, Handled},
};

impl From<Token> for ShownToken {
    fn from(token: Token) -> Self {
        let Token { id, name, scopes, created, expires, people, .. } = token;
        let people = people.map(|people| {
            // They are kept in the order of their ids, which were drawn.
            let mut names: Vec<_> = people.into_iter().map(|person| person.name.to_string()).collect();
            names.sort_unstable();
            names
        });
        Self { id, name: name.to_string(), scopes, people, created, expires }
    }
}

impl Handle<op::MakeToken> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::MakeToken>) -> Handled<op::MakeToken> {
        let new = request.body;
        let seconds = new.seconds.map(Whole::as_u64);
        let people = people(&new)?;
        let wanted = Wanted {
            name: new.name,
            scopes: new.scopes.to_vec(),
            people,
            seconds,
            role: None,
            rests_on: None,
            browser: None,
        };
        let (token, secret) = self.tokens().create(&*self.owner()?, wanted)?;
        Ok(ApiReply::new(MadeToken { token: token.into(), secret }))
    }
}

/// Returns whose words a token is to pass on: people by name, or anybody where that is asked for.
fn people(new: &NewToken) -> Result<Option<Vec<Text<1, 64>>>, Refusal> {
    // An answerer's token relays nothing, whatever it wants.
    let relays = new.scopes.contains(&Scope::Relay) && !new.scopes.contains(&Scope::Answer);
    match (relays, new.people.is_empty(), new.for_anyone) {
        (true, true, false) => {
            let message = "expected the people whose words the token passes on, found none";
            Err(Refusal::new(Code::PeopleMissing, message).about("people").with_cure(
                "name them with `--for PERSON`; with `--for-anyone` it passes on what anybody says, about its own questions alone",
            ))
        }
        (_, false, true) => {
            let message = "expected people by name or anybody, found both";
            Err(Refusal::malformed(message).about("for_anyone"))
        }
        (false, true, true) => {
            let message = "expected people beside the scope relay alone, found anybody without it";
            Err(Refusal::new(Code::ScopeInvalid, message).about("for_anyone"))
        }
        (_, true, _) => Ok(None),
        (_, false, false) => Ok(Some(new.people.to_vec())),
    }
}

impl Handle<op::ListTokens> for Desk {
    fn handle(&self, _: &Admitted, _: ApiRequest<op::ListTokens>) -> Handled<op::ListTokens> {
        let tokens = self.tokens().list(&*self.owner()?)?;
        Ok(ApiReply::new(ListedTokens { tokens: tokens.into_iter().map(ShownToken::from).collect() }))
    }
}

impl Handle<op::RevokeToken> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::RevokeToken>) -> Handled<op::RevokeToken> {
        let revoked = self.tokens().revoke(&*self.owner()?, &request.path.token)?;
        Ok(ApiReply::new(revoked.into()))
    }
}
