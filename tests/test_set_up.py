"""`.ci/install`: uv is told what pip's settings say, and pip does the work where uv cannot.

pip and uv are test doubles that write down how they are called; `make test` itself runs the real ones.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WHEELS = ":env:.find-links='/wheels /more'\n:env:.cert='/own.pem'\nglobal.find-links='/not/asked'\n"


def install(folder: Path, settings: str, uv: str | None, pip_has_uv: bool = False) -> list[str]:
    """The calls that install `torch -e .`, where pip has these settings and uv, if there is one, ends like this."""
    bin_ = folder / "venv" / "bin"
    bin_.mkdir(parents=True)
    (folder / "path").mkdir()
    (folder / "settings").write_text(settings)
    note = f'echo "$(basename "$0") cert=$SSL_CERT_FILE $@" >> {folder}/calls'
    getting = f'case "$*" in *" uv") {f"exec mv {folder}/uv {bin_}" if pip_has_uv else "exit 1"};; esac'
    listing = f'[ "$1 $2" = "config list" ] && exec cat {folder}/settings'
    scripts = {bin_ / "pip": f"{listing}\n{note}\n{getting}"}
    if uv is not None:
        scripts[(folder if pip_has_uv else folder / "path") / "uv"] = f"{note}\n{uv}"
    for path, text in scripts.items():
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    environment = {"PATH": f"{folder / 'path'}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    command = [ROOT / ".ci" / "install", folder / "venv", "torch", "-e", "."]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return [line.replace(str(folder), "") for line in (folder / "calls").read_text().splitlines()]


def test_uv_gets_the_wheels_and_certificates_of_pip(tmp_path: Path) -> None:
    (call,) = install(tmp_path, WHEELS, "exit 0")
    assert call == (
        "uv cert=/own.pem pip install --quiet --python /venv/bin/python --index-strategy unsafe-best-match "
        "--find-links /wheels --find-links /more torch -e ."
    )


def test_uv_gets_the_indexes_of_pip(tmp_path: Path) -> None:
    settings = (
        "global.index-url='https://a/simple'\nglobal.extra-index-url='\\nhttps://b\\nfile:///c'\nglobal.no-index='1'\n"
    )
    (call,) = install(tmp_path, settings, "exit 0")
    assert "--default-index https://a/simple --index https://b --index file:///c --no-index torch -e ." in call


def test_pip_installs_what_uv_cannot(tmp_path: Path) -> None:
    calls = install(tmp_path, "", "exit 1")
    assert calls[1] == "pip cert= install --quiet --disable-pip-version-check torch -e ."


@pytest.mark.parametrize("is_found", [True, False])
def test_pip_gets_uv_or_does_without(tmp_path: Path, is_found: bool) -> None:
    first, second = install(tmp_path, "", "exit 0" if is_found else None, pip_has_uv=is_found)
    assert first == "pip cert= install --quiet --disable-pip-version-check uv"
    assert second.startswith("uv " if is_found else "pip ") and second.endswith("torch -e .")
