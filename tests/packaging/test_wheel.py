"""What a wheel of the checkout holds: all of the package and its data, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
DATA = (".lark", ".json.gz", ".assay", ".toml", ".tar.xz", "py.typed")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in a wheel built from a copy of the checkout, so that the checkout gains no build folder."""
    source = tmp_path_factory.mktemp("source")
    tracked = ["pyproject.toml", "README.md", "LICENSE", "src", "grammar", "spec", "checker", "traces", "spark"]
    subprocess.run(["cp", "-a", *(str(CHECKOUT / name) for name in tracked), str(source)], check=True)
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(target), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = target.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.slow
def test_wheel_has_one_top_level_package(names: set[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"assay"}


@pytest.mark.slow
def test_wheel_holds_every_module_and_data_file(names: set[str]) -> None:
    for folder in ("grammar", "spec", "checker", "traces", "spark"):
        files = (path for path in (CHECKOUT / folder).rglob("*") if path.name.endswith((".py", *DATA)))
        assert {f"assay/{path.relative_to(CHECKOUT)}" for path in files} <= names
    assert {"assay/py.typed", "assay/cli/start.py", "assay/report/lines.py", "assay/pytest_plugin.py"} <= names
