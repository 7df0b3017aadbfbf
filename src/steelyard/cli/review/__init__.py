"""The commands of `steelyard review`."""
