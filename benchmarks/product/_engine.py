"""What the engine alone needs to read a table, score it and write the columns that `predict` does.

``python -m benchmarks.product._engine TABLE ANSWERS bags|instances N_FEATURES [LIMIT|whole]``: the
bag, the predicted class and two probabilities, of bags or of rows. Without a limit of memory, rows
are written in any order and are not numbered, and types of text are guessed from its beginning.
With a limit, the rows of a bag are together, and numbered in the order of the table; with "whole",
types are guessed from all of a text; `predict` promises both.
"""

import sys
import tempfile


def main(path, out, level, n_features, limit=None):
    import duckdb

    score = " + ".join(f"{0.1 * (j + 1)} * x{j}" for j in range(int(n_features)))
    whole, limit = limit == "whole", None if limit == "whole" else limit
    table = f"read_csv('{path}', sample_size=-1)" if whole else f"'{path}'"
    scored = f"select bag, {score} as score from {table}"
    if level == "bags":
        scored = f"select bag, max(score) as score from ({scored}) group by bag"
    elif limit:
        scored = f"select *, row_number() over () as place from ({scored})"
        number = "row_number() over (partition by bag order by place) - 1 as instance"
        scored = f"select bag, {number}, score from ({scored}) order by bag, instance"
    else:
        scored = f"select bag, 0 as instance, score from ({scored})"
    query = (
        "select * exclude (score), score > 0 as predicted, 1 / (1 + exp(score)) as p0, "
        f"1 / (1 + exp(-score)) as p1 from ({scored})"
    )
    with tempfile.TemporaryDirectory() as folder:
        config = {"memory_limit": limit, "temp_directory": folder} if limit else {}
        with duckdb.connect(config=config) as con:
            con.execute(f"copy ({query}) to '{out}'")


if __name__ == "__main__":
    main(*sys.argv[1:])
