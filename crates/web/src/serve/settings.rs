//! `GET …/settings`: the settings in force, without the values of environments, which may be secrets.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use model::settings::Settings;
use serde_json::Value;

use super::given;
use crate::app::App;
use crate::problem::Problem;

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/r/{repo}/settings", get(settings))
}

async fn settings(State(app): State<App>, Path(repo): Path<String>) -> Result<Response, Problem> {
    let files = app.repo(&repo)?.board.files();
    given::document(&shown(&files.settings))
}

/// The settings, with the names of the variables of an environment in place of their values.
pub(super) fn shown(settings: &Settings) -> Value {
    let mut shown = serde_json::to_value(settings).unwrap_or_default();
    hide(&mut shown);
    shown
}

fn hide(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), &*value) {
                    ("env", Value::Object(env)) => *value = env.keys().cloned().collect::<Vec<_>>().into(),
                    _ => hide(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(hide),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_environments_are_not_shown() {
        let text = "[harness.claude]\nkind = \"claude\"\nenv = { ANTHROPIC_API_KEY = \"canary-1\" }\n";
        let settings = Settings::parse_bytes(text.as_bytes(), "crew.toml").unwrap();
        let shown = shown(&settings);
        assert_eq!(
            shown["harness"]["claude"]["env"],
            serde_json::json!(["ANTHROPIC_API_KEY"])
        );
        assert!(!shown.to_string().contains("canary"), "{shown}");
    }
}
