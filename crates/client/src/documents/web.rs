//! The web page: where it is, how a device is paired, and which are.

use model::Moment;
use schemars::JsonSchema;
use serde::Serialize;

/// The page is served from now on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WebServed {
    /// The address of the page.
    pub url: String,
    /// A link that pairs a browser with it, once, within ten minutes.
    pub pair: String,
}

/// A link that pairs a device.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WebPairing {
    /// The link. It works once.
    pub pair: String,
    /// The scope of the device: `act` or `look`.
    pub scope: &'static str,
    /// The time at which the link ends.
    pub ends_at: Moment,
}

/// The devices that are paired.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WebDevices {
    /// The devices, those that were paired first at the beginning.
    pub devices: Vec<WebDevice>,
}

/// A device that is paired with the web page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WebDevice {
    /// Its id.
    pub id: String,
    /// Its name, unlike that of any other device.
    pub name: String,
    /// The scope of the device: `act` or `look`.
    pub scope: &'static str,
    /// The time at which it was paired.
    pub paired_at: Moment,
    /// The time of its last use, give or take ten minutes.
    pub last_used: Moment,
}

/// A device that may do nothing any more.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WebRevoked {
    /// The device.
    pub revoked: WebDevice,
}
