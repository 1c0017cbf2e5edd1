"""BertViz as its package publishes it: the HTML that it returns, taken apart, and the libraries it needs.

BertViz writes one string: a script tag that loads require.js from a CDN, a `<div>`, and a script that holds
the weights as JSON, twice (once in a comment). Here the string is taken apart; `mending` puts it right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import torch
from torch import Tensor

TESTED = "1.4.1"
_CDN = re.compile(r'\A<script src="https://cdnjs\.cloudflare\.com/[^"<>]*require\.min\.js"></script>')
_SCRIPT = re.compile(r'\n<script type="text/javascript">\n(.*)\n</script>\n\Z', re.DOTALL)
_BEFORE, _BETWEEN, _AFTER = "const params = ", "; // HACK: ", " is a template marker"


class BertvizChanged(RuntimeError):
    """BertViz's output is not what the course knows how to make safe: nothing is shown."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what}. The course mends the output of bertviz {TESTED}, and the installed one is "
            f"{_installed()}: run start.py, which installs the right one."
        )


@dataclass(frozen=True)
class Published:
    """One view as BertViz publishes it.

    body: the HTML of its `<div>`. script: its JavaScript with nothing where the JSON stood, in two parts.
    params: what the JSON said.
    """

    body: str
    script: tuple[str, str]
    params: dict


def published(view: str, weights: dict[str, Tensor]) -> Published:
    """BertViz's own "head_view" or "model_view" of weights by kind, with numbered tokens in place of words.

    weights: (layers, heads, n_q, n_k) by kind, "self" or "encoder", "decoder" and "cross". Words of users
    never pass through BertViz: they are put into the JSON later.
    Raises: BertvizChanged when its output has another form than the tested version's.
    """
    import bertviz

    returned = getattr(bertviz, view)(**_arguments(weights), prettify_tokens=False, html_action="return").data
    return taken_apart(returned)


def as_published(view: str, weights: Tensor, tokens: Sequence[str]) -> str:
    """The untouched HTML of a view of one self-attention, for comparisons. It needs a network as it is."""
    import bertviz

    layers = [layer[None] for layer in weights]
    return getattr(bertviz, view)(layers, list(tokens), html_action="return").data


def taken_apart(returned: str) -> Published:
    """The parts of BertViz's HTML. Raises: BertvizChanged when they aren't where they were."""
    rest, n = _CDN.subn("", returned, count=1)
    if n != 1:
        raise BertvizChanged("BertViz no longer starts with the script tag of require.js")
    script = _SCRIPT.search(rest)
    if script is None:
        raise BertvizChanged("BertViz no longer ends with one script")
    body, code = rest[: script.start()], script.group(1)
    if "<script" in body.lower() or "://" in body:
        raise BertvizChanged("BertViz's HTML holds a script or an address where none was")
    start = code.find(_BEFORE) + len(_BEFORE)
    try:
        params, end = json.JSONDecoder().raw_decode(code, start)
    except ValueError:
        raise BertvizChanged("BertViz's numbers are not where they were") from None
    again = _BETWEEN + code[start:end] + _AFTER
    if start < len(_BEFORE) or not isinstance(params, dict) or not code.startswith(again, end):
        raise BertvizChanged("BertViz's numbers are not where they were")
    # From the comment on, up to the end of its line, nothing is code.
    after = code[end + len(again) :].partition("\n")[2]
    return Published(body, (code[:start], ";\n" + after), params)


@lru_cache(maxsize=1)
def libraries() -> str:
    """d3 5.7.0 and jQuery as JavaScript, from the packages that bring them along.

    Raises: BertvizChanged when a package is missing or holds something else.
    """
    d3 = _read("mpld3", "mpld3/js/d3.v5.min.js", "https://d3js.org v5.")
    jquery = _read("XStatic-jQuery", "xstatic/pkg/jquery/data/jquery.min.js", "jQuery v3.")
    return f"{jquery}\n{d3}\n"


def _read(package: str, file: str, expected: str) -> str:
    try:
        path = Path(str(distribution(package).locate_file(file)))
        text = path.read_text(encoding="utf-8")
    except (PackageNotFoundError, OSError):
        raise BertvizChanged(f"{file.rpartition('/')[2]} of the package {package} is missing") from None
    if expected not in text[:200]:
        raise BertvizChanged(f"{path.name} of the package {package} is another library")
    if "</script" in text.lower() or "<!--" in text:
        raise BertvizChanged(f"{path.name} of the package {package} can't stand inside a page")
    return text


def _arguments(weights: dict[str, Tensor]) -> dict[str, object]:
    layers = {kind: [layer[None] for layer in one] for kind, one in weights.items()}
    if "self" in weights:
        n_q, n_k = weights["self"].shape[-2:]
        if n_q == n_k:
            return {"attention": layers["self"], "tokens": _numbered(n_q)}
        # BertViz takes two texts only as the cross-attention of an encoder-decoder.
        return {
            "cross_attention": layers["self"],
            "decoder_tokens": _numbered(n_q),
            "encoder_tokens": _numbered(n_k),
        }
    found: dict[str, object] = {f"{kind}_attention": one for kind, one in layers.items()}
    n_q, n_k = weights["cross"].shape[-2:]
    return found | {"decoder_tokens": _numbered(n_q), "encoder_tokens": _numbered(n_k)}


def _numbered(n: int) -> list[str]:
    return [str(i) for i in range(n)]


def _installed() -> str:
    try:
        return version("bertviz")
    except PackageNotFoundError:
        return "missing"


def rounded(weights: Tensor) -> Tensor:
    """Weights to three places, in double precision so that they are also written short; NaN becomes 0."""
    return torch.nan_to_num(weights.double(), nan=0.0).round(decimals=3)
