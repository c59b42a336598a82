"""Looks at a built site: every inner link leads somewhere, and nothing comes from outside.

``python docs/_tools/check.py docs/_build/html``; the answer is the exit code.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

# What a browser would fetch by itself; a link that a person may click is no such thing.
FETCHED = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "embed": "src",
    "object": "data",
}  # fmt: skip
FETCHED_LINKS = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload"}


class Page(HTMLParser):
    """The places of a page, its links, and what it fetches."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links, self.fetched = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.places.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in FETCHED and attributes.get(FETCHED[tag]):
            self.fetched.append(attributes[FETCHED[tag]])
        if tag == "link" and FETCHED_LINKS & set((attributes.get("rel") or "").split()):
            self.fetched.append(attributes.get("href") or "")


def outside(address):
    """Whether an address leaves the site."""
    return re.match(r"(?:[a-z][a-z0-9+.-]*:|//)", address, flags=re.IGNORECASE) is not None


def pages_of(site):
    """The pages, without the theme's own template, which is no page."""
    return [path for path in site.rglob("*.html") if path.name != "webpack-macros.html"]


def problems(site):
    """What is wrong with a site, a line each."""
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in pages_of(site)}
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for address in page.fetched:
            if address.startswith("data:"):
                continue
            if outside(address):
                yield f"{name} fetches {address}"
            elif not (path.parent / unquote(address.partition("?")[0])).exists():
                yield f"{name} fetches {address}, which is not there"
        for link in page.links:
            if outside(link):
                continue
            file, place = urldefrag(link.partition("?")[0] if "?" in link else link)
            target = (path.parent / unquote(file)).resolve() if file else path
            if not target.exists():
                yield f"{name} links to {link}, which is not there"
            elif place and target in pages and unquote(place) not in pages[target].places:
                yield f"{name} links to {link}: no such place"
    for style in site.rglob("*.css"):
        for address in re.findall(r"url\(\s*['\"]?([^'\")]+)", style.read_text("utf-8")):
            if outside(address) and not address.startswith("data:"):
                yield f"{style.relative_to(site)} fetches {address}"


def main():
    site = Path(sys.argv[1])
    found = sorted(set(problems(site)))
    print("\n".join(found))
    n_pages = len(pages_of(site))
    print(f"{n_pages} pages, {len(found)} problems")
    sys.exit(bool(found) or n_pages == 0)


if __name__ == "__main__":
    main()
