//! A table that can undo its last changes.

use std::collections::BTreeMap;

/// Rows by key, with the old rows, to undo the changes since the last [`commit`](Self::commit).
#[derive(Clone, Debug)]
pub(super) struct Table<K, V> {
    rows: BTreeMap<K, V>,
    undo: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            undo: Vec::new(),
        }
    }
}

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    pub(super) fn rows(&self) -> &BTreeMap<K, V> {
        &self.rows
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.rows.get(key)
    }

    pub(super) fn put(&mut self, key: K, row: V) {
        let before = self.rows.insert(key.clone(), row);
        self.undo.push((key, before));
    }

    pub(super) fn remove(&mut self, key: &K) {
        if let Some(before) = self.rows.remove(key) {
            self.undo.push((key.clone(), Some(before)));
        }
    }

    pub(super) fn commit(&mut self) {
        self.undo.clear();
    }

    pub(super) fn rollback(&mut self) {
        while let Some((key, before)) = self.undo.pop() {
            match before {
                Some(row) => self.rows.insert(key, row),
                None => self.rows.remove(&key),
            };
        }
    }
}
