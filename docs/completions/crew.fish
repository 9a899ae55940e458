# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_crew_global_optspecs
    string join \n C= json h/help V/version
end

function __fish_crew_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_crew_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_crew_using_subcommand
    set -l cmd (__fish_crew_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c crew -n "__fish_crew_needs_command" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_needs_command" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_needs_command" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_needs_command" -s V -l version -d 'Print version'
complete -c crew -n "__fish_crew_needs_command" -f -a "init" -d 'Make this repository ready: write crew.toml, make .tickets/, ignore crew\'s own folder'
complete -c crew -n "__fish_crew_needs_command" -f -a "demo" -d 'See a crew at work: four scripted agents, eight tickets, a repository made for it'
complete -c crew -n "__fish_crew_needs_command" -f -a "run" -d 'Run the engine here, until it is stopped or (with --until-idle) nothing can move any more'
complete -c crew -n "__fish_crew_needs_command" -f -a "stop" -d 'End the engine that runs here; what was done is kept'
complete -c crew -n "__fish_crew_needs_command" -f -a "spawn" -d 'Add an idle agent by name, or so many that crew names'
complete -c crew -n "__fish_crew_needs_command" -f -a "assign" -d 'Give a ticket to an idle agent now, out of turn'
complete -c crew -n "__fish_crew_needs_command" -f -a "delegate" -d 'Give an idle agent a task: a ticket is made, and given to it at once'
complete -c crew -n "__fish_crew_needs_command" -f -a "dashboard" -d 'Show everything on one screen, live: agents, queue, train, inbox, output, history; with keys to act'
complete -c crew -n "__fish_crew_needs_command" -f -a "d" -d 'Show everything on one screen, live: agents, queue, train, inbox, output, history; with keys to act'
complete -c crew -n "__fish_crew_needs_command" -f -a "ps" -d 'Show the agents: state, ticket, step, tokens, cost'
complete -c crew -n "__fish_crew_needs_command" -f -a "peek" -d 'Show the end of the latest output of an agent, or of the last step at a ticket'
complete -c crew -n "__fish_crew_needs_command" -f -a "logs" -d 'Show what an agent said and did, or what was done at a ticket, step by step; or what the checks printed'
complete -c crew -n "__fish_crew_needs_command" -f -a "path" -d 'Print the folder in which an agent works, or a ticket is worked on'
complete -c crew -n "__fish_crew_needs_command" -f -a "diff" -d 'Show what a ticket would change on the target, or has changed there'
complete -c crew -n "__fish_crew_needs_command" -f -a "kill" -d 'Stop an agent\'s process; its ticket goes back to the queue, held, its work kept'
complete -c crew -n "__fish_crew_needs_command" -f -a "cleanup" -d 'Remove an agent\'s workspace; its work is kept under a ref, its ticket held'
complete -c crew -n "__fish_crew_needs_command" -f -a "clean" -d 'Remove everything of crew\'s here: agents, workspaces, journal; work that did not land is kept under refs'
complete -c crew -n "__fish_crew_needs_command" -f -a "merge" -d 'Land a ticket\'s work by hand, through the same checks'
complete -c crew -n "__fish_crew_needs_command" -f -a "retry" -d 'Try a held ticket again, its attempts counted afresh'
complete -c crew -n "__fish_crew_needs_command" -f -a "drop" -d 'Give a ticket up: it is closed, its work kept under a ref'
complete -c crew -n "__fish_crew_needs_command" -f -a "revert" -d 'Take back what a ticket has landed, as a ticket of its own that passes the same checks'
complete -c crew -n "__fish_crew_needs_command" -f -a "waive" -d 'Let a held ticket pass in spite of what holds it; your name and reason stay in its history'
complete -c crew -n "__fish_crew_needs_command" -f -a "approve" -d 'Approve what a ticket waits for: held paths, its commitments, fewer tests, or a review'
complete -c crew -n "__fish_crew_needs_command" -f -a "reject" -d 'Send work that is in review, or has fewer tests, back to its agent'
complete -c crew -n "__fish_crew_needs_command" -f -a "commit-to" -d 'Add a commitment to a ticket: its work lands once the command passes on it'
complete -c crew -n "__fish_crew_needs_command" -f -a "inbox" -d 'Show what waits for you, and what to type about it; 3 when something does'
complete -c crew -n "__fish_crew_needs_command" -f -a "answer" -d 'Answer an agent\'s question; the answer opens its next step'
complete -c crew -n "__fish_crew_needs_command" -f -a "wake" -d 'Wake an agent that sleeps before its time, or have it go on without its children'
complete -c crew -n "__fish_crew_needs_command" -f -a "say" -d 'Tell an agent something: its next prompt says it'
complete -c crew -n "__fish_crew_needs_command" -f -a "mode" -d 'Set an agent\'s task mode: its next prompt says it'
complete -c crew -n "__fish_crew_needs_command" -f -a "bait" -d 'Have an agent come to an end: it gets one more step, which says so'
complete -c crew -n "__fish_crew_needs_command" -f -a "reap" -d 'Give an agent up for good: its step is stopped, its ticket goes back, held, and its name is retired'
complete -c crew -n "__fish_crew_needs_command" -f -a "rewind" -d 'Take a ticket back to its work of an earlier moment: the next attempt begins there'
complete -c crew -n "__fish_crew_needs_command" -f -a "queue" -d 'Show the tickets: what is at work, what waits and for what, what is held, what landed'
complete -c crew -n "__fish_crew_needs_command" -f -a "checks" -d 'Show the checks: the last verdict of each, how long it took, how often it was flaky or skipped'
complete -c crew -n "__fish_crew_needs_command" -f -a "train" -d 'Show the merge train: what is merged on what, what is checked, and what waits and why'
complete -c crew -n "__fish_crew_needs_command" -f -a "explain" -d 'Say why a ticket is not given out, or what happens to it next'
complete -c crew -n "__fish_crew_needs_command" -f -a "history" -d 'Show what happened to a ticket, an agent or the target: when, why, and what it led to'
complete -c crew -n "__fish_crew_needs_command" -f -a "events" -d 'Show what happened, newest last'
complete -c crew -n "__fish_crew_needs_command" -f -a "summary" -d 'Show what each agent did: in its own words, else what it committed'
complete -c crew -n "__fish_crew_needs_command" -f -a "cost" -d 'Show tokens and money: by ticket, or by step, attempt, agent or day'
complete -c crew -n "__fish_crew_needs_command" -f -a "diagram" -d 'Print a machine as a Mermaid diagram, or list the machines'
complete -c crew -n "__fish_crew_needs_command" -f -a "ticket" -d 'The queue by hand, with tk\'s commands: create, ls, ready, show, dep … (`crew ticket help`)'
complete -c crew -n "__fish_crew_needs_command" -f -a "tool" -d 'Call a tool of crew\'s from an agent\'s program; list the tools'
complete -c crew -n "__fish_crew_needs_command" -f -a "mcp" -d 'Serve crew\'s tools to an agent\'s client (Model Context Protocol, on standard input and output)'
complete -c crew -n "__fish_crew_needs_command" -f -a "doctor" -d 'Look over settings, git, agents\' clients, repository, journal and leftovers; say what is wrong and what to do'
complete -c crew -n "__fish_crew_needs_command" -f -a "config" -d 'Print the settings with every default filled in, or a JSON schema'
complete -c crew -n "__fish_crew_needs_command" -f -a "completions" -d 'Print the completions for a shell'
complete -c crew -n "__fish_crew_needs_command" -f -a "man" -d 'Print the manual page of crew or of a command, or write all pages into a folder'
complete -c crew -n "__fish_crew_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c crew -n "__fish_crew_using_subcommand init" -l agent -d 'The program that agents run on, with its arguments: `claude` for Claude Code, else any program, such as ./agent.sh or "codex exec --sandbox workspace-write -". Without it: claude, where it is installed' -r
complete -c crew -n "__fish_crew_using_subcommand init" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand init" -s y -l yes -d 'Do not ask'
complete -c crew -n "__fish_crew_using_subcommand init" -l try -d 'Run the set-up and the checks on the target at once, as the first `crew run` will. This happens in a terminal anyway'
complete -c crew -n "__fish_crew_using_subcommand init" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand init" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand demo" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand demo" -l keep -d 'Keep the repository, and say where it is'
complete -c crew -n "__fish_crew_using_subcommand demo" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand demo" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand run" -l agents -d 'So many agents busy at once, instead of the settings\' number' -r
complete -c crew -n "__fish_crew_using_subcommand run" -l harness -d 'The harness that agents run on, instead of the settings\' one' -r
complete -c crew -n "__fish_crew_using_subcommand run" -l log -d 'What goes into the log, .crew/logs/engine.log: a level (off, error, warn, info, debug, trace) or targets with levels, such as info,effect=debug. Without it, CREW_LOG says so, or else it is info' -r
complete -c crew -n "__fish_crew_using_subcommand run" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand run" -l until-idle -d 'End when nothing can move any more: 0 when all is done, 3 when something waits for a person'
complete -c crew -n "__fish_crew_using_subcommand run" -l anyway -d 'Start agents although the target does not pass its own checks'
complete -c crew -n "__fish_crew_using_subcommand run" -l detach -d 'Leave the engine running in the background, and end this command once it runs. What it prints is in .crew/logs/run.log; `crew stop` ends it'
complete -c crew -n "__fish_crew_using_subcommand run" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand run" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand stop" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand stop" -l leave -d 'Running steps run on, and the next engine adopts them'
complete -c crew -n "__fish_crew_using_subcommand stop" -l kill -d 'Running steps are ended too'
complete -c crew -n "__fish_crew_using_subcommand stop" -l wait -d 'Wait until the engine has ended'
complete -c crew -n "__fish_crew_using_subcommand stop" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand stop" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand spawn" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand spawn" -s y -l yes -d 'Do not ask, however many they are'
complete -c crew -n "__fish_crew_using_subcommand spawn" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand spawn" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand assign" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand assign" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand assign" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand delegate" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand delegate" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand delegate" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand dashboard" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand dashboard" -l no-color -d 'Without colours; `NO_COLOR` in the environment says the same'
complete -c crew -n "__fish_crew_using_subcommand dashboard" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand dashboard" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand d" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand d" -l no-color -d 'Without colours; `NO_COLOR` in the environment says the same'
complete -c crew -n "__fish_crew_using_subcommand d" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand d" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand ps" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand ps" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand ps" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand peek" -s n -l lines -d 'So many lines' -r
complete -c crew -n "__fish_crew_using_subcommand peek" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand peek" -l full -d 'What tools got and returned too, as far as it is kept, and what the agent thought'
complete -c crew -n "__fish_crew_using_subcommand peek" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand peek" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand logs" -l step -d 'Only the step of this number: of the last attempt that has one, with those that repeat it' -r
complete -c crew -n "__fish_crew_using_subcommand logs" -s n -l lines -d 'Only the last so many lines' -r
complete -c crew -n "__fish_crew_using_subcommand logs" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand logs" -l check -d 'The last checks instead: of the ticket, or of the agent\'s ticket; without a name, of the bare target'
complete -c crew -n "__fish_crew_using_subcommand logs" -s f -l follow -d 'Go on as more is printed, until interrupted'
complete -c crew -n "__fish_crew_using_subcommand logs" -l prompt -d 'What the agent was told in each step, instead of what it said and did'
complete -c crew -n "__fish_crew_using_subcommand logs" -l full -d 'What tools got and returned too, as far as it is kept, and what the agent thought'
complete -c crew -n "__fish_crew_using_subcommand logs" -l raw -d 'The bytes as they were written, not made harmless for a terminal'
complete -c crew -n "__fish_crew_using_subcommand logs" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand logs" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand path" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand path" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand path" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand diff" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand diff" -l stat -d 'Only the files, with the lines that are added and removed'
complete -c crew -n "__fish_crew_using_subcommand diff" -l raw -d 'The bytes of a patch for `git apply`, not made harmless for a terminal'
complete -c crew -n "__fish_crew_using_subcommand diff" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c crew -n "__fish_crew_using_subcommand kill" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand kill" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand kill" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand cleanup" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand cleanup" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand cleanup" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand clean" -l older -d 'Only what steps and checks have printed, of tickets that have been closed for longer than this: `30d`, `12h`' -r
complete -c crew -n "__fish_crew_using_subcommand clean" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand clean" -s y -l yes -d 'Do not ask; with --older, forget the commits that it lists'
complete -c crew -n "__fish_crew_using_subcommand clean" -l checks -d 'Only the set-up of checks: the next check runs it anew, in an empty checkout'
complete -c crew -n "__fish_crew_using_subcommand clean" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand clean" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c crew -n "__fish_crew_using_subcommand merge" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand merge" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand merge" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand retry" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand retry" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand retry" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand drop" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand drop" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand drop" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand revert" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand revert" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand revert" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand waive" -l commitment -d 'Let the ticket land without meeting this commitment, whether it is held or not; `crew explain` lists them' -r
complete -c crew -n "__fish_crew_using_subcommand waive" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand waive" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand waive" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand approve" -l tip -d 'The commit that you have looked at, at least 7 characters of it: the tip of the branch, or its merge as `crew queue` shows it. Without it, the tip that the ticket has as the command is written' -r
complete -c crew -n "__fish_crew_using_subcommand approve" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand approve" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand approve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c crew -n "__fish_crew_using_subcommand reject" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand reject" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand reject" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand commit-to" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand commit-to" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand commit-to" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c crew -n "__fish_crew_using_subcommand inbox" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand inbox" -s f -l follow -d 'Go on as more comes and goes, until interrupted'
complete -c crew -n "__fish_crew_using_subcommand inbox" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand inbox" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand answer" -l question -d 'The number of the question that it answers, as `crew inbox` shows it. An answer to a question that is not open any more is refused. Without it, the question that is open as the command is written' -r
complete -c crew -n "__fish_crew_using_subcommand answer" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand answer" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand answer" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand wake" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand wake" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand wake" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand say" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand say" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand say" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c crew -n "__fish_crew_using_subcommand mode" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand mode" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand mode" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c crew -n "__fish_crew_using_subcommand bait" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand bait" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand bait" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c crew -n "__fish_crew_using_subcommand reap" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand reap" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand reap" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand rewind" -l at -d 'The event: a number of `crew history <ticket>`' -r
complete -c crew -n "__fish_crew_using_subcommand rewind" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand rewind" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand rewind" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c crew -n "__fish_crew_using_subcommand queue" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand queue" -l landed -d 'Everything that landed, not only the latest'
complete -c crew -n "__fish_crew_using_subcommand queue" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand queue" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand checks" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand checks" -l forget -d 'Forget which checks have passed on which trees: each runs the next time'
complete -c crew -n "__fish_crew_using_subcommand checks" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand checks" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c crew -n "__fish_crew_using_subcommand train" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand train" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand train" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand explain" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand explain" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand explain" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand history" -l to -d 'Only what led into this state (`stuck`, `held`, `verify` …)' -r
complete -c crew -n "__fish_crew_using_subcommand history" -l at -d 'The state as it was with this event, instead of the events' -r
complete -c crew -n "__fish_crew_using_subcommand history" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand history" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand history" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand events" -s n -l last -d 'So many of the latest' -r
complete -c crew -n "__fish_crew_using_subcommand events" -l since -d 'From the one after this row of the journal on: where an earlier look ended' -r
complete -c crew -n "__fish_crew_using_subcommand events" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand events" -s f -l follow -d 'Go on as more happens, until interrupted'
complete -c crew -n "__fish_crew_using_subcommand events" -l all -d 'From the very first on'
complete -c crew -n "__fish_crew_using_subcommand events" -l leader -d 'Only what whoever leads the agents wants to know: work that is completed, failed or landed, comments, questions, what is stuck or held, and budgets'
complete -c crew -n "__fish_crew_using_subcommand events" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand events" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand summary" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand summary" -l all -d 'Everything, not only the latest of each agent'
complete -c crew -n "__fish_crew_using_subcommand summary" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand summary" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand cost" -l by -d 'What is summed up; days are those of UTC. By default tickets, and the steps of one that is named' -r -f -a "step\t''
attempt\t''
ticket\t''
agent\t''
day\t''"
complete -c crew -n "__fish_crew_using_subcommand cost" -l since -d 'Only steps that ended since: a span (`24h`, `7d`), a day (`2026-01-31`) or a moment (`2026-01-31T08:00:00Z`)' -r
complete -c crew -n "__fish_crew_using_subcommand cost" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand cost" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand cost" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand diagram" -l all -d 'Write a page for each machine into this folder' -r -F
complete -c crew -n "__fish_crew_using_subcommand diagram" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand diagram" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand diagram" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand ticket" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand ticket" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand tool" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand tool" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand tool" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand mcp" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand mcp" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand mcp" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand doctor" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand doctor" -l fix -d 'Mend what can be mended without losing anything'
complete -c crew -n "__fish_crew_using_subcommand doctor" -l deep -d 'Read every object of the repository too (`git fsck --strict`), and all of a long journal: in large ones that takes long'
complete -c crew -n "__fish_crew_using_subcommand doctor" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand config" -l schema -d 'The JSON schema of crew.toml, or (`--schema documents`) of what --json prints' -r -f -a "settings\t'Of crew.toml'
documents\t'Of what --json prints'"
complete -c crew -n "__fish_crew_using_subcommand config" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand config" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand config" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand completions" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand completions" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand completions" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand man" -l into -d 'Write a page per command into this folder' -r -F
complete -c crew -n "__fish_crew_using_subcommand man" -s C -d 'Work in this folder instead of the current one' -r -F
complete -c crew -n "__fish_crew_using_subcommand man" -l json -d 'Print one JSON document (see docs/json.md); where a command follows, one line per event'
complete -c crew -n "__fish_crew_using_subcommand man" -s h -l help -d 'Print help'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "init" -d 'Make this repository ready: write crew.toml, make .tickets/, ignore crew\'s own folder'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "demo" -d 'See a crew at work: four scripted agents, eight tickets, a repository made for it'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "run" -d 'Run the engine here, until it is stopped or (with --until-idle) nothing can move any more'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "stop" -d 'End the engine that runs here; what was done is kept'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "spawn" -d 'Add an idle agent by name, or so many that crew names'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "assign" -d 'Give a ticket to an idle agent now, out of turn'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "delegate" -d 'Give an idle agent a task: a ticket is made, and given to it at once'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "dashboard" -d 'Show everything on one screen, live: agents, queue, train, inbox, output, history; with keys to act'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "ps" -d 'Show the agents: state, ticket, step, tokens, cost'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "peek" -d 'Show the end of the latest output of an agent, or of the last step at a ticket'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "logs" -d 'Show what an agent said and did, or what was done at a ticket, step by step; or what the checks printed'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "path" -d 'Print the folder in which an agent works, or a ticket is worked on'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "diff" -d 'Show what a ticket would change on the target, or has changed there'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "kill" -d 'Stop an agent\'s process; its ticket goes back to the queue, held, its work kept'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "cleanup" -d 'Remove an agent\'s workspace; its work is kept under a ref, its ticket held'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "clean" -d 'Remove everything of crew\'s here: agents, workspaces, journal; work that did not land is kept under refs'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "merge" -d 'Land a ticket\'s work by hand, through the same checks'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "retry" -d 'Try a held ticket again, its attempts counted afresh'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "drop" -d 'Give a ticket up: it is closed, its work kept under a ref'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "revert" -d 'Take back what a ticket has landed, as a ticket of its own that passes the same checks'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "waive" -d 'Let a held ticket pass in spite of what holds it; your name and reason stay in its history'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "approve" -d 'Approve what a ticket waits for: held paths, its commitments, fewer tests, or a review'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "reject" -d 'Send work that is in review, or has fewer tests, back to its agent'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "commit-to" -d 'Add a commitment to a ticket: its work lands once the command passes on it'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "inbox" -d 'Show what waits for you, and what to type about it; 3 when something does'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "answer" -d 'Answer an agent\'s question; the answer opens its next step'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "wake" -d 'Wake an agent that sleeps before its time, or have it go on without its children'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "say" -d 'Tell an agent something: its next prompt says it'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "mode" -d 'Set an agent\'s task mode: its next prompt says it'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "bait" -d 'Have an agent come to an end: it gets one more step, which says so'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "reap" -d 'Give an agent up for good: its step is stopped, its ticket goes back, held, and its name is retired'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "rewind" -d 'Take a ticket back to its work of an earlier moment: the next attempt begins there'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "queue" -d 'Show the tickets: what is at work, what waits and for what, what is held, what landed'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "checks" -d 'Show the checks: the last verdict of each, how long it took, how often it was flaky or skipped'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "train" -d 'Show the merge train: what is merged on what, what is checked, and what waits and why'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "explain" -d 'Say why a ticket is not given out, or what happens to it next'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "history" -d 'Show what happened to a ticket, an agent or the target: when, why, and what it led to'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "events" -d 'Show what happened, newest last'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "summary" -d 'Show what each agent did: in its own words, else what it committed'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "cost" -d 'Show tokens and money: by ticket, or by step, attempt, agent or day'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "diagram" -d 'Print a machine as a Mermaid diagram, or list the machines'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "ticket" -d 'The queue by hand, with tk\'s commands: create, ls, ready, show, dep … (`crew ticket help`)'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "tool" -d 'Call a tool of crew\'s from an agent\'s program; list the tools'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "mcp" -d 'Serve crew\'s tools to an agent\'s client (Model Context Protocol, on standard input and output)'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "doctor" -d 'Look over settings, git, agents\' clients, repository, journal and leftovers; say what is wrong and what to do'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "config" -d 'Print the settings with every default filled in, or a JSON schema'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "completions" -d 'Print the completions for a shell'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "man" -d 'Print the manual page of crew or of a command, or write all pages into a folder'
complete -c crew -n "__fish_crew_using_subcommand help; and not __fish_seen_subcommand_from init demo run stop spawn assign delegate dashboard ps peek logs path diff kill cleanup clean merge retry drop revert waive approve reject commit-to inbox answer wake say mode bait reap rewind queue checks train explain history events summary cost diagram ticket tool mcp doctor config completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
