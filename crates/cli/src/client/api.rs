//! Every operation over the socket.

use demur_api::{
    call::{self, ApiReply, ApiRequest},
    operation::{ApiDocument as _, Operation},
    refusal::Refusal,
};
use hyper::StatusCode;

use super::{Call, Way};

impl Way {
    /// Sends the request for an operation, and returns what comes out of it.
    pub(crate) async fn perform<O: Operation>(
        &self,
        call: &Call<'_>,
    ) -> Result<ApiReply<O::Output>, Refusal> {
        let (status, bytes) = self.exchange(call).await?;
        let text: &[u8] = if O::Output::is_nothing() { b"{}" } else { &bytes };
        let document = serde_json::from_slice(text).map_err(|error| Refusal::bug(&error))?;
        // Where a first time and a second time are told apart, the first one has made something.
        let repeated = O::ABOUT.statuses.len() > 1 && status != StatusCode::CREATED;
        Ok(ApiReply { document, repeated })
    }
}

impl<O: Operation> call::Call<O> for Way {
    async fn call(&self, request: ApiRequest<O>) -> Result<ApiReply<O::Output>, Refusal> {
        let call = Call::of(&request)?;
        self.perform::<O>(&call).await
    }
}

#[cfg(test)]
mod tests {
    use demur_api::operation::Connection;

    use super::*;

    #[test]
    fn socket_is_a_way_to_every_operation() {
        const fn is_connection<T: Connection>() {}
        is_connection::<Way>();
    }
}
