"""The classics of the field, with their defaults."""
