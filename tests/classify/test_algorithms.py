"""The file of algorithms: its words are the vocabulary's, its facts have sources."""

from __future__ import annotations

import tomllib

from traceview.classify.algorithms import ALGORITHM, TENDENCY, algorithms, tendencies
from traceview.classify.rules import FOLDER

ENTRIES = tomllib.loads((FOLDER / "algorithms.toml").read_text(encoding="utf-8"))
VOCABULARY = {"explicit_gemm", "implicit_gemm", "implicit_precomp_gemm", "direct", "fft", "fft_tiling", "winograd"}
VOCABULARY |= {"winograd_nonfused", "depthwise", "grouped_direct"}


def test_no_key_is_lost() -> None:
    for kind, columns in (("algorithm", ALGORITHM), ("tendency", TENDENCY)):
        assert {key for entry in ENTRIES[kind] for key in entry} <= set(columns)
    assert len(algorithms()) == 7 and len(tendencies()) == 8


def test_words_are_the_vocabulary() -> None:
    assert {entry["name"] for entry in ENTRIES["algorithm"]} <= VOCABULARY
    for tendency in ENTRIES["tendency"]:
        assert set(tendency["order"]) <= VOCABULARY and len(set(tendency["order"])) == len(tendency["order"])


def test_every_fact_has_a_source() -> None:
    assert all(len(entry["source"]) > 20 for entry in [*ENTRIES["algorithm"], *ENTRIES["tendency"]])
