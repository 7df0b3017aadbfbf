"""What statistics say: intervals, comparisons, agreement, corrected rates."""
