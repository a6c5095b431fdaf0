//! A door that speaks the revisions of 2025 only says so when a client asks which there are, whatever revision the client
//! asks in: the library would refuse the question itself.

use std::borrow::Cow;

use rmcp::{
    ErrorData, RoleServer, ServerHandler, Service,
    model::{ClientRequest, ProtocolVersion, ServerConfig, ServerResult},
    service::{NotificationContext, RequestContext, ServiceRole},
};

use crate::{door::Door, host::Host};

/// The door, with its word about revisions before everything else.
pub(crate) struct Announced<H>(pub(crate) Door<H>);

impl<H: Host> Service<RoleServer> for Announced<H> {
    async fn handle_request(
        &self,
        request: <RoleServer as ServiceRole>::PeerReq,
        context: RequestContext<RoleServer>,
    ) -> Result<<RoleServer as ServiceRole>::Resp, ErrorData> {
        let asked = context.meta.protocol_version();
        let versions = ServerHandler::supported_protocol_versions(&self.0);
        if matches!(request, ClientRequest::DiscoverRequest(_))
            && asked.is_some_and(|asked| !versions.contains(&asked))
        {
            return self.0.discover(context).await.map(ServerResult::DiscoverResult);
        }
        self.0.handle_request(request, context).await
    }

    async fn handle_notification(
        &self,
        notification: <RoleServer as ServiceRole>::PeerNot,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.0)
    }
}
