//! What is served: a file for each part of the interface, merged here into one router.
//!
//! The files name their addresses without `/api/v1`. Each route has its line in `edge/access.rs`, which says
//! who may use it.

mod acts;
mod commands;
mod cost;
mod devices;
mod events;
mod given;
mod health;
mod hello;
mod inbox;
mod metrics;
mod pair;
mod repos;
mod runs;
mod search;
mod settings;
mod spans;
mod status;
mod stream;
mod streamed;
mod tickets;
mod view;

use axum::{Router, middleware};
use tower_http::compression::CompressionLayer;

use crate::app::App;
use crate::{assets, edge};

/// All routes.
pub(crate) fn routes() -> Router<App> {
    let interface = Router::new()
        .merge(acts::routes())
        .merge(commands::routes())
        .merge(cost::routes())
        .merge(devices::routes())
        .merge(events::routes())
        .merge(health::routes())
        .merge(hello::routes())
        .merge(inbox::routes())
        .merge(pair::routes())
        .merge(repos::routes())
        .merge(runs::routes())
        .merge(search::routes())
        .merge(settings::routes())
        .merge(spans::routes())
        .merge(status::routes())
        .merge(stream::routes())
        .merge(tickets::routes())
        .merge(view::routes());
    Router::new()
        .nest("/api/v1", interface)
        .merge(metrics::routes())
        .merge(assets::routes())
}

/// The whole service: the routes behind the edge, and the page at every other address.
pub(crate) fn router(app: App) -> Router {
    let guard = middleware::from_fn_with_state(app.clone(), edge::guard);
    routes()
        .fallback(assets::page)
        .layer(guard)
        // It leaves streams alone.
        .layer(CompressionLayer::new())
        .with_state(app)
}
