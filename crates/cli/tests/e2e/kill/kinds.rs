//! Of every kind of fact it is known where crew dies at it, or why no engine writes it.

use std::collections::BTreeSet;

/// Facts that no engine writes, and why.
const ABSENT: &[(&[&str], &str)] = &[
    (
        &[
            "target_failed",
            "target_could_not_be_checked",
            "target_check_blind",
            "target_out_of_reach",
        ],
        "each of these queues begins on a target that passes; the simulator's do not, and it kills engines there",
    ),
    (
        &["commitment_waived"],
        "no person of a scenario waives a commitment; it is one event of a command, as `commitment_added` is",
    ),
    (&["agent_retired"], "nobody gives an agent up for good yet"),
    (
        &["parts_over"],
        "it is in one batch with a `claimed`, at which every scenario dies",
    ),
    (
        &["rewound"],
        "no person of a scenario takes a ticket back; its effects are those of `released`, at which one dies",
    ),
    (
        &["landing_end_ordered", "not_landed"],
        "no scenario drops a ticket just as it lands; the simulator does, and kills engines there",
    ),
    (
        &["recovery_landed"],
        "it is in one batch with a `landed`, at which every scenario dies; the simulator has recoveries that land",
    ),
    (
        &["file_unheeded", "file_heeded", "work_found"],
        "no scenario of kills has a git that changes ticket files, or loses a journal; `engine::git_moves` does",
    ),
    (
        &["review_stop_ordered"],
        "no gatekeeper of a scenario is stopped but for a person's decision, which is a fact of its own; the simulator's are",
    ),
    (
        &["review_crashed", "review_gave_up"],
        "a review without a verdict is tried again after half a minute; the simulator has them, and kills engines there",
    ),
    (
        &["review_refused", "nobody_reviews", "work_failed"],
        "no scenario of kills has a gatekeeper that is not let in, lacks one or gives a ticket up; the simulator does, and kills \
         engines there",
    ),
    (
        &["went_quiet", "stirred", "review_went_quiet", "review_stirred"],
        "no step of a scenario is silent for as long as the settings allow; each is one event that orders nothing",
    ),
    (
        &["left_to_person"],
        "no scenario of kills has a person look at all work; it orders nothing, and the approval that follows is of a scenario",
    ),
    (
        &["approval_kept"],
        "in no scenario of kills approved work comes into conflict; the simulator's does, and it kills engines there",
    ),
    (
        &["edit_returned"],
        "in no scenario of kills the text of submitted work is edited; the simulator's people do that, and it kills engines there",
    ),
    (
        &["review_wait_timed_out"],
        "no scenario lets the time for an answer pass; it is one event that orders nothing, and the simulator's engines die there",
    ),
    (
        &["review_called"],
        "no gatekeeper of a scenario of kills calls a tool; it is one event of a command, as `called` is",
    ),
    (
        &["writer_doubted", "vouched_for"],
        "no scenario of kills has leaders by tag, or work reviewed by tag, that come while an agent is at work; each is one event that \
         orders nothing",
    ),
    (
        &["children_absent"],
        "no leader of a scenario of kills takes commits of its children away; it is one event beside those of its candidate",
    ),
];

#[test]
fn of_every_kind_of_fact_somebody_dies_or_no_engine_writes_it() {
    let first = model::samples::ticket::first();
    let tickets = model::samples::ticket::alphabet(&first);
    let kinds: BTreeSet<&str> = tickets
        .iter()
        .map(|sample| sample.event.name())
        .chain(model::samples::project::alphabet().iter().map(|s| s.event.name()))
        .collect();
    let of = |when: &str| -> BTreeSet<&str> {
        let points = failpoint::POINTS.iter();
        points.filter_map(|point| point.name.strip_prefix(when)).collect()
    };
    let (decided, durable) = (of("decided."), of("durable."));
    assert_eq!(decided, durable, "a fact has both its points");
    let absent: BTreeSet<&str> = ABSENT.iter().flat_map(|(facts, _)| *facts).copied().collect();
    let both: Vec<_> = absent.intersection(&decided).collect();
    assert!(both.is_empty(), "said to be absent, and in the table: {both:?}");
    let known: BTreeSet<&str> = decided.union(&absent).copied().collect();
    assert_eq!(
        kinds, known,
        "left: the machines' facts, right: the table's and the absent"
    );
}
