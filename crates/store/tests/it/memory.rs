//! Features that only the journal in memory offers: faults and snapshots.

use store::{Error, Fault, Journal, Memory, Seq};

use crate::support::{append, assert_sound, shown};

#[tokio::test]
async fn an_append_that_fails_before_it_is_durable_left_nothing() {
    let journal = Memory::new("j");
    journal.fail_append(2, Fault::Before);
    journal.append(vec![append("x", 0)]).await.unwrap();
    let before = shown(&journal).await;
    let failed = journal.append(vec![append("x", 1)]).await.unwrap_err();
    assert!(
        matches!(failed, Error::Io { .. }) && failed.is_ambiguous(),
        "{failed:?}"
    );
    assert_eq!(shown(&journal).await, before);
    journal.append(vec![append("x", 1)]).await.unwrap();
}

#[tokio::test]
async fn an_ambiguous_append_is_resolved_by_its_key() {
    for (fault, repeated) in [(Fault::Before, false), (Fault::After, true)] {
        let journal = Memory::new("j");
        let keyed = store::Append {
            key: Some("k".to_owned()),
            ..append("x", 0)
        };
        journal.fail_append(1, fault);
        journal.append(vec![keyed.clone()]).await.unwrap_err();
        let resolved = journal.append(vec![keyed]).await.unwrap();
        assert_eq!((resolved[0].repeated, resolved[0].first_seq), (repeated, Seq(1)));
        assert_eq!(journal.head().await.unwrap(), Seq(1));
    }
}

#[tokio::test]
async fn a_refused_append_is_refused_under_a_fault_too() {
    let journal = Memory::new("j");
    journal.fail_append(1, Fault::After);
    let refused = journal.append(vec![append("x", 5)]).await.unwrap_err();
    assert!(matches!(refused, Error::VersionConflict { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_snapshot_is_the_disk_at_its_moment() {
    let journal = Memory::new("j");
    journal.append(vec![append("x", 0)]).await.unwrap();
    let snapshot = journal.snapshot();
    let then = shown(&journal).await;
    journal
        .append(vec![append("x", 1), append("y", 0)])
        .await
        .unwrap();
    let now = shown(&journal).await;
    assert_ne!(then, now);

    let other = Memory::restored(&snapshot);
    assert_eq!(shown(&other).await, then);
    other.append(vec![append("z", 0)]).await.unwrap();
    assert_eq!(shown(&journal).await, now);

    let handle = journal.clone();
    journal.fail_append(1, Fault::Before);
    journal.restore(&snapshot);
    assert_eq!(shown(&handle).await, then);
    handle.append(vec![append("x", 1)]).await.unwrap();
    assert_sound(&handle).await;
}
