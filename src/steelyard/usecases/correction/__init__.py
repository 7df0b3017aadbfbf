"""Pass rates corrected for the errors of validated judges."""
