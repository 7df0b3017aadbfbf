"""What grades an answer: checks, judges and composites as one verdict."""
