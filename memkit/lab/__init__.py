"""What lessons are made of, apart from widgets."""
