"""memkit: the long-term memory of an AI agent, small enough to read."""
