"""The trace: what a target did for a case, as targets return it and artifacts hold it."""
