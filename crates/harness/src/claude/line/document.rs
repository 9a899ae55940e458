//! The fields of a line that crew reads.

use std::borrow::Cow;

use serde::de::{MapAccess, SeqAccess};

use super::super::mcp::SERVER;
use super::target::Input;
use crate::entry::Excerpt;
use crate::json::{self, Fields, Into, Scalar};
use crate::money::{IMPLAUSIBLE, Tokens};

/// A line, whatever its type.
#[derive(Debug, Default)]
pub(super) struct Document<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) subtype: Cow<'a, str>,
    pub(super) session: Option<Cow<'a, str>>,
    pub(super) cwd: Cow<'a, str>,
    pub(super) servers: Servers,
    pub(super) parent: Option<Cow<'a, str>>,
    pub(super) timestamp: Cow<'a, str>,
    pub(super) message: Message<'a>,
    pub(super) event: Streamed<'a>,
    pub(super) error: Option<Cow<'a, str>>,
    pub(super) is_error: Option<bool>,
    // Of a retry and a refusal.
    pub(super) attempt: Option<u64>,
    pub(super) error_status: Option<u64>,
    pub(super) retry_delay: Option<f64>,
    pub(super) tool_name: Cow<'a, str>,
    pub(super) limit: Limit,
    // Of the end of a turn.
    pub(super) reason: Cow<'a, str>,
    pub(super) api_error_status: Option<u64>,
    pub(super) result: Cow<'a, str>,
    pub(super) errors: Texts,
    pub(super) tokens: Tokens,
    pub(super) total_usd: Option<f64>,
    pub(super) used: Models,
}

impl<'a> Document<'a> {
    /// Reads a line; `false` when it is not a whole JSON object.
    pub(super) fn read(&mut self, bytes: &'a [u8]) -> bool {
        json::read(bytes, self)
    }
}

impl<'a> Fields<'a> for Document<'a> {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = text(map)?,
            "subtype" => self.subtype = text(map)?,
            "session_id" => self.session = map.next_value::<Scalar<'a>>()?.text(),
            "cwd" => self.cwd = text(map)?,
            "mcp_servers" => read(map, &mut self.servers)?,
            "parent_tool_use_id" => self.parent = map.next_value::<Scalar<'a>>()?.text(),
            "timestamp" => self.timestamp = text(map)?,
            "message" => read(map, &mut self.message)?,
            "event" => read(map, &mut self.event)?,
            "error" => self.error = map.next_value::<Scalar<'a>>()?.text(),
            "is_error" => self.is_error = map.next_value::<Scalar<'a>>()?.truth(),
            "attempt" => self.attempt = map.next_value::<Scalar<'a>>()?.count(),
            "error_status" => self.error_status = map.next_value::<Scalar<'a>>()?.count(),
            "retry_delay_ms" => self.retry_delay = map.next_value::<Scalar<'a>>()?.number(),
            "tool_name" => self.tool_name = text(map)?,
            "rate_limit_info" => read(map, &mut self.limit)?,
            "terminal_reason" => self.reason = text(map)?,
            "api_error_status" => self.api_error_status = map.next_value::<Scalar<'a>>()?.count(),
            "result" => self.result = text(map)?,
            "errors" => read(map, &mut self.errors)?,
            "usage" => read(map, &mut self.tokens)?,
            "total_cost_usd" => self.total_usd = map.next_value::<Scalar<'a>>()?.number(),
            "model_usage_since_last_result" => read(map, &mut self.used)?,
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

/// The message of an assistant or a user; or a text, where a permission was denied.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) model: Cow<'a, str>,
    pub(super) tokens: Tokens,
    pub(super) content: Vec<Block<'a>>,
    pub(super) text: String,
}

impl Message<'_> {
    /// Whether nothing of it could be read.
    pub(super) fn is_nothing(&self) -> bool {
        self.id.is_empty() && self.model.is_empty() && self.content.is_empty() && self.text.is_empty()
    }
}

impl<'a> Fields<'a> for Message<'a> {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "id" => self.id = text(map)?,
            "model" => self.model = text(map)?,
            "usage" => read(map, &mut self.tokens)?,
            "content" => read(map, &mut self.content)?,
            _ => json::skip(map)?,
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        text.clone_into(&mut self.text);
    }
}

/// A part of a message.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) text: Cow<'a, str>,
    pub(super) thinking: Cow<'a, str>,
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) input: Input,
    pub(super) tool_use_id: Cow<'a, str>,
    pub(super) is_error: bool,
    pub(super) result: ResultText,
}

impl<'a> Fields<'a> for Block<'a> {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = text(map)?,
            "text" => self.text = text(map)?,
            "thinking" => self.thinking = text(map)?,
            "id" => self.id = text(map)?,
            "name" => self.name = text(map)?,
            "input" => read(map, &mut self.input)?,
            "tool_use_id" => self.tool_use_id = text(map)?,
            "is_error" => self.is_error = map.next_value::<Scalar<'a>>()?.truth().unwrap_or(false),
            "content" => read(map, &mut self.result)?,
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

/// The content of a tool's result: a text, or a list of parts of which some have a text.
#[derive(Debug, Default)]
pub(super) struct ResultText(Option<Excerpt>);

impl ResultText {
    pub(super) fn into_excerpt(self) -> Excerpt {
        self.0.unwrap_or_default()
    }

