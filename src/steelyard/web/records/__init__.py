"""The page of a record, and tables of records."""
