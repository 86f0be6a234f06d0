"""The verbs of an open store, by the stage of a memory's life they belong to."""
