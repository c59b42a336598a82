"""The command line: compare, fit, predict, evaluate, explain, datasets, demo."""

from mixedbag.cli._app import app, main

__all__ = ["app", "main"]
