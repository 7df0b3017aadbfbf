"""Single HTML files, and what templates can call."""
