"""Judges: what they are asked, how their replies are read, and what their answers come to."""
