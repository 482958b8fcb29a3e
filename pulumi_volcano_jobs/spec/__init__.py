"""The Job as it is written: its fields, its document, and what is told beside it."""
