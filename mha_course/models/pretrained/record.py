"""Records the heads of the packaged MiniLM: `python -m mha_course.models.pretrained.record`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from mha_course.data_files import DATA_FOLDER
from mha_course.models.pretrained.finding import MINILM, MINILM_PACKAGE, CannotLoad, packaged_minilm
from mha_course.models.pretrained.loading import load_pretrained
from mha_course.models.pretrained.model import PretrainedModel
from mha_course.models.recorded_heads import CARD, REMADE, WEIGHTS, rounded
from mha_course.text.parsed_sentence import ParsedSentence
from mha_course.text.treebank import course_treebank

EVERY = 4
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
NOTE = f"{MINILM} (licence Apache-2.0), recorded; rounding changed no weight by more than 0.00002"


def chosen_sentences() -> tuple[ParsedSentence, ...]:
    """Every fourth sentence of the treebank, from the first on: short and long ones as they come."""
    return course_treebank()[::EVERY]


def checked_minilm() -> PretrainedModel:
    """The packaged MiniLM, after its weights were seen to be the known ones.

    Raises: CannotLoad when it isn't installed, or is another one.
    """
    model = load_pretrained(MINILM)
    with open(packaged_minilm() / "model.safetensors", "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != MINILM_SHA256:
        raise CannotLoad(f"the weights of {MINILM_PACKAGE} are others than they were: SHA-256 {found}.")
    return model


def record(model: PretrainedModel, sentences: Sequence[ParsedSentence], folder: Path) -> None:
    """Write the attention for the sentences: weights as safetensors, the rest as JSON."""
    kept, rows = {}, []
    for i, sentence in enumerate(sentences):
        read = model.read(list(sentence.words))
        if read.maps.note:
            raise ValueError(f"sentence {i} can't be recorded whole: {read.maps.note}.")
        kept[f"sentence {i}"] = rounded(read.maps.weights)
        rows.append({"words": sentence.words, "pieces": read.maps.query_tokens, "word_of": read.query_words})
    card = {
        "name": MINILM,
        "package": MINILM_PACKAGE,
        "sha256": MINILM_SHA256,
        "licence": "Apache-2.0",
        "chosen": f"sentences 1, {1 + EVERY}, {1 + 2 * EVERY}, ... of treebank/course_treebank.conllu",
        "note": NOTE,
        "made by": REMADE,
        "sentences": rows,
    }
    weights, described = folder / WEIGHTS, folder / CARD
    weights.parent.mkdir(parents=True, exist_ok=True)
    save_file(kept, weights, metadata={"note": NOTE})
    weights.chmod(0o644)  # safetensors writes files that only their owner may read
    head = json.dumps({k: v for k, v in card.items() if k != "sentences"}, indent=1, ensure_ascii=False)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    described.write_text(f'{head[:-2]},\n "sentences": [\n{lines}\n ]\n}}\n', encoding="utf-8")


def main() -> None:
    """Record the chosen sentences into data/."""
    with torch.random.fork_rng():
        sentences = chosen_sentences()
        record(checked_minilm(), sentences, DATA_FOLDER)
    size = (DATA_FOLDER / WEIGHTS).stat().st_size / 1e6
    print(f"{len(sentences)} sentences, {size:.1f} MB in data/{WEIGHTS}")


if __name__ == "__main__":
    try:
        main()
    except CannotLoad as problem:
        raise SystemExit(str(problem)) from None
