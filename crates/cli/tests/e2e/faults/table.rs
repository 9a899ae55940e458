//! The fault matrix as a table: each cell, fault by operation, has a test that proves it, here or in another
//! crate.
//!
//! What a fault is: F1 SIGKILL at a point, F2 again during recovery, F3 TERM and INT twice, F4 an agent that
//! dies or does nothing, F5 one that is silent or busy, F6 one that floods, F7 one that leaves things lying
//! about, F8 one that tampers, F9 a git killed with its lock left, F10 no room or no writing, F11 no
//! descriptors or processes, F12 the n-th effect fails, F13 a busy journal, F15 a commit whose outcome is
//! unknown, F16 a stopped engine, F17 a clock that jumps, F18 power lost, F19 a target that others move, F20
//! conflicts, F21 green alone and red together, F22 bad checks, F23 damage, F24 two of one, F25 another
//! version. F14 comes with journals that many hosts share.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The cells that must be proved: submit, claim, provision, spawn, step, submit work, gate, land, clean up,
/// recover.
const WANTED: &str = "
f1  su cl pr sp st wk ga la cu re
f2  cl pr sp wk ga la cu re
f3  su cl pr sp st wk ga la cu re
f4  sp st wk ga cu re
f5  st ga
f6  st wk ga
f7  wk ga la cu re
f8  st wk ga la cu re
f9  pr wk ga la cu re
f10 su cl pr sp st wk ga la cu re
f11 pr sp st ga la re
f12 su cl pr sp st wk ga la cu re
f13 su cl st wk ga la cu re
f15 su cl st wk ga la cu re
f16 cl pr sp st wk ga la cu re
f17 cl ga la re
f18 su cl pr wk la re
f19 ga la re
f20 wk la re
f21 ga la
f22 ga la cu
f23 pr la re
f24 su cl pr wk la cu re
f25 su cl re
";

