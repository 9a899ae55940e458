//! The README's tour, as it stands there.

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");

/// The blocks of shell commands of the tour, in order.
pub fn tour() -> Vec<String> {
    let readme = std::fs::read_to_string(README).unwrap();
    let (_, tour) = readme.split_once("\n## A five-minute tour\n").unwrap();
    let (tour, _) = tour.split_once("\n## ").unwrap();
    let blocks = tour.split("```sh\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}
