"""The fuzzer: damaged inputs of every kind, in processes that may crash, hang or run out of memory.

``python -m tests.fuzz --minutes 5`` runs it; `make fuzz` does the same. A *target* is a module with

* ``cases(seed)``: an endless or finite iterator of ``(name, bytes, …)``, the same for one seed;
* ``run(bytes, …)``: gives them to the library and returns an outcome: one of `harness.GOOD`, such
  as ``"refused"`` (with a documented exception), or what went wrong, such as
  ``"lost: 3 undamaged rows"``. Any exception that escapes is undocumented.

`tests.fuzz.harness` runs targets and counts; `tests.fuzz.targets` lists them.
"""
