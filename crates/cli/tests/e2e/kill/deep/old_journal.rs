//! Old outputs: crew dies at each of them.

use crate::kill::old_journal::{PRINTED, Past, TRIM};

#[test]
fn killed_at_any_of_the_old_outputs_that_a_person_removes_the_next_time_removes_the_others() {
    let clean = ["clean", "--older", "1d"];
    // One past for each hit: whoever comes next goes on where the one before died, with less to do.
    for hit in 1..=PRINTED.len() {
        for (point, gone) in TRIM.iter().zip([hit - 1, hit - 1, hit]) {
            let mut past = Past::with_outputs();
            past.dies(&clean, (point, hit as u64));
            let mut left: Vec<String> = PRINTED[gone..].iter().map(|id| format!("{id}.1.1")).collect();
            if *point == "trim.renamed" {
                left[0].insert_str(0, ".gone-");
            }
            assert_eq!(past.printed(), left, "{point}:{hit}");
            assert!(past.rig.run(&clean).success());
            assert_eq!(past.printed(), Vec::<String>::new(), "{point}:{hit}");
            past.ends_well();
        }
    }
}
