"""What the engine alone needs to read a table, score it and write the answers.

``python -m benchmarks.product._engine TABLE ANSWERS adjacent|shuffled bags|instances N_FEATURES``
"""

import sys


def main(path, out, order, level, n_features):
    import duckdb

    score = " + ".join(f"{0.1 * (j + 1)} * x{j}" for j in range(int(n_features)))
    rows = f"(select bag, {score} as score from '{path}')"
    if level == "bags":
        query = f"select bag, max(score) > 0, max(score) from {rows} group by bag"
    else:
        query = f"select bag, 0 as instance, score > 0 as predicted, score from {rows}"
        query += " order by bag" if order == "shuffled" else ""
    with duckdb.connect() as con:
        con.execute(f"copy ({query}) to '{out}'")


if __name__ == "__main__":
    main(*sys.argv[1:])
