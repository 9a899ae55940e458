mod checks;
mod commitments;
mod histories;
mod rows;
