//! Proof that the simulation can find anything: each planted bug is caught within five hundred seeds, and by
//! name.

use sim::{Case, Plant};

/// Runs seeds until one breaks; the invariant that it breaks is among `wanted`.
fn caught(plant: Plant, wanted: &[&str]) {
    let case = |seed| Case {
        plant: Some(plant),
        ..Case::of(seed)
    };
    let failure = (0..500).find_map(|seed| case(seed).run().err());
    let failure = failure.unwrap_or_else(|| panic!("{plant:?} was not caught within 500 seeds"));
    println!(
        "{plant:?}: seed {} breaks \"{}\": {}",
        failure.case.seed, failure.invariant, failure.what
    );
    assert!(
        wanted.contains(&failure.invariant),
        "{plant:?} broke another invariant:\n{failure}"
    );
    assert!(
        failure.to_string().contains(failure.invariant),
        "the message names the invariant"
    );
}

#[test]
fn an_unfenced_write_is_caught() {
    caught(
        Plant::UnfencedWrite,
        &["stored state equals replay", "fences strictly increase"],
    );
}

#[test]
fn a_file_closed_before_its_landing_is_caught() {
    caught(Plant::CloseBeforeLand, &["closed only after landed"]);
}

#[test]
fn a_lost_timer_is_caught() {
    caught(Plant::LostTimer, &["timers are the deadlines"]);
}

#[test]
fn a_step_started_twice_is_caught() {
    caught(
        Plant::DoubleStep,
        &[
            "one live process per attempt",
            "a live process belongs to an attempt",
        ],
    );
}

#[test]
fn an_engine_that_forgets_its_budget_is_caught() {
    caught(
        Plant::Spendthrift,
        &[
            "no step is started past a budget",
            "the warning of a low budget comes once",
        ],
    );
}

#[test]
fn a_dropped_rescue_is_caught() {
    caught(
        Plant::DroppedRescue,
        &["no commit of an agent is lost", "no uncommitted work is lost"],
    );
}

#[test]
fn a_service_that_is_asked_too_soon_is_caught() {
    caught(Plant::ShortWait, &["no step on a harness that refuses"]);
}

#[test]
fn too_many_attempts_are_caught() {
    caught(Plant::Tireless, &["attempts are within their limit"]);
}

#[test]
fn too_many_steps_are_caught() {
    caught(Plant::Talkative, &["steps are within their limit"]);
}

#[test]
fn a_slot_that_is_not_taken_is_caught() {
    caught(Plant::FreeSlot, &["the slot table agrees with the tickets"]);
}

#[test]
fn a_check_that_is_never_begun_is_caught() {
    caught(Plant::ForgottenCheck, &["what is waited for is under way"]);
}

#[test]
fn an_effect_that_stays_in_the_outbox_is_caught() {
    caught(Plant::Unsettled, &["a report settles its effect"]);
}

#[test]
fn a_command_without_an_answer_is_caught() {
    caught(
        Plant::Mute,
        &["everything comes to rest", "every command is answered"],
    );
}

#[test]
fn a_file_that_stays_open_is_caught() {
    caught(Plant::OpenFile, &["a done ticket's file is closed"]);
}

#[test]
fn a_workspace_that_is_left_over_is_caught() {
    caught(
        Plant::Litter,
        &["a workspace belongs to an attempt", "no workspace is left over"],
    );
}

#[test]
fn a_landing_that_did_not_happen_is_caught() {
    caught(Plant::HollowLanding, &["landed work is in the target"]);
}

#[test]
fn work_that_lands_unchecked_is_caught() {
    caught(Plant::Unchecked, &["what landed was tested"]);
}

#[test]
fn work_that_lands_without_meeting_its_commitments_is_caught() {
    caught(Plant::Unmet, &["what landed meets its commitments"]);
}

#[test]
fn an_edit_that_is_overwritten_is_caught() {
    caught(Plant::Overwritten, &["a person's edits are intact"]);
}

#[test]
fn an_event_that_is_gone_is_caught() {
    caught(
        Plant::LostEvent,
        &["versions are contiguous", "stored state equals replay"],
    );
}

#[test]
fn a_cost_that_is_counted_twice_is_caught() {
    caught(Plant::DoubleCost, &["stored state equals replay", "costs add up"]);
}

#[test]
fn a_check_that_is_left_running_is_caught() {
    caught(Plant::LeftCheck, &["a check that nobody waits for ends"]);
}

#[test]
fn a_run_that_is_to_end_and_is_left_running_is_caught() {
    caught(Plant::LeftRun, &["a run whose end is ordered is stopped"]);
}

#[test]
fn a_check_beside_another_is_caught() {
    caught(Plant::SharedCheckout, &["one check at a time"]);
}

#[test]
fn a_frozen_shim_that_is_only_asked_to_end_is_caught() {
    caught(Plant::OnlyAsked, &["everything comes to rest"]);
}

#[test]
fn an_agent_on_a_red_target_is_caught() {
    caught(Plant::RedTarget, &["no agent begins on a red target"]);
}

#[test]
fn an_agent_that_does_not_wait_for_the_target_is_caught() {
    caught(Plant::Impatient, &["no step begins anew on a red target"]);
}

