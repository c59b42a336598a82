"""The paper on session-based learning."""
