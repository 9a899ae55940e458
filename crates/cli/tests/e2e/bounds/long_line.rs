//! One flood that is over soon: a line that does not end.

use crate::bounds::deep::floods::{FLOODED, KEPT, ends, flood, kept};
use crate::bounds::memory::bounded;

#[test]
fn a_line_of_100_megabytes_is_cut_and_starves_nobody() {
    let (world, engine) = flood(
        &format!(
            ": > \"$GATES/flooding\"\nhead -c 104857600 /dev/zero | tr '\\0' x\n\
         until_there \"$GATES/landed\"\nhead -c 1048576 /dev/zero | tr '\\0' x\n{FLOODED}"
        ),
        |_| {},
    );
    ends(&world, engine);
    assert!(kept(&world) < KEPT, "{} bytes are kept", kept(&world));
    let agent = world.variable("flood", 1, "CREW_AGENT").unwrap();
    bounded(&world, &["logs", &agent]);
    bounded(&world, &["summary", "flood"]);
}