/// Which test proves which cells: the fault, the operations, the test's name.
const PROOFS: &[(&str, &str, &str)] = &[
    (
        "f1",
        "su cl pr sp st wk ga la cu re",
        "killed_at_every_point_it_comes_to_the_same",
    ),
    (
        "f2",
        "cl pr sp wk ga la cu re",
        "killed_again_while_it_recovers_it_comes_to_the_same",
    ),
    (
        "f3",
        "su cl pr sp st wk ga la cu re",
        "signalled_twice_it_goes_on_with_the_next_engine",
    ),
    (
        "f4",
        "sp st",
        "an_agent_that_is_killed_or_crashes_is_stepped_again",
    ),
    ("f4", "wk", "done_without_a_commit_is_sent_back"),
    (
        "f4",
        "ga",
        "a_check_that_aborts_or_is_killed_only_with_the_work_has_failed",
    ),
    ("f4", "cu", "kill_keeps_the_work_and_retry_goes_on_from_it"),
    ("f4", "re", "a_step_that_ended_while_no_engine_ran_is_heard"),
    (
        "f5",
        "st",
        "a_busy_step_is_not_silent_and_is_stopped_with_all_it_began_at_its_time",
    ),
    (
        "f5",
        "st",
        "a_silent_step_is_stopped_with_all_it_began_and_gone_on_with",
    ),
    (
        "f5",
        "ga",
        "a_check_that_takes_too_long_has_failed_and_leaves_nothing",
    ),
    ("f6", "st wk", "a_flood_of_output_is_survived"),
    ("f6", "st", "a_gigabyte_of_short_lines_is_cut_and_starves_nobody"),
    ("f6", "st", "a_line_of_100_megabytes_is_cut_and_starves_nobody"),
    (
        "f6",
        "st",
        "an_agent_with_5000_children_leaves_none_and_starves_nobody",
    ),
    ("f6", "st", "output_that_is_no_text_is_survived"),
    ("f6", "wk", "too_many_objects_are_refused"),
    (
        "f6",
        "ga",
        "a_check_that_prints_a_gigabyte_is_cut_and_starves_nobody",
    ),
    ("f7", "pr", "a_checkout_that_may_not_be_deleted_is_lent_to_nobody"),
    (
        "f7",
        "wk",
        "a_repository_that_stays_in_the_workspace_is_shown_to_people_and_its_work_is_kept",
    ),
    (
        "f7",
        "wk",
        "modified_staged_untracked_and_deleted_are_committed_and_ignored_is_not",
    ),
    ("f7", "wk", "what_an_agent_shut_is_saved_like_the_rest"),
    ("f7", "wk la", "what_is_left_uncommitted_lands_too"),
    ("f7", "ga", "a_refused_submodule_names_its_path"),
    ("f7", "cu", "an_agent_that_shuts_its_own_folders_hinders_nobody"),
    (
        "f7",
        "cu",
        "removing_keeps_commits_of_other_branches_stashes_and_leftovers",
    ),
    (
        "f7",
        "cu",
        "what_another_user_wrote_into_a_workspace_is_nobody_elses_and_told",
    ),
    (
        "f7",
        "cu",
        "what_is_mounted_in_a_workspace_is_nobody_elses_and_told",
    ),
    ("f7", "re", "uncommitted_work_outlives_a_crash_of_everything"),
    (
        "f8",
        "st wk la",
        "an_agent_that_ruins_its_workspace_hurts_only_itself",
    ),
    (
        "f8",
        "wk",
        "edits_that_an_agents_index_hides_do_not_land_and_are_kept",
    ),
    ("f8", "wk cu", "nothing_planted_in_a_workspace_runs_in_crew"),
    ("f8", "wk ga", "what_an_agent_plants_in_its_repository_is_not_run"),
    (
        "f8",
        "la",
        "moving_main_and_replacing_objects_in_a_workspace_moves_nothing_of_the_users",
    ),
    (
        "f8",
        "cu",
        "a_workspace_without_its_git_directory_is_saved_as_files",
    ),
    (
        "f8",
        "re",
        "what_is_left_of_a_ruined_workspace_outlives_a_crash_of_everything",
    ),
    ("f9", "pr", "a_git_is_killed_as_it_makes_a_workspace"),
    ("f9", "wk", "a_git_is_killed_as_it_takes_the_branch_over"),
    ("f9", "ga", "a_git_is_killed_as_it_merges"),
    ("f9", "la", "a_git_is_killed_as_it_lands_and_leaves_its_lock"),
    ("f9", "cu", "a_git_is_killed_as_the_workspace_goes"),
    (
        "f9",
        "cu",
        "a_git_killed_as_it_deletes_a_ref_leaves_no_lock_for_good",
    ),
    (
        "f9",
        "re",
        "a_git_is_killed_as_the_next_engine_carries_a_landing_on",
    ),
    ("f10", "su", "no_space_for_a_command"),
    ("f10", "su", "no_space_for_a_ticket"),
    ("f10", "su", "read_only_queue"),
    ("f10", "cl", "no_space_in_the_journal"),
    (
        "f10",
        "cl pr",
        "refs_that_cannot_be_written_while_work_is_given_out",
    ),
    ("f10", "pr", "no_space_for_a_workspace"),
    ("f10", "pr la", "read_only_repository"),
    ("f10", "sp", "no_space_for_a_run"),
    ("f10", "st", "no_space_while_an_agent_works"),
    ("f10", "wk", "no_space_for_the_branch"),
    ("f10", "wk", "refs_that_cannot_be_written_while_an_agent_works"),
    ("f10", "ga", "no_space_for_a_check"),
    ("f10", "ga la", "refs_that_cannot_be_written_while_checks_run"),
    ("f10", "la", "no_space_while_landing"),
    ("f10", "cu", "no_space_for_the_ticket_file"),
    ("f10", "cu", "no_space_to_keep_the_work"),
    ("f10", "re", "no_space_when_an_engine_takes_over"),
    ("f10", "re", "read_only_journal"),
    ("f10", "re", "read_only_journal_of_a_killed_engine"),
    ("f10", "re", "read_only_journal_of_an_older_crew"),
    ("f11", "cl pr sp", "no_process_while_work_is_given_out"),
    ("f11", "pr sp", "no_descriptors_while_work_is_given_out"),
    ("f11", "st", "a_stop_needs_no_thread_that_is_not_there"),
    ("f11", "st wk", "no_descriptors_while_an_agent_works"),
    ("f11", "st wk", "no_process_while_an_agent_works"),
    ("f11", "ga", "a_check_is_ended_without_a_thread"),
    ("f11", "ga la", "no_process_while_checks_run"),
    ("f11", "re", "an_engine_that_gets_no_descriptors_loses_nothing"),
    ("f11", "re", "an_engine_that_gets_no_process_loses_nothing"),
    ("f12", "su cl pr sp st wk ga la cu re", "any_effect_fails"),
    ("f13", "su", "a_command_waits_its_turn"),
    ("f13", "su", "a_locked_journal_is_waited_for_and_not_for_ever"),
    ("f13", "cl", "a_locked_journal_is_waited_for_when_a_ticket_comes"),
    ("f13", "st wk", "a_locked_journal_is_waited_for_when_a_step_ends"),
    (
        "f13",
        "wk",
        "a_journal_that_stays_locked_is_said_and_gone_on_with",
    ),
    ("f13", "ga", "a_locked_journal_is_waited_for_when_the_checks_pass"),
    ("f13", "la", "a_locked_journal_is_waited_for_as_it_lands"),
    (
        "f13",
        "cu",
        "a_locked_journal_is_waited_for_as_the_workspace_goes",
    ),
    ("f13", "re", "a_locked_journal_is_waited_for_by_the_next_engine"),
    (
        "f15",
        "su",
        "a_command_whose_commit_failed_and_is_not_there_is_asked_again",
    ),
    (
        "f15",
        "su",
        "a_command_whose_commit_failed_and_is_there_is_carried_out_once",
    ),
    (
        "f15",
        "cl",
        "a_claim_whose_commit_failed_and_is_not_there_is_made_once",
    ),
    (
        "f15",
        "cl",
        "a_claim_whose_commit_failed_and_is_there_is_made_once",
    ),
    (
        "f15",
        "st",
        "an_end_whose_commit_failed_and_is_not_there_is_told_once",
    ),
    (
        "f15",
        "st",
        "an_end_whose_commit_failed_and_is_there_is_told_once",
    ),
    (
        "f15",
        "wk",
        "a_candidate_whose_commit_failed_and_is_not_there_is_one",
    ),
    ("f15", "wk", "a_candidate_whose_commit_failed_and_is_there_is_one"),
    (
        "f15",
        "ga",
        "a_verdict_whose_commit_failed_and_is_not_there_counts_once",
    ),
    (
        "f15",
        "ga",
        "a_verdict_whose_commit_failed_and_is_there_counts_once",
    ),
    (
        "f15",
        "la",
        "a_landing_whose_commit_failed_and_is_not_there_is_one",
    ),
    ("f15", "la", "a_landing_whose_commit_failed_and_is_there_is_one"),
    (
        "f15",
        "cu",
        "a_stop_whose_commit_failed_and_is_not_there_is_ordered_once",
    ),
    (
        "f15",
        "cu",
        "a_stop_whose_commit_failed_and_is_there_is_ordered_once",
    ),
    (
        "f15",
        "re",
        "an_end_that_a_next_engine_finds_whose_commit_failed_and_is_not_there_is_told_once",
    ),
    (
        "f15",
        "re",
        "an_end_that_a_next_engine_finds_whose_commit_failed_and_is_there_is_told_once",
    ),
    ("f16", "cl", "an_engine_that_stands_still_as_a_ticket_comes"),
    (
        "f16",
        "pr sp",
        "an_engine_that_stands_still_as_a_workspace_is_made",
    ),
    ("f16", "st", "an_engine_that_stands_still_as_a_step_ends"),
    ("f16", "wk", "an_engine_that_a_signal_has_stopped_is_said_to_be"),
    (
        "f16",
        "wk",
        "an_engine_that_a_signal_stops_as_it_writes_is_said_to_keep_the_journal",
    ),
    (
        "f16",
        "wk",
        "an_engine_that_stands_still_as_the_branch_is_taken_over",
    ),
    ("f16", "ga", "an_engine_that_stands_still_as_checks_pass"),
    ("f16", "la", "an_engine_that_stands_still_as_it_lands"),
    ("f16", "cu", "an_engine_that_stands_still_as_the_workspace_goes"),
    (
        "f16",
        "re",
        "an_engine_that_stands_still_as_it_carries_on_a_landing",
    ),
    ("f17", "cl ga la re", "a_clock_that_jumps_back_holds_nothing_up"),
    (
        "f17",
        "cl ga la re",
        "a_clock_that_jumps_forward_ends_nothing_early",
    ),
    ("f17", "cl ga la re", "the_year_2038_is_a_year"),
    (
        "f18",
        "su re",
        "a_log_cut_anywhere_is_the_journal_as_it_was_after_some_write",
    ),
    ("f18", "su", "nothing_is_answered_before_it_is_on_the_disk"),
    (
        "f18",
        "cl pr la wk re",
        "nothing_is_said_to_have_landed_before_it_is_on_the_disk",
    ),
    (
        "f18",
        "la wk",
        "many_objects_are_on_the_disk_as_a_pack_before_they_are_said_to_have_landed",
    ),
    (
        "f19",
        "ga la",
        "a_target_that_was_rewritten_meanwhile_is_built_upon",
    ),
    ("f19", "la", "a_target_that_is_gone_is_waited_for"),
    (
        "f19",
        "re",
        "a_target_that_was_rewritten_while_no_engine_was_up_is_built_upon",
    ),
    ("f20", "wk", "every_kind_of_conflict_names_its_paths"),
    ("f20", "la", "a_conflict_goes_to_its_agent_who_resolves_it"),
    (
        "f20",
        "re",
        "a_conflict_outlives_a_crash_of_everything_while_its_agent_resolves_it",
    ),
    ("f21", "ga la", "what_is_green_alone_and_red_together_never_lands"),
    (
        "f22",
        "ga la",
        "a_check_that_fails_one_time_in_ten_costs_steps_and_no_work",
    ),
    (
        "f22",
        "ga",
        "a_check_that_takes_too_long_has_failed_and_leaves_nothing",
    ),
    (
        "f22",
        "ga cu",
        "a_check_that_wants_a_terminal_is_told_that_there_is_none",
    ),
    ("f22", "la", "a_dead_check_left_nothing_to_the_next"),
    (
        "f23",
        "pr",
        "work_whose_base_is_gone_waits_to_be_kept_and_says_so",
    ),
    ("f23", "la", "a_base_commit_that_is_gone_is_named_with_what_to_do"),
    (
        "f23",
        "la",
        "a_missing_object_is_named_and_nothing_lands_without_it",
    ),
    (
        "f23",
        "la",
        "an_engine_whose_folder_is_deleted_ends_and_lands_no_more",
    ),
    (
        "f23",
        "la",
        "an_engine_whose_journal_is_deleted_ends_and_lands_no_more",
    ),
    (
        "f23",
        "la",
        "an_engine_whose_journal_is_replaced_ends_and_leaves_the_new_one_alone",
    ),
    ("f23", "re", "a_damaged_journal_is_refused_and_named"),
    (
        "f23",
        "re",
        "a_journal_that_refuses_the_same_again_and_again_ends_the_engine",
    ),
    ("f23", "re", "a_letter_that_flips_in_the_journal_is_found"),
    ("f23", "re", "a_log_cut_short_loses_no_more_than_was_cut"),
    (
        "f23",
        "re",
        "a_new_journal_beside_old_folders_takes_no_old_run_for_its_own",
    ),
    (
        "f23",
        "re",
        "a_step_whose_record_is_damaged_is_not_started_beside_itself",
    ),
    (
        "f23",
        "re",
        "what_belongs_to_a_journal_that_is_missing_is_not_mixed_with_a_new_one",
    ),
    (
        "f23",
        "re",
        "with_a_damaged_journal_moved_away_work_goes_on_alone",
    ),
    (
        "f24",
        "su cl",
        "a_second_engine_comes_with_a_command_and_a_ticket",
    ),
    (
        "f24",
        "su",
        "an_engine_that_comes_while_a_command_is_carried_out_waits_for_that",
    ),
    ("f24", "pr", "a_second_engine_comes_as_a_workspace_is_made"),
    ("f24", "wk", "a_second_engine_comes_as_the_branch_is_taken_over"),
    ("f24", "la", "a_second_engine_comes_as_it_lands"),
    ("f24", "cu", "a_second_engine_comes_as_the_workspace_goes"),
    (
        "f24",
        "re",
        "a_second_engine_comes_as_one_carries_on_what_a_dead_one_left",
    ),
    (
        "f24",
        "re",
        "what_a_dead_engines_git_holds_is_waited_for_and_then_named",
    ),
    ("f25", "su cl re", "a_newer_schema_is_refused_by_every_command"),
    ("f25", "su cl re", "an_unknown_event_is_refused_by_every_command"),
];

