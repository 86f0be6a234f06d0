"""The read path: from a question to what an agent is shown."""
