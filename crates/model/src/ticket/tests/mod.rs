mod checks;
mod histories;
mod reviews;
mod rows;
