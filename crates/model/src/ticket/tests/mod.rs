mod checks;
mod commitments;
mod conflicts;
mod histories;
mod labels;
mod recovery;
mod reviews;
mod rows;
