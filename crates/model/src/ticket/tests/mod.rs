mod checks;
mod histories;
mod rows;
