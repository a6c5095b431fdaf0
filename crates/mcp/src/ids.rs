//! Requests of the server are numbered from 1, whatever carries them. The library begins with 0, and the SDK for TypeScript
//! takes that for no number at all: its first form would stay open for ever.

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification},
    transport::Transport,
};

/// A transport on which requests of the server are numbered from 1.
pub struct FromOne<T>(pub T);

impl<T: Transport<RoleServer>> Transport<RoleServer> for FromOne<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        mut message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        match &mut message {
            ServerJsonRpcMessage::Request(request) => shift(&mut request.id, 1),
            ServerJsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) = &mut notification.notification {
                    cancelled.params.request_id.iter_mut().for_each(|id| shift(id, 1));
                }
            }
            ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_) => {}
        }
        self.0.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut message = self.0.receive().await?;
        match &mut message {
            ClientJsonRpcMessage::Response(response) => shift(&mut response.id, -1),
            ClientJsonRpcMessage::Error(error) => error.id.iter_mut().for_each(|id| shift(id, -1)),
            ClientJsonRpcMessage::Request(_) | ClientJsonRpcMessage::Notification(_) => {}
        }
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.0.close()
    }
}

/// Moves the number of one of our requests. Some clients send it back as a text.
fn shift(id: &mut RequestId, by: i64) {
    let number = match id {
        RequestId::Number(number) => Some(*number),
        RequestId::String(text) => text.parse().ok(),
    };
    if let Some(moved) = number.and_then(|number: i64| number.checked_add(by)) {
        *id = RequestId::Number(moved);
    }
}