#[test]
fn a_batch_of_which_only_the_tip_is_told_is_caught() {
    caught(Plant::HalfBatch, &["a batch lands whole or not at all"]);
}

#[test]
fn a_prefix_that_failed_and_lands_is_caught() {
    caught(Plant::FailedPrefix, &["what landed was tested"]);
}

#[test]
fn a_prefix_that_is_tried_again_is_caught() {
    caught(
        Plant::TriedAgain,
        &["a merged result that failed is not tried again"],
    );
}

#[test]
fn a_culprit_that_is_off_by_one_is_caught() {
    caught(
        Plant::OffByOne,
        &["only the work at fault is sent back", "what landed was tested"],
    );
}

#[test]
fn two_agents_at_the_same_conflict_are_caught() {
    caught(
        Plant::AllResolve,
        &["one agent at a time resolves a conflict in a path"],
    );
}

#[test]
fn an_entry_that_is_overtaken_without_a_conflict_is_caught() {
    caught(
        Plant::FalseConflict,
        &["an entry leaves the train for a real conflict"],
    );
}

#[test]
fn an_approval_that_is_kept_over_a_new_tip_is_caught() {
    caught(Plant::KeptApproval, &["what landed is the tip that was judged"]);
}

#[test]
fn an_approval_that_is_kept_over_more_than_a_resolved_conflict_is_caught() {
    caught(
        Plant::WideResolution,
        &["an approval is kept over resolved conflicts alone"],
    );
}

#[test]
fn work_that_is_taken_from_a_review_is_caught() {
    caught(
        Plant::ImportedReview,
        &["nothing of a gatekeeper's is taken over"],
    );
}

#[test]
fn a_candidate_without_a_ref_is_caught() {
    caught(Plant::Unpinned, &["a candidate that is waited for is in a ref"]);
}

#[test]
fn a_check_that_is_not_repeated_is_caught() {
    caught(Plant::Unrepeated, &["only the work at fault is sent back"]);
}

#[test]
fn a_check_that_is_repeated_too_often_is_caught() {
    caught(
        Plant::Restless,
        &["a merged result that failed is not tried again"],
    );
}

#[test]
fn two_agents_in_one_workspace_are_caught() {
    caught(
        Plant::TwoWriters,
        &["one agent at a time writes into a workspace"],
    );
}

#[test]
fn a_tree_that_spends_more_than_its_budget_is_caught() {
    caught(
        Plant::OwnBudget,
        &["no step of a tree is started past its budget"],
    );
}

#[test]
fn a_child_that_stays_open_when_its_parent_has_landed_is_caught() {
    caught(
        Plant::LeftChild,
        &["children are closed if and only if their parent has landed"],
    );
}

#[test]
fn a_child_that_outlives_its_parents_attempt_is_caught() {
    caught(Plant::Orphan, &["no child outlives its parent's attempt"]);
}

#[test]
fn a_parent_that_is_released_while_a_child_has_a_process_is_caught() {
    caught(
        Plant::Hasty,
        &["a parent is released only when no child of it has a process"],
    );
}

#[test]
fn a_child_that_is_never_written_is_caught() {
    caught(Plant::ForgottenChild, &["what is waited for is under way"]);
}

#[test]
fn a_client_that_has_the_last_word_is_caught() {
    caught(Plant::LastWord, &["a result that an agent has called stands"]);
}

#[test]
fn a_call_of_a_step_that_is_over_is_caught() {
    caught(Plant::AnyRun, &["a call of a step that is over adds no row"]);
}

#[test]
fn a_notice_that_nobody_gets_is_caught() {
    caught(Plant::LostNotice, &["no notice is left out"]);
}

#[test]
fn a_place_in_the_journal_that_goes_back_is_caught() {
    caught(Plant::OldPlace, &["notices come in order"]);
}

#[test]
fn an_agent_that_goes_on_after_too_many_failures_is_caught() {
    caught(Plant::Undaunted, &["who fails too often in a row is stuck"]);
}

#[test]
fn what_a_child_leaves_undone_in_its_parents_workspace_is_caught() {
    caught(
        Plant::LeftIn,
        &["work of a child that is not done does not land with its parent's"],
    );
}

#[test]
fn work_of_a_child_that_is_not_merged_is_caught() {
    caught(
        Plant::LeftOut,
        &[
            "work of a child lands with its parent's, once",
            "no commit of an agent is lost",
        ],
    );
}

#[test]
fn work_of_a_child_that_is_merged_twice_is_caught() {
    caught(
        Plant::MergedAgain,
        &["work of a child lands with its parent's, once"],
    );
}

#[test]
fn refused_work_of_a_child_that_is_said_to_be_done_is_caught() {
    caught(
        Plant::RefusedUnified,
        &["a child whose work is refused is not done"],
    );
}

#[test]
fn a_turn_that_takes_others_work_out_is_caught() {
    caught(
        Plant::WideTurn,
        &[
            "a person's commit is set aside only with the child in whose turn it was made",
            "work of a child lands with its parent's, once",
        ],
    );
}

#[test]
fn a_child_that_waits_for_a_workspace_without_end_is_caught() {
    caught(Plant::Stranded, &["everything comes to rest"]);
}
