"""What users of the library meet: the choice of a model, large tables, clusters."""
