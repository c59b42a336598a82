"""What the papers and the rivals say, measured again: ``python -m benchmarks NAME``.

A folder is a paper (``thesis``, ``lp_norm``, ``aggregate``, ``sboost``, ``arhmm``) or a question
(``classics``, ``product``). Each file in it has

``cases()``
    the list of cases, dictionaries that say all about what is computed;
``run(case)``
    the figures of one case, a dictionary;
``table(rows)``
    the tables made of them; a row is a case and its figures in one dictionary;

and may have ``check(rows)`` (what the paper claims, as assertions), ``publish(rows, folder)``
(pictures and pages made of rows) and ``TINY`` (a case for ``--try``).
"""
