"""What the engine alone needs to read a table, score it and write the answers.

``python -m benchmarks.product._engine TABLE ANSWERS bags|instances N_FEATURES [LIMIT]``: with all
memory and in any order, or with so much memory and the answers of a bag together.
"""

import sys
import tempfile


def main(path, out, level, n_features, limit=None):
    import duckdb

    score = " + ".join(f"{0.1 * (j + 1)} * x{j}" for j in range(int(n_features)))
    rows = f"(select bag, {score} as score from '{path}')"
    if level == "bags":
        query = f"select bag, max(score) > 0, max(score) from {rows} group by bag"
    else:
        query = f"select bag, 0 as instance, score > 0 as predicted, score from {rows}"
        query += " order by bag" if limit else ""
    with tempfile.TemporaryDirectory() as folder:
        config = {"memory_limit": limit, "temp_directory": folder} if limit else {}
        with duckdb.connect(config=config) as con:
            con.execute(f"copy ({query}) to '{out}'")


if __name__ == "__main__":
    main(*sys.argv[1:])
