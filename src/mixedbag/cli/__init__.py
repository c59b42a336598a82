"""The command line: compare, fit, predict, explain, datasets, demo."""

from mixedbag.cli._app import app, main

__all__ = ["app", "main"]
