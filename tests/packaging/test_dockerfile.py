"""The Dockerfile installs assay as the README says, and leaves its superuser."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def instructions() -> list[tuple[str, str]]:
    lines = (CHECKOUT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    return [(each.split(" ", 1)[0], each.split(" ", 1)[1]) for each in lines if each and not each.startswith("#")]


def test_it_installs_with_the_command_of_the_readme() -> None:
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    install = next(text for kind, text in instructions() if kind == "RUN" and "pip install" in text)
    assert f"$ {install}" in readme


def test_it_runs_assay_as_a_user_and_every_instruction_is_known() -> None:
    found = dict(instructions())
    assert found["ENTRYPOINT"] == '["assay"]'
    assert found["USER"] == "assay"
    assert any('doctor && rm -rf "$ASSAY_CACHE"' in text for _, text in instructions()), "the superuser's cache stays"
    assert {kind for kind, _ in instructions()} == {"FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "ENTRYPOINT"}


def test_what_it_copies_has_no_folder_that_the_package_needs_left_out() -> None:
    left_out = (CHECKOUT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not {"src", "grammar", "checker", "traces", "spark", "spec", "README.md", "LICENSE"} & set(left_out)
