//! Which test proves which cell of the matrix: fault by operation, and that each test named here is there.
//!
//! What a fault is: F1 SIGKILL at a point, F2 again during recovery, F3 TERM and INT twice, F4 an agent that dies or does
//! nothing, F5 one that is silent or busy, F6 one that floods, F7 one that leaves things lying about, F8 one that tampers,
//! F9 a git killed with its lock left, F10 no room or no writing, F11 no descriptors or processes, F12 the n-th effect fails,
//! F13 a busy journal, F15 a commit whose outcome is unknown, F16 a stopped engine, F17 a clock that jumps, F18 power lost,
//! F19 a target that others move, F20 conflicts, F21 green alone and red together, F22 bad checks, F23 damage, F24 two of
//! one, F25 another version. F14 comes with journals that many hosts share.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The cells that must be proved.
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

/// Cells, and the tests that prove them.
const PROVED: &[(&str, &[&str])] = &[
    (
        "f1 su cl pr sp st wk ga la cu re",
        &["killed_at_every_point_it_comes_to_the_same"],
    ),
    (
        "f2 cl pr sp wk ga la cu re",
        &["killed_again_while_it_recovers_it_comes_to_the_same"],
    ),
    (
        "f3 su cl pr sp st wk ga la cu re",
        &[
            "f3_signalled_twice_at_each_operation_it_goes_on_with_the_next_engine",
            "ctrl_c_once_waits_and_twice_leaves",
            "stop_can_leave_a_check_to_be_adopted",
        ],
    ),
    (
        "f4 sp st wk ga cu re",
        &[
            "an_agent_that_is_killed_is_stepped_again",
            "done_without_a_commit_is_sent_back",
            "a_check_that_aborts_has_failed_and_one_that_is_killed_has_said_nothing",
            "a_step_that_ended_while_no_engine_ran_is_heard",
            "kill_keeps_the_work_and_retry_goes_on_from_it",
        ],
    ),
    (
        "f5 st ga",
        &[
            "a_silent_step_is_stopped_with_all_it_began_and_gone_on_with",
            "a_busy_step_is_not_silent_and_is_stopped_with_all_it_began_at_its_time",
            "a_check_that_takes_too_long_has_failed_and_leaves_nothing",
        ],
    ),
    (
        "f6 st wk ga",
        &[
            "a_flood_of_output_is_survived",
            "output_that_is_no_text_is_survived",
            "a_hundred_megabytes_are_cut_with_a_notice_and_their_end_kept",
            "too_many_objects_are_refused",
        ],
    ),
    (
        "f7 wk ga la cu re",
        &[
            "what_is_left_uncommitted_lands_too",
            "a_repository_inside_the_workspace_is_kept_apart",
            "a_refused_submodule_names_its_path",
            "modified_staged_untracked_and_deleted_are_committed_and_ignored_is_not",
            "removing_keeps_commits_of_other_branches_stashes_and_leftovers",
            "uncommitted_work_outlives_a_crash_of_everything",
        ],
    ),
    (
        "f8 st wk ga la cu re",
        &[
            "an_agent_that_ruins_its_workspace_hurts_only_itself",
            "what_an_agent_plants_in_its_repository_is_not_run",
            "nothing_planted_in_a_workspace_runs_in_crew",
            "a_planted_index_hides_nothing",
            "moving_main_and_replacing_objects_in_a_workspace_moves_nothing_of_the_users",
            "a_workspace_without_its_git_directory_is_saved_as_files",
        ],
    ),
    ("f9 pr", &["f9_pr_a_git_is_killed_as_it_makes_a_workspace"]),
    ("f9 wk", &["f9_wk_a_git_is_killed_as_it_takes_the_branch_over"]),
    ("f9 ga", &["f9_ga_a_git_is_killed_as_it_merges"]),
    (
        "f9 la re",
        &["f9_la_f9_re_a_git_is_killed_as_it_lands_and_leaves_its_lock"],
    ),
    (
        "f9 cu",
        &["a_git_killed_as_it_deletes_a_ref_leaves_no_lock_for_good"],
    ),
    (
        "f10 su",
        &[
            "f10_su_no_space_for_a_ticket",
            "f10_su_no_space_for_a_command",
            "f10_su_read_only_queue",
        ],
    ),
    ("f10 cl", &["f10_cl_no_space_in_the_journal"]),
    (
        "f10 pr",
        &[
            "f10_pr_no_space_for_a_workspace",
            "f10_pr_f10_la_read_only_repository",
        ],
    ),
    ("f10 sp", &["f10_sp_no_space_for_a_run"]),
    ("f10 st", &["f10_st_no_space_while_an_agent_works"]),
    ("f10 wk", &["f10_wk_no_space_for_the_branch"]),
    ("f10 ga", &["f10_ga_no_space_for_a_check"]),
    ("f10 la", &["f10_la_no_space_while_landing"]),
    (
        "f10 cu",
        &[
            "f10_cu_no_space_to_keep_the_work",
            "f10_cu_no_space_for_the_ticket_file",
        ],
    ),
    (
        "f10 re",
        &[
            "f10_re_no_space_when_an_engine_takes_over",
            "f10_re_read_only_journal",
            "f10_re_read_only_journal_of_an_older_crew",
            "f10_re_read_only_journal_of_a_killed_engine",
        ],
    ),
    (
        "f11 pr sp",
        &[
            "f11_pr_f11_sp_no_descriptors_while_work_is_given_out",
            "f11_cl_f11_pr_f11_sp_no_process_while_work_is_given_out",
        ],
    ),
    (
        "f11 st ga la re",
        &[
            "f11_st_f11_wk_no_descriptors_while_an_agent_works",
            "f11_re_an_engine_that_gets_no_descriptors_loses_nothing",
            "f11_re_an_engine_that_gets_no_process_loses_nothing",
            "f11_st_f11_wk_no_process_while_an_agent_works",
            "f11_ga_f11_la_no_process_while_checks_run",
            "f11_st_a_stop_needs_no_thread_that_is_not_there",
            "f11_ga_a_check_is_ended_without_a_thread",
        ],
    ),
    (
        "f12 su cl pr sp st wk ga la cu re",
        &[
            "an_append_is_lost_anywhere",
            "an_append_is_durable_and_untold_anywhere",
            "killed_half_way_through_any_effect",
            "any_effect_fails",
        ],
    ),
    (
        "f13 su",
        &[
            "f13_su_a_locked_journal_is_waited_for_and_not_for_ever",
            "f13_su_a_command_waits_its_turn",
        ],
    ),
    (
        "f13 cl",
        &["f13_cl_a_locked_journal_is_waited_for_when_a_ticket_comes"],
    ),
    (
        "f13 st wk",
        &[
            "f13_st_f13_wk_a_locked_journal_is_waited_for_when_a_step_ends",
            "f13_wk_a_journal_that_stays_locked_is_said_and_gone_on_with",
        ],
    ),
    (
        "f13 ga",
        &["f13_ga_a_locked_journal_is_waited_for_when_the_checks_pass"],
    ),
    ("f13 la", &["f13_la_a_locked_journal_is_waited_for_as_it_lands"]),
    (
        "f13 cu",
        &["f13_cu_a_locked_journal_is_waited_for_as_the_workspace_goes"],
    ),
    (
        "f13 re",
        &["f13_re_a_locked_journal_is_waited_for_by_the_next_engine"],
    ),
    (
        "f15 su",
        &[
            "f15_su_a_command_whose_commit_failed_and_is_not_there_is_asked_again",
            "f15_su_a_command_whose_commit_failed_and_is_there_is_carried_out_once",
        ],
    ),
    (
        "f15 cl",
        &[
            "f15_cl_a_claim_whose_commit_failed_and_is_not_there_is_made_once",
            "f15_cl_a_claim_whose_commit_failed_and_is_there_is_made_once",
        ],
    ),
    (
        "f15 st",
        &[
            "f15_st_an_end_whose_commit_failed_and_is_not_there_is_told_once",
            "f15_st_an_end_whose_commit_failed_and_is_there_is_told_once",
        ],
    ),
    (
        "f15 wk",
        &[
            "f15_wk_a_candidate_whose_commit_failed_and_is_not_there_is_one",
            "f15_wk_a_candidate_whose_commit_failed_and_is_there_is_one",
        ],
    ),
    (
        "f15 ga",
        &[
            "f15_ga_a_verdict_whose_commit_failed_and_is_not_there_counts_once",
            "f15_ga_a_verdict_whose_commit_failed_and_is_there_counts_once",
        ],
    ),
    (
        "f15 la",
        &[
            "f15_la_a_landing_whose_commit_failed_and_is_not_there_is_one",
            "f15_la_a_landing_whose_commit_failed_and_is_there_is_one",
        ],
    ),
    (
        "f15 cu",
        &[
            "f15_cu_a_stop_whose_commit_failed_and_is_not_there_is_ordered_once",
            "f15_cu_a_stop_whose_commit_failed_and_is_there_is_ordered_once",
        ],
    ),
    (
        "f15 re",
        &[
            "f15_re_an_end_that_a_next_engine_finds_whose_commit_failed_and_is_not_there_is_told_once",
            "f15_re_an_end_that_a_next_engine_finds_whose_commit_failed_and_is_there_is_told_once",
            "an_append_is_durable_and_untold_anywhere",
            "and_then_an_append_is_untold",
            "an_ambiguous_append_is_resolved_by_its_key",
            "an_io_error_is_resolved_by_the_key_once_there_is_room",
        ],
    ),
    (
        "f16 cl pr sp st wk ga la cu re",
        &[
            "f16_wk_an_engine_that_a_signal_has_stopped_is_said_to_be",
            "f16_wk_an_engine_that_a_signal_stops_as_it_writes_is_said_to_keep_the_journal",
            "f16_cl_an_engine_that_stands_still_as_a_ticket_comes",
            "f16_pr_f16_sp_an_engine_that_stands_still_as_a_workspace_is_made",
            "f16_st_an_engine_that_stands_still_as_a_step_ends",
            "f16_wk_an_engine_that_stands_still_as_the_branch_is_taken_over",
            "f16_ga_an_engine_that_stands_still_as_checks_pass",
            "f16_la_an_engine_that_stands_still_as_it_lands",
            "f16_cu_an_engine_that_stands_still_as_the_workspace_goes",
            "f16_re_an_engine_that_stands_still_as_it_carries_on_a_landing",
        ],
    ),
    (
        "f17 cl ga la re",
        &[
            "f17_cl_f17_ga_f17_la_f17_re_a_clock_that_jumps_forward_ends_nothing_early",
            "f17_cl_f17_ga_f17_la_f17_re_a_clock_that_jumps_back_holds_nothing_up",
            "f17_cl_f17_ga_f17_la_f17_re_the_year_2038_is_a_year",
        ],
    ),
    (
        "f18 su cl pr wk la re",
        &[
            "f18_su_nothing_is_answered_before_it_is_on_the_disk",
            "f18_cl_f18_pr_f18_la_f18_wk_f18_re_nothing_is_said_to_have_landed_before_it_is_on_the_disk",
            "f18_la_f18_wk_many_objects_are_on_the_disk_as_a_pack_before_they_are_said_to_have_landed",
            "f23_re_a_log_cut_short_loses_no_more_than_was_cut",
            "f23_re_a_step_whose_record_is_damaged_is_not_started_beside_itself",
        ],
    ),
    (
        "f19 ga la re",
        &[
            "f19_ga_f19_la_f19_re_a_target_that_was_rewritten_meanwhile_is_built_upon",
            "f19_la_a_target_that_is_gone_is_waited_for",
            "a_commit_by_hand_during_the_checks_is_built_upon",
            "history_that_was_rewritten_is_told",
        ],
    ),
    (
        "f20 wk la re",
        &[
            "every_kind_of_conflict_names_its_paths",
            "a_conflict_goes_to_its_agent_who_resolves_it",
            "a_conflict_that_is_not_resolved_is_held",
        ],
    ),
    ("f21 ga la", &["what_is_green_alone_and_red_together_never_lands"]),
    (
        "f22 ga la cu",
        &[
            "a_check_that_takes_too_long_has_failed_and_leaves_nothing",
            "checks_that_cannot_be_run_fail_closed",
            "processes_that_multiply_are_killed_all",
            "f22_ga_f22_la_a_check_that_fails_one_time_in_ten_costs_steps_and_no_work",
            "f22_ga_f22_cu_a_check_that_wants_a_terminal_is_told_that_there_is_none",
            "f22_la_a_dead_check_left_nothing_to_the_next",
            "tracked_files_are_exact_ignored_ones_stay_and_the_rest_goes",
        ],
    ),
    (
        "f23 pr",
        &[
            "a_workspace_that_vanished_is_made_anew",
            "f23_pr_work_whose_base_is_gone_waits_to_be_kept_and_says_so",
        ],
    ),
    (
        "f23 la",
        &[
            "f23_la_a_missing_object_is_named_and_nothing_lands_without_it",
            "f23_la_a_base_commit_that_is_gone_is_named_with_what_to_do",
        ],
    ),
    (
        "f23 re",
        &[
            "f23_re_a_damaged_journal_is_refused_and_named",
            "f23_re_a_letter_that_flips_in_the_journal_is_found",
            "f23_re_a_new_journal_beside_old_folders_takes_no_old_run_for_its_own",
            "f23_re_with_a_damaged_journal_moved_away_work_goes_on_alone",
            "f23_re_what_belongs_to_a_journal_that_is_missing_is_not_mixed_with_a_new_one",
            "f23_re_a_journal_that_refuses_the_same_again_and_again_ends_the_engine",
            "f23_la_an_engine_whose_journal_is_deleted_ends_and_lands_no_more",
            "f23_la_an_engine_whose_folder_is_deleted_ends_and_lands_no_more",
            "f23_la_an_engine_whose_journal_is_replaced_ends_and_leaves_the_new_one_alone",
            "f23_re_a_log_cut_short_loses_no_more_than_was_cut",
            "f23_re_a_step_whose_record_is_damaged_is_not_started_beside_itself",
        ],
    ),
    (
        "f24 su cl",
        &[
            "f24_su_f24_cl_a_second_engine_comes_with_a_command_and_a_ticket",
            "f24_two_engines_at_once_are_one",
            "a_second_engine_is_refused_and_told_who_runs",
        ],
    ),
    ("f24 pr", &["f24_pr_a_second_engine_comes_as_a_workspace_is_made"]),
    (
        "f24 wk",
        &["f24_wk_a_second_engine_comes_as_the_branch_is_taken_over"],
    ),
    ("f24 la", &["f24_la_a_second_engine_comes_as_it_lands"]),
    (
        "f24 cu",
        &[
            "f24_cu_a_second_engine_comes_as_the_workspace_goes",
            "f24_a_second_journal_on_the_repository_is_kept_out_and_destroys_nothing",
        ],
    ),
    (
        "f24 re",
        &[
            "f24_re_a_second_engine_comes_as_one_carries_on_what_a_dead_one_left",
            "f24_re_what_a_dead_engines_git_holds_is_waited_for_and_then_named",
        ],
    ),
    (
        "f25 su cl re",
        &[
            "f25_su_f25_cl_f25_re_a_newer_schema_is_refused_by_every_command",
            "f25_su_f25_cl_f25_re_an_unknown_event_is_refused_by_every_command",
            "a_newer_schema_is_refused",
            "an_older_schema_is_brought_up_to_date_with_what_it_holds",
        ],
    ),
];

