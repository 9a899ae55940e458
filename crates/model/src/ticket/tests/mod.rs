mod checks;
mod commitments;
mod histories;
mod labels;
mod recovery;
mod rows;
