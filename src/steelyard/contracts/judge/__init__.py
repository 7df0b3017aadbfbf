"""Contract 4's judge: a versioned instruction template with the record of its validation."""
