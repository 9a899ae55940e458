//! Ruby: `RSpec`, through Bundler.

use super::files::Files;
use super::{Detected, Runner};

pub(super) fn find(files: &Files<'_>) -> Vec<Detected> {
    let is_spec = |path: &str| path.starts_with("spec/") && path.ends_with("_spec.rb");
    let Some(seen_in) = files.first_of(&[".rspec"]).or_else(|| files.find(is_spec)) else {
        return Vec::new();
    };
    let has_bundle = files.first_of(&["Gemfile", "gems.rb"]).is_some();
    if !has_bundle {
        return vec![Detected::new(Runner::Rspec, seen_in, "rspec").needs("rspec")];
    }
    // The repository's own settings of Bundler stay as they are.
    let own_settings = files.has(".bundle/config");
    let path = (!own_settings).then_some("bundle config set --local path vendor/bundle");
    // With a lock file, the set-up must not write another one.
    let is_locked = files.first_of(&["Gemfile.lock", "gems.locked"]).is_some();
    let install = match is_locked {
        true => "BUNDLE_FROZEN=true bundle install",
        false => "bundle install",
    };
    let mut found = Detected::new(Runner::Rspec, seen_in, "bundle exec rspec").needs("bundle");
    if !own_settings {
        // Bundler writes the setting of the path there.
        found.to_ignore.push(".bundle".to_owned());
        found = found.keep_ignored(&["vendor/bundle"]);
    }
    vec![found.setup(path.into_iter().chain([install]))]
}
