"""Cases of one contract as another can hold them, with what cannot be carried over."""