/// Cells as they are named in a message: `f1_su`.
fn cells<'a>(fault: &'a str, operations: &'a str) -> impl Iterator<Item = String> + 'a {
    operations
        .split_whitespace()
        .map(move |operation| format!("{fault}_{operation}"))
}

#[test]
fn every_cell_has_a_test() {
    let lines = WANTED.lines().filter(|line| !line.is_empty());
    let wanted: BTreeSet<String> = lines
        .filter_map(|line| line.split_once(' '))
        .flat_map(|(fault, operations)| cells(fault, operations))
        .collect();
    let proved: BTreeSet<String> = PROOFS
        .iter()
        .flat_map(|(fault, operations, _)| cells(fault, operations))
        .collect();
    let missing: Vec<_> = wanted.difference(&proved).collect();
    assert!(missing.is_empty(), "no test proves {missing:?}");
}

#[test]
fn every_test_of_the_table_is_there() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut sources = Vec::new();
    read(crates, &mut sources);
    let mut there: BTreeSet<String> = sources.iter().flat_map(|source| tests_in(source)).collect();
    there.extend(tests_of_this());
    let named = PROOFS.iter().map(|(_, _, name)| *name);
    let missing: Vec<_> = named.filter(|name| !there.contains(*name)).collect();
    assert!(
        missing.is_empty(),
        "the table names tests that are not there: {missing:?}"
    );
}

