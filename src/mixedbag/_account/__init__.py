"""One account of a bag: what is said of it, and what is said of its instances, agree."""