    fn push(&mut self, text: &str) {
        match &mut self.0 {
            Some(excerpt) => excerpt.push(text),
            none => *none = Some(Excerpt::of(text)),
        }
    }
}

impl<'a> Fields<'a> for ResultText {
    fn items<A: SeqAccess<'a>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        loop {
            let mut part = Part::default();
            if seq.next_element_seed(Into(&mut part))?.is_none() {
                return Ok(());
            }
            if let Some(text) = part.text {
                self.push(&text);
            } else if !part.kind.is_empty() {
                self.push(&format!("({})", part.kind));
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.push(text);
    }
}

/// One part of a tool's result.
#[derive(Debug, Default)]
struct Part<'a> {
    kind: Cow<'a, str>,
    text: Option<Cow<'a, str>>,
}

impl<'a> Fields<'a> for Part<'a> {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = text(map)?,
            "text" => self.text = map.next_value::<Scalar<'a>>()?.text(),
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

/// An event of the service, passed on as it came.
#[derive(Debug, Default)]
pub(super) struct Streamed<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) tokens: Tokens,
    pub(super) message_tokens: Tokens,
}

impl<'a> Fields<'a> for Streamed<'a> {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = text(map)?,
            "usage" => read(map, &mut self.tokens)?,
            "message" => read(map, &mut Usage(&mut self.message_tokens))?,
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

/// An object with the tokens in its field `usage`.
struct Usage<'t>(&'t mut Tokens);

impl<'a> Fields<'a> for Usage<'_> {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "usage" => read(map, self.0),
            _ => json::skip(map),
        }
    }
}

/// The tokens of a `usage` object of the service.
impl<'a> Fields<'a> for Tokens {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "input_tokens" => self.input = plausible(map)?,
            "output_tokens" => self.output = plausible(map)?,
            "cache_read_input_tokens" => self.cache_read = plausible(map)?,
            "cache_creation_input_tokens" => self.cache_write = plausible(map)?,
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

/// What was used by all models: the tokens, and US dollars.
#[derive(Debug, Default)]
pub(super) struct Models(pub(super) Option<(Tokens, f64)>);

impl<'a> Fields<'a> for Models {
    fn field<A: MapAccess<'a>>(&mut self, _model: &str, map: &mut A) -> Result<(), A::Error> {
        let mut model = Model::default();
        read(map, &mut model)?;
        let (tokens, usd) = self.0.get_or_insert_default();
        tokens.add(model.tokens);
        *usd += model.usd;
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Model {
    tokens: Tokens,
    usd: f64,
}

impl<'a> Fields<'a> for Model {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "inputTokens" => self.tokens.input = plausible(map)?,
            "outputTokens" => self.tokens.output = plausible(map)?,
            "cacheReadInputTokens" => self.tokens.cache_read = plausible(map)?,
            "cacheCreationInputTokens" => self.tokens.cache_write = plausible(map)?,
            "costUSD" => self.usd = map.next_value::<Scalar<'a>>()?.number().unwrap_or(0.0),
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

/// A limit of the user's plan.
#[derive(Debug, Default)]
pub(super) struct Limit {
    pub(super) is_rejected: bool,
    /// In seconds since 1970.
    pub(super) resets_at: Option<u64>,
}

impl<'a> Fields<'a> for Limit {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "status" => self.is_rejected = text(map)? == "rejected",
            "resetsAt" => {
                let seconds = map.next_value::<Scalar<'a>>()?.count();
                self.resets_at = seconds.filter(|seconds| *seconds <= IMPLAUSIBLE);
            }
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

/// The servers whose tools the client has.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// Whether crew's own could not be started.
    pub(super) lacks_crew: bool,
}

impl<'a> Fields<'a> for Servers {
    fn items<A: SeqAccess<'a>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        loop {
            let mut server = Server::default();
            if seq.next_element_seed(Into(&mut server))?.is_none() {
                return Ok(());
            }
            self.lacks_crew |= server.name == SERVER && server.status == "failed";
        }
    }
}

#[derive(Debug, Default)]
struct Server<'a> {
    name: Cow<'a, str>,
    status: Cow<'a, str>,
}

impl<'a> Fields<'a> for Server<'a> {
    fn field<A: MapAccess<'a>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "name" => self.name = text(map)?,
            "status" => self.status = text(map)?,
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

/// The texts of a list.
#[derive(Debug, Default)]
pub(super) struct Texts(pub(super) Vec<String>);

impl<'a> Fields<'a> for Texts {
    fn items<A: SeqAccess<'a>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(item) = seq.next_element::<Scalar<'a>>()? {
            self.0.extend(item.text().map(Cow::into_owned));
        }
        Ok(())
    }
}

/// The value of a field, as a text; empty when it is none.
fn text<'a, A: MapAccess<'a>>(map: &mut A) -> Result<Cow<'a, str>, A::Error> {
    Ok(map.next_value::<Scalar<'a>>()?.text().unwrap_or_default())
}

/// The value of a field, as a number of tokens.
fn plausible<'a, A: MapAccess<'a>>(map: &mut A) -> Result<u64, A::Error> {
    let count = map.next_value::<Scalar<'a>>()?.count();
    Ok(count.filter(|count| *count <= IMPLAUSIBLE).unwrap_or(0))
}

/// Reads the value of a field into one that is there.
fn read<'a, A: MapAccess<'a>, T: Fields<'a>>(map: &mut A, into: &mut T) -> Result<(), A::Error> {
    map.next_value_seed(Into(into)).map(drop)
}