/// The tests of this suite that are run when nothing is asked for.
fn tests_of_this() -> BTreeSet<String> {
    let listed = |more: &[&str]| {
        let mut this = crate::faults::mounts::program(std::env::current_exe().unwrap().to_str().unwrap());
        let output = this.args(["--list", "--format", "terse"]).args(more).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
        names
            .map(|name| name.rsplit("::").next().unwrap().to_owned())
            .collect::<BTreeSet<_>>()
    };
    let (all, ignored) = (listed(&[]), listed(&["--ignored"]));
    all.difference(&ignored).cloned().collect()
}

/// The tests that a file has, those that a macro of its own makes of names too; neither what is commented out
/// nor what is ignored.
fn tests_in(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // Attributes of what comes next; the macros that make tests of names, and whether one of them is called
    // here.
    let (mut attributes, mut makers, mut called) = (String::new(), Vec::new(), false);
    let mut defined = None;
    for line in source.lines() {
        let code = line.trim();
        if code.starts_with("//") || code.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix("macro_rules! ") {
            defined = name.split_whitespace().next().map(str::to_owned);
        }
        if line == "}" {
            (defined, called) = (None, false);
        } else if called {
            found.extend(code.split_whitespace().map(str::to_owned));
        } else if code.starts_with("#[") || (!attributes.is_empty() && !attributes.ends_with(']')) {
            attributes.push_str(code);
        } else {
            let is_test = attributes.contains("#[test]") || attributes.contains("#[tokio::test");
            let name = code.split_once("fn ").and_then(|(_, rest)| rest.split_once('('));
            if let (true, Some((name, _))) = (is_test && !attributes.contains("#[ignore"), name) {
                found.insert(name.to_owned());
                if name.starts_with('$') {
                    makers.extend(defined.clone());
                }
            }
            attributes.clear();
            called = makers.iter().any(|maker| line == format!("{maker}! {{"));
        }
    }
    found
}

#[test]
fn what_is_commented_out_or_ignored_is_no_test() {
    let source = "#[test]\nfn one() {}\n// #[test]\n// fn two() {}\n#[test]\n#[ignore = \"slow\"]\nfn three() {}\nfn four() {}\n\
        macro_rules! made {\n    ($($name:ident)*) => {\n        #[test]\n        fn $name() {}\n    };\n}\nmade! {\n    five 5\n    \
        // six 6\n}\n#[test]\n#[expect(\n    lint,\n)]\nfn seven() {}\n";
    let found = tests_in(source);
    for (name, is) in [
        ("one", true),
        ("two", false),
        ("three", false),
        ("four", false),
        ("five", true),
        ("six", false),
        ("seven", true),
    ] {
        assert_eq!(found.contains(name), is, "{name} of {found:?}");
    }
}

/// What each of the Rust files below a folder says.
fn read(folder: &Path, sources: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(fs::read_to_string(&path).unwrap());
        }
    }
}
