use super::*;

fn failed(story: &mut Story, of: &str, class: Class, cost: u64) {
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 1,
        cost_micro_usd: cost,
        estimated_micro_usd: cost,
    };
    let failure = Failure::new(class, "no");
    story.ticket(
        of,
        T::Attempt(A::StepFailed {
            usage,
            total_micro_usd: None,
            failure,
            retry_at: story.now(),
            errors_left: 4,
            repeats_left: 2,
            fresh: SessionId(uuid::Uuid::from_u128(9)),
        }),
    );
}

/// Two tickets, two agents, a failed and a stopped step, and a second attempt by the other agent.
fn paid() -> Story {
    let mut story = Story::up(&["ada", "bob"]);
    story.create("t-1", "Cheap", &[]);
    story.create("t-2", "Dear", &[]);
    story.claim("t-1", "ada");
    story.start("t-1", 1);
    story.finish("t-1", Signal::Done);
    story.claim("t-2", "bob");
    story.start("t-2", 1);
    failed(&mut story, "t-2", Class::Crash, 7);
    story.start("t-2", 2);
    story.finish("t-2", Signal::None);
    story.start("t-2", 3);
    let then = attempt::AfterStop::Release {
        by: Actor::person("me"),
    };
    story.ticket("t-2", T::Attempt(A::StopOrdered { then }));
    failed(&mut story, "t-2", Class::KilledByUs, 3);
    let why = ticket::Released::Killed {
        by: Actor::person("me"),
    };
    story.ticket("t-2", T::Released { why });
    let fresh = SessionId(uuid::Uuid::from_u128(10));
    let by = Actor::person("me");
    story.ticket(
        "t-2",
        T::Retried {
            by,
            slot_free: false,
            fresh,
        },
    );
    story.claim("t-2", "ada");
    story.start("t-2", 4);
    story
}

fn lines(costs: &Costs) -> Vec<String> {
    let sum = |sum: Sum| {
        let usage = sum.usage;
        format!(
            "{} steps, {} failed, {} in, {} out, {} µ$, {} of it estimated",
            sum.steps,
            sum.failed,
            usage.input_tokens,
            usage.output_tokens,
            usage.cost_micro_usd,
            usage.estimated_micro_usd
        )
    };
    let line = |line: &Line| {
        let of = [
            line.ticket.as_ref().map(ToString::to_string),
            line.attempt.map(|n| format!("#{n}")),
            line.agent.as_ref().map(ToString::to_string),
            line.day.map(|day| day.to_string()),
            line.charge
                .as_ref()
                .map(|charge| format!("step {} {:?}", charge.step, charge.failed)),
        ];
        let of: Vec<String> = of.into_iter().flatten().collect();
        format!("{}: {}", of.join(" "), sum(line.sum))
    };
    let lines = costs.lines.iter().map(line);
    lines.chain([format!("total: {}", sum(costs.total))]).collect()
}

#[test]
fn every_sum_is_of_the_same_charges() {
    let story = paid();
    let all = [By::Step, By::Attempt, By::Ticket, By::Agent, By::Day];
    let seen: Vec<String> = all
        .into_iter()
        .flat_map(|by| lines(&story.crew.costs(by, &Filter::default())))
        .collect();
    insta::assert_snapshot!(seen.join("\n"));
    assert_eq!(story.crew.costs(By::Day, &Filter::default()).running, 1);
}

#[test]
fn what_is_asked_for_is_counted_and_nothing_else() {
    let story = paid();
    let bob = Filter {
        agent: Some(name("bob")),
        ..Filter::default()
    };
    let costs = story.crew.costs(By::Ticket, &bob);
    assert_eq!((costs.total.steps, costs.total.failed, costs.running), (3, 2, 0));
    let of = Filter {
        ticket: Some(id("t-2")),
        ..Filter::default()
    };
    let costs = story.crew.costs(By::Agent, &of);
    assert_eq!(
        (costs.total.steps, costs.running),
        (3, 1),
        "ada's step still runs"
    );
    let last = story.crew.charges.last().unwrap();
    let since = Filter {
        since: Some(last.at),
        ..Filter::default()
    };
    let costs = story.crew.costs(By::Step, &since);
    assert_eq!(costs.lines.len(), 1);
    assert_eq!(costs.lines[0].charge.as_ref(), Some(last));
}

#[test]
fn the_ledger_and_the_members_agree() {
    let story = paid();
    let mut all = Usage::default();
    for member in story.crew.members.values() {
        all.add(member.usage);
    }
    assert_eq!(story.crew.costs(By::Day, &Filter::default()).total.usage, all);
}
