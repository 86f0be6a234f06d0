"""The one trusted record: what is known, where it applies, and what it rests on."""
