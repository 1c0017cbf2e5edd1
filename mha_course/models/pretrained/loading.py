"""Loading a pretrained model from its folder: quietly, without the network, without pickles."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

import torch

from mha_course.models.pretrained.finding import CannotLoad, find_folder, first_of, refuse_pickles
from mha_course.models.pretrained.model import PretrainedModel
from mha_course.models.pretrained.quiet import quietly, without_network

# Parts after the attention: without them it is the same.
_MAY_BE_MISSING = re.compile(
    r"(^|\.)(pooler|lm_head|cls|score|classifier|final_logits_bias|position_ids)(\.|$)"
)


def load_pretrained(name_or_path: str | os.PathLike[str]) -> PretrainedModel:
    """A BERT-, GPT-2-, Marian- or T5-like model of Hugging Face's, ready to show its attention.

    name_or_path: a folder with config.json, *.safetensors and the tokenizer's files, or a name:
    "all-MiniLM-L6-v2" is the packaged one; others are taken from what was downloaded before, else from the
    model hub (see `find_folder`). A model that was loaded lately is handed out again.

    Raises: CannotLoad (a ValueError) with one sentence that says what to do: nothing of that name here and
    the hub not reachable, weights as a pickle only, parts missing, or no attention weights to be had.
    """
    folder = find_folder(name_or_path)
    try:
        stamp = max((file.stat().st_mtime_ns for file in folder.iterdir()), default=0)
    except OSError as error:
        raise CannotLoad(f"The folder {str(folder)!r} can't be read ({error.strerror}).") from None
    name = os.fspath(name_or_path).rstrip("/\\")
    return _load(folder, Path(name).name if folder.name == Path(name).name else name, stamp)


@lru_cache(maxsize=2)
def _load(folder: Path, name: str, _stamp: int) -> PretrainedModel:
    where = f"The folder {str(folder)!r}"
    if not (folder / "config.json").is_file():
        raise CannotLoad(f"{where} holds no model of Hugging Face's: there is no config.json in it.")
    refuse_pickles([file.name for file in folder.iterdir()], where)
    with quietly(), without_network():
        try:
            model, tokenizer, absent = _read(folder)
        except CannotLoad:
            raise
        except ImportError as error:
            raise CannotLoad(f"{where} needs a package that isn't installed: {first_of(error)}") from None
        except Exception as error:  # many libraries read these files, each with errors of its own
            raise CannotLoad(f"{where} holds no model that can be read: {first_of(error)}") from None
    missing = [key for key in absent if not (_MAY_BE_MISSING.search(key) or _is_known(model, key, absent))]
    if missing:
        raise CannotLoad(
            f"{where} lacks {len(missing)} of the model's tensors, or holds them in other sizes than "
            f"config.json says, {sorted(missing)[0]} for one: they would be filled with random numbers. "
            "Get the whole model."
        )
    with quietly():
        try:
            return PretrainedModel(model, tokenizer, name, writes=not any("lm_head" in key for key in absent))
        except ValueError as error:
            raise CannotLoad(str(error)) from None
        except Exception:  # what reads pictures or sounds fails at a text, each kind in its own way
            raise _no_text_model(where, model.config) from None


def _read(folder: Path) -> tuple[torch.nn.Module, object, set[str]]:
    import transformers

    place = str(folder)
    # trust_remote_code=False: code that lies beside a model is never run.
    local = {"local_files_only": True, "trust_remote_code": False}
    config = transformers.AutoConfig.from_pretrained(place, **local)
    short = getattr(config, "quantization_config", None)
    if short is not None:
        said = short.get("quant_method") if isinstance(short, dict) else getattr(short, "quant_method", None)
        raise CannotLoad(
            f"The folder {place!r} holds its weights in few bits ({said or 'quantised'}), to be read by a "
            "library of their own: look for the same model with 16 or 32 bits a weight."
        )
    kind = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModel
    if any(name.endswith("EncoderModel") for name in config.architectures or []):
        kind = transformers.AutoModelForTextEncoding  # the first half of a T5, saved alone
    if config.is_encoder_decoder and type(config) not in kind._model_mapping:
        raise _no_text_model(f"The folder {place!r}", config)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **local)
    except Exception as error:
        raise CannotLoad(
            f"The folder {place!r} holds no tokenizer that can be read: {first_of(error)}"
        ) from None
    if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        # transformers makes an empty one where the lists of pieces are missing.
        raise CannotLoad(f"The folder {place!r} holds no pieces for its tokenizer, such as tokenizer.json.")
    with torch.random.fork_rng():
        model, info = kind.from_pretrained(
            place,
            config=config,
            attn_implementation="eager",  # the fused kernels keep no weights
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # they are told of below, in words
            dtype=torch.float32,
            output_loading_info=True,
            **local,
        )
    # A module's numbers were in the file but didn't fit: as bad as not being there.
    absent = set(info["missing_keys"]) | {str(item[0]) for item in info.get("mismatched_keys", ())}
    return model, tokenizer, absent


def _is_known(model: torch.nn.Module, key: str, absent: set[str]) -> bool:
    """Whether a tensor needs no file: waves that stand for places, or one read under another name."""
    tensors = dict(model.named_parameters(remove_duplicate=False))
    module = dict(model.named_modules()).get(key.rpartition(".")[0])
    twins = {name for name, tensor in tensors.items() if tensor is tensors.get(key)}
    return "Sinusoidal" in type(module).__name__ or not twins <= absent


def _no_text_model(where: str, config: object) -> CannotLoad:
    return CannotLoad(
        f"{where} holds a model of the kind {config.model_type!r}, which doesn't read texts alone: "
        "models like BERT, GPT-2, Marian and T5 do."
    )
