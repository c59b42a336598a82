"""Generated pages: written when they change, so that Sphinx reads again only what is new."""


def write_if_new(path, text):
    """Write `text` unless the file holds it already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
