//! The server of the Model Context Protocol.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::Value;

use crate::caller::{Caller, Error, Result};
use crate::lines::Lines;

/// What a client is told of the server.
const ABOUT: &str = "Tools of crew, which has given you the ticket that you work on. The first result that you state with one \
    of them stands, and ends your step.";

/// Serves an agent's tools on standard input and output, until the client closes them.
///
/// # Errors
/// [`Error::Server`]: what comes in is not the protocol.
pub async fn serve(caller: Caller) -> Result<()> {
    let broke = |error: String| Error::Server(error);
    let (input, output) = stdio();
    let service = Server(caller).serve(Lines::new(input, output)).await;
    let service = service.map_err(|error| broke(text::with_causes(&error)))?;
    let ended = service.waiting().await;
    ended.map(drop).map_err(|error| broke(text::with_causes(&error)))
}

struct Server(Caller);

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("crew", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(ABOUT.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.0.tools().into_iter();
        let tools = tools.map(|tool| Tool::new(tool.name, tool.describes, Arc::new(tool.schema)));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.0.clone();
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let call = tokio::task::spawn_blocking(move || caller.call(&request.name, arguments));
        // Whatever is wrong is for the agent to read.
        let (accepted, says) = match call.await {
            Ok(Ok(reply)) => (reply.accepted, reply.says),
            Ok(Err(error)) => (false, text::with_causes(&error)),
            Err(error) => (false, text::with_causes(&error)),
        };
        let content = vec![ContentBlock::text(says)];
        Ok(match accepted {
            true => CallToolResult::success(content),
            false => CallToolResult::error(content),
        }
        .into())
    }
}
