//! Many seeds.

/// Runs the seeds of one share; every invariant holds in each.
fn hold(seeds: std::ops::Range<u64>) {
    let failures: Vec<_> = seeds.clone().filter_map(|seed| sim::run(seed, None).err()).collect();
    let named: std::collections::BTreeMap<&str, Vec<u64>> =
        failures.iter().fold(std::collections::BTreeMap::new(), |mut named, failure| {
            named.entry(failure.invariant).or_insert_with(Vec::new).push(failure.seed);
            named
        });
    if let Some(first) = failures.first() {
        panic!("{} of {} seeds fail: {named:?}\n{first}", failures.len(), seeds.count());
    }
}

#[test]
fn hold_0() {
    hold(0..50);
}
