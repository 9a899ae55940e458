mod checks;
mod histories;
mod labels;
mod recovery;
mod rows;
