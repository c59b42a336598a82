"""``python -m mixedbag``: the command line, of the Python that is asked."""

from mixedbag.cli import main

if __name__ == "__main__":
    main()
