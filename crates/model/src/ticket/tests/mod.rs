mod histories;
mod rows;