/// Cells that nothing proves with a real fault yet.
const OPEN: &[(&str, &str)] = &[];

fn cells(line: &str) -> Vec<String> {
    let mut words = line.split_whitespace();
    let fault = words.next().unwrap();
    words.map(|operation| format!("{fault}_{operation}")).collect()
}

#[test]
fn every_cell_has_a_test_or_is_said_to_have_none() {
    let wanted: BTreeSet<String> = WANTED
        .lines()
        .filter(|line| !line.is_empty())
        .flat_map(cells)
        .collect();
    let proved: BTreeSet<String> = PROVED.iter().flat_map(|(line, _)| cells(line)).collect();
    let open: BTreeSet<String> = OPEN.iter().flat_map(|(line, _)| cells(line)).collect();
    let said: BTreeSet<String> = proved.union(&open).cloned().collect();
    assert_eq!(wanted, said);
    let both: Vec<_> = proved.intersection(&open).collect();
    assert!(both.is_empty(), "both proved and open: {both:?}");
}

#[test]
fn every_test_of_the_table_is_there() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut sources = Vec::new();
    read(crates, &mut sources);
    let mut there: BTreeSet<String> = sources.iter().flat_map(|source| tests_in(source)).collect();
    there.extend(tests_of_this());
    for (cells, tests) in PROVED {
        for test in *tests {
            assert!(there.contains(*test), "{cells}: no test {test} is run");
        }
    }
}

/// The tests of this suite that are run when nothing is asked for.
fn tests_of_this() -> BTreeSet<String> {
    let listed = |more: &[&str]| {
        let mut this = crate::mounts::program(std::env::current_exe().unwrap().to_str().unwrap());
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

/// The tests that a file has, those that a macro of its own makes of names too; neither what is commented out nor what is ignored.
fn tests_in(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // Attributes of what comes next; the macros that make tests of names, and whether one of them is called here.
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

#[test]
fn every_test_of_a_cell_is_in_the_table() {
    let named: BTreeSet<&str> = PROVED
        .iter()
        .flat_map(|(_, tests)| tests.iter().copied())
        .collect();
    let names = tests_of_this();
    let of_a_cell = |name: &str| {
        name.strip_prefix('f')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    for name in &names {
        assert!(
            !of_a_cell(name) || named.contains(name.as_str()),
            "{name} is in no row"
        );
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
