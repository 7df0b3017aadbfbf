"""Rates corrected for the error of judges that were validated."""
