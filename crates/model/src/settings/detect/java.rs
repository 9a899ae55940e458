//! The Java machine: Gradle and Maven.

use super::files::Files;
use super::{Detected, Runner};

pub(super) fn find(files: &Files<'_>) -> Vec<Detected> {
    gradle(files).into_iter().chain(maven(files)).collect()
}

fn gradle(files: &Files<'_>) -> Option<Detected> {
    let seen_in = files.first_of(&[
        "settings.gradle",
        "settings.gradle.kts",
        "build.gradle",
        "build.gradle.kts",
    ])?;
    let (program, needed) = match files.has("gradlew") {
        true => ("./gradlew", "java"),
        false => ("gradle", "gradle"),
    };
    // A daemon would outlive the check.
    let found = Detected::new(Runner::Gradle, seen_in, format!("{program} --no-daemon test"));
    Some(found.needs(needed).keep(&[".gradle", "build"]))
}

fn maven(files: &Files<'_>) -> Option<Detected> {
    let seen_in = files.first_of(&["pom.xml"])?;
    let (program, needed) = match files.has("mvnw") {
        true => ("./mvnw", "java"),
        false => ("mvn", "mvn"),
    };
    // The output has no colours and no lines about downloads. `target` is not kept, since Maven leaves
    // classes in it whose sources are gone.
    let found = Detected::new(
        Runner::Maven,
        seen_in,
        format!("{program} --batch-mode --no-transfer-progress test"),
    );
    Some(found.needs(needed))
}
