"""What comes in: files, frames and targets, read and encoded as Table and Target."""
