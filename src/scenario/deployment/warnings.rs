//! What is legal and most likely not meant.
