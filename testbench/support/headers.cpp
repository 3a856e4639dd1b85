// Nothing: its target owns the precompiled header of the tests, and needs a source.
