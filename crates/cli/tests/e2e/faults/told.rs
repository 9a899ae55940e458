//! What a person who asks hears of a disk that is full: it is no fact of the journal, and no ticket's fault.

use crate::faults::disk::Disk;
use crate::faults::mounts::cells;
use testkit::world::{DONE, World};

const SAYS: &str = "nothing new begins with less than";

cells! {
    fn every_command_tells_of_a_full_disk_for_as_long_as_it_is_full() {
        let world = World::new();
        let commands: [&[&str]; 4] = [&["inbox"], &["ps"], &["explain", "t-1"], &["doctor"]];
        let disk = Disk::over(&world.project(".crew"));
        world.drain();
        world.ticket("t-1").agent(DONE).write();
        // An engine that was killed leaves the index that SQLite needs beside the journal; one that ended
        // leaves none, and then there is no room for it.
        for ended in [false, true] {
            if ended {
                // Whoever closes it last takes its index away.
                world.journal(async |_| ());
                assert!(!world.project(".crew/journal.db-shm").exists());
            }
            disk.fill();
            for command in commands {
                let said = world.crew(command);
                assert!(said.all().contains(SAYS), "{command:?}: {said}");
            }
            assert_eq!(world.crew(&["inbox"]).code, Some(3));
            assert_eq!(world.crew(&["doctor"]).code, Some(1));
            disk.free();
            for command in commands {
                let said = world.crew(command);
                assert!(!said.all().contains(SAYS), "{command:?}: {said}");
            }
            assert_eq!(world.crew(&["inbox"]).code, Some(0));
        }
    }
}
