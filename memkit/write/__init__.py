"""The write path: from what was said to what is known."""
