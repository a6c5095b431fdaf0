//! The operations of tokens: made and taken back by the user of this machine only.

use demur_api::{
    call::{ApiReply, ApiRequest},
    operation as op,
    token::{ListedTokens, MadeToken, ShownToken},
};
use demur_core::limit::Whole;

use super::Wanted;
use crate::{
    access::{Admitted, Token},
    desk::Desk,
    entry::{Handle, Handled},
};

impl From<Token> for ShownToken {
    fn from(token: Token) -> Self {
        let Token { id, name, scopes, created, expires, .. } = token;
        Self { id, name: name.to_string(), scopes, created, expires }
    }
}

impl Handle<op::MakeToken> for Desk {
    fn handle(&self, _: &Admitted, request: ApiRequest<op::MakeToken>) -> Handled<op::MakeToken> {
        let new = request.body;
        let seconds = new.seconds.map(Whole::as_u64);
        let wanted = Wanted {
            name: new.name,
            scopes: new.scopes.to_vec(),
            seconds,
            role: None,
            rests_on: None,
            browser: None,
        };
        let (token, secret) = self.tokens().create(&*self.owner()?, wanted)?;
        Ok(ApiReply::new(MadeToken { token: token.into(), secret }))
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
