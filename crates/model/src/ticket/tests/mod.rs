mod checks;
mod commitments;
mod histories;
mod labels;
mod recovery;
mod reviews;
mod rows;
