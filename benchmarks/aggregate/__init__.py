"""The paper on learning from aggregate outputs."""
