"""Who may, how long, and how to be forgotten."""
