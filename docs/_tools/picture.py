"""Takes the picture of the report in the README: ``python -m docs._tools.picture``.

Runs the demo, opens its report in headless Chromium, and writes docs/drawings/report.png.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).parents[1] / "drawings" / "report.png"


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        sys.exit("no Chromium here")
    with tempfile.TemporaryDirectory() as folder:
        demo = "from mixedbag.cli import main; main()"
        options = ["demo", "--out", folder, "--json"]
        subprocess.run(
            [sys.executable, "-c", demo, *options], check=True, stdout=subprocess.DEVNULL
        )
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--virtual-time-budget=5000", "--window-size=1100,1380", f"--screenshot={PICTURE}",
            f"--user-data-dir={folder}/browser",
        ]  # fmt: skip
        page = Path(folder, "report.html").as_uri()
        subprocess.run([browser, *options, page], check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
