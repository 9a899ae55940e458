//! Long queues: no operation needs a deep stack or quadratic time.

use tickets::*;

use crate::{Queue, id};

#[test]
#[expect(clippy::disallowed_methods, reason = "the figures are printed, not asserted")]
fn five_thousand_tickets() {
    let q = Queue::new();
    for n in 0..5000 {
        let status = if n % 20 < 9 { "closed" } else { "open" };
        let deps = if n > 10 {
            format!("t-{:04}, t-{:04}", n / 2, n - 7)
        } else {
            String::new()
        };
        q.plain(&format!("t-{n:04}"), status, &deps);
    }
    let start = std::time::Instant::now();
    let rows = q.folder.rows(None).unwrap();
    let read = start.elapsed();
    let graph = Graph::new(&rows);
    let out = render_ready(&ready(&rows, &graph, &Filter::default()));
    let all = start.elapsed();
    println!(
        "5000 tickets: read {read:?}, ready {all:?}, {} rows",
        out.lines().count()
    );
    let ready_rows = out.lines().count();
    let blocked_rows = blocked(&rows, &graph, &Filter::default()).len();
    assert_eq!(ready_rows + blocked_rows, 2750);
    assert!(ready_rows > 100 && blocked_rows > 100);
    assert_eq!(graph.cycles(), Vec::<Vec<&str>>::new());
    let start = std::time::Instant::now();
    let mut scan = Scan::new(q.folder.clone());
    let later = jiff::Timestamp::from_second(4_000_000_000).unwrap();
    assert_eq!(scan.rescan(later).unwrap().len(), 5000);
    let first = start.elapsed();
    assert_eq!(scan.rescan(later).unwrap(), []);
    println!("scan: first {first:?}, again {:?}", start.elapsed() - first);
    let start = std::time::Instant::now();
    q.folder.dep(&id("t-0003"), &id("t-0001")).unwrap();
    println!("dep {:?}", start.elapsed());
}

#[test]
fn a_chain_of_ten_thousand_and_a_lattice() {
    let chain: Vec<Reading> = (0..10_000)
        .map(|n| reading(&format!("t-{n:05}"), &[format!("t-{:05}", n + 1)]))
        .collect();
    let rows: Rows = chain.into_iter().collect();
    let graph = Graph::new(&rows);
    assert!((0..10_000).all(|n| graph.is_blocked(&format!("t-{n:05}"))));
    for full in [false, true] {
        let tree = render_tree(&rows, &graph, &id("t-00000"), full);
        assert!(tree.ends_with("… the tree is larger than this\n") && tree.len() < 5 << 20);
    }
    // Each of the two tickets of a level depends on both of the next, on forty levels: there are 2^40 paths.
    let level = |n: usize| [format!("a-{n:02}"), format!("b-{n:02}")];
    let lattice = ["a", "b"]
        .iter()
        .flat_map(|side| (0..40).map(move |n| reading(&format!("{side}-{n:02}"), &level(n + 1))));
    let mut lattice: Vec<Reading> = lattice.collect();
    lattice.sort_by(|a, b| a.name.cmp(&b.name));
    let rows: Rows = lattice.into_iter().collect();
    let graph = Graph::new(&rows);
    let once = render_tree(&rows, &graph, &id("a-00"), false);
    assert_eq!(once.lines().count(), 79);
    let full = render_tree(&rows, &graph, &id("a-00"), true);
    assert!(full.ends_with("… the tree is larger than this\n"));
}

fn reading(name: &str, deps: &[String]) -> Reading {
    let path = std::path::Path::new("x.md");
    let text = format!("---\nstatus: open\ndeps: [{}]\n---\n# T\n", deps.join(", "));
    let document = Document::parse(path, text.as_bytes()).unwrap();
    Reading {
        name: name.to_owned(),
        outcome: Ok(Ticket::read(id(name), path, document, Stamp::default())),
    }
}
