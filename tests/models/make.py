"""Save the models of a release: ``python -m tests.models.make``.

Run it once, with the code of the release, and never again for that release: the gate is worth
something because these files were written by the code that people had. Models are in one archive,
bags and answers in another.
"""

import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np

import mixedbag
from tests.models.cases import answers, cases

HERE = Path(__file__).parent


def main():
    folder = HERE / mixedbag.__version__
    folder.mkdir(exist_ok=True)
    arrays, known = {}, {}
    with (
        tempfile.TemporaryDirectory() as scratch,
        zipfile.ZipFile(folder / "models.zip", "w", zipfile.ZIP_LZMA) as archive,
    ):
        for name, model, bags in cases():
            path = Path(scratch) / "model.skops"
            mixedbag.save(model, path)
            archive.writestr(f"{name}.skops", path.read_bytes())
            asked = _store_bags(bags, arrays, known)
            arrays[f"{name}|bags"] = np.array(asked)
            for method, values in answers(model, bags).items():
                plain = values.astype(str) if values.dtype == object else values
                arrays[f"{name}|{method}"] = plain
            print(name, path.stat().st_size)
    np.savez_compressed(folder / "answers.npz", **arrays)


def _store_bags(bags, arrays, known):
    """Keep bags once, however many models are asked about them."""
    dense = bags.instances.toarray() if bags.is_sparse else bags.instances
    parts = {"instances": dense, "offsets": bags.offsets, "sparse": np.array(bags.is_sparse)}
    if bags.feature_names is not None:
        parts["names"] = np.array(bags.feature_names)
    key = b"".join(part.tobytes() + str(part.shape).encode() for part in parts.values())
    if key not in known:
        known[key] = f"bags{len(known)}"
        arrays.update({f"{known[key]}|{what}": part for what, part in parts.items()})
    return known[key]


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
