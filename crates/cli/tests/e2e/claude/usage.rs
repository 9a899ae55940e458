//! What steps used, by a client that tells totals over its session and loses them when it is killed.

use serde_json::json;

use testkit::scene::Scene;

/// Tokens in and out.
pub(crate) fn tokens(scene: &Scene, id: &str) -> Vec<(u64, u64)> {
    let used = scene.used(id).into_iter();
    used.map(|used| (used.input_tokens, used.output_tokens)).collect()
}

#[test]
fn each_step_is_charged_what_it_used_itself() {
    let scene = Scene::new();
    let script = json!([
        { "text": "The first part.", "usage": { "in": 1000, "out": 100 } },
        { "bash": "echo x > x", "usage": { "in": 1000, "out": 100 } },
        { "text": "The second part.", "usage": { "in": 2000, "out": 200 } },
        { "text": "DONE", "usage": { "in": 1000, "out": 100 } },
    ]);
    scene.ticket("t-1", &script);
    scene.drain_all();

    assert_eq!(tokens(&scene, "t-1"), [(1000, 100), (3000, 300), (1000, 100)]);
    let cost: Vec<u64> = scene.used("t-1").iter().map(|used| used.cost_micro_usd).collect();
    let [first, second, third] = cost[..] else {
        panic!("{cost:?}");
    };
    assert!(first > 0, "{cost:?}");
    assert!(
        second.abs_diff(3 * first) <= 2 && third.abs_diff(first) <= 2,
        "{cost:?}"
    );
}
