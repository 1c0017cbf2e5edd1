"""Entries as data: what is refused, and how a name is found."""

from __future__ import annotations

import pytest

from mha_course.glossary.entry import all_entries, find_entry, fold, read_entry

FIELDS = {
    "term": "width of a head",
    "symbol": "d_k",
    "sentence": "How wide a head is.",
    "cell": "l02-s4",
    "zh_hans": "头维度",
    "zh_hant": "頭維度",
    "also": ["head size"],
    "zh_also": ["键维度"],
}


def test_an_entry_is_read_with_all_its_names() -> None:
    entry = read_entry("d-k", FIELDS)
    assert entry.names == ("width of a head", "d_k", "head size", "头维度", "頭維度", "键维度")
    assert (entry.shape, entry.note, entry.zh_differ) == ("", "", False)
    assert entry.place.file == "02_why_many_heads.ipynb"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"term": ""}, "lacks 'term'"),
        ({"cell": ""}, "lacks 'cell'"),
        ({"zh_hant": ""}, "lacks 'zh_hant'"),
        ({"sentence": "No full stop"}, "full stop"),
        ({"sentence": "word " * 30 + "word."}, "at most 30 words"),
        ({"sentence": " Blanks around."}, "blanks"),
        ({"symbol": 7}, "text"),
        ({"symbol": "a\x00b"}, "text"),
        ({"also": "head size"}, "lists of names"),
        ({"also": [""]}, "lists of names"),
        ({"zh_differ": "yes"}, "zh_differ"),
        ({"zh_hant": "头维度", "zh_differ": True}, "two words"),
        ({"colour": "blue"}, "no other fields"),
    ],
)
def test_what_is_no_entry_is_refused_by_name(changed: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        read_entry("d-k", {**FIELDS, **changed})
    assert "d-k" in str(refused.value)


@pytest.mark.parametrize("key", ["D_k", "", "d k", "-d", "d--k", "头"])
def test_a_key_is_plain(key: str) -> None:
    with pytest.raises(ValueError, match="a key such as"):
        read_entry(key, FIELDS)


def test_a_list_is_no_entry() -> None:
    with pytest.raises(ValueError, match="an object"):
        read_entry("d-k", ["term"])


def test_names_are_compared_without_case_accents_and_hyphens() -> None:
    assert fold("Cross-Attention") == fold("cross attention") == "cross attention"
    assert fold("d_k") == "d k" and fold("√d_k") == "√d k"
    assert fold("naïve") == "naive" and fold("掩码") == "掩码"
    assert fold("  (…) ") == ""


def test_every_name_finds_its_entry() -> None:
    every = [(name, entry) for entry in all_entries().values() for name in entry.names]
    for name, entry in every:
        assert find_entry(name) is entry
        assert find_entry(name.upper()) is entry
        assert find_entry(f" {name.replace('-', ' ')} ") is entry


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        ("keys", "key"),
        ("heads", "head"),
        ("crossattention", "cross-attention"),
        ("D_MODEL", "d-model"),
        ("遮罩", "mask"),
    ],
)
def test_other_spellings_are_found(asked: str, key: str) -> None:
    assert find_entry(asked).key == key


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"no 'cusal mask'\. The nearest: causal mask"):
        find_entry("cusal mask")
    with pytest.raises(ValueError, match=r"no 'zzzzqq'\.$"):
        find_entry("zzzzqq")


@pytest.mark.parametrize(
    "asked", ["", "…", None, 7, ["key"], "<img src=x onerror=alert(1)>", "k" * 5000, "\ud800"]
)
def test_what_is_no_name_gets_a_sentence(asked: object) -> None:
    with pytest.raises(ValueError, match="The glossary has no") as refused:
        find_entry(asked)
    assert len(str(refused.value)) < 300
    str(refused.value).encode("utf-8")
