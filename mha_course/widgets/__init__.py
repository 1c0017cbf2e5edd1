"""Live pictures for the lessons. Each is loaded when it is first named."""

from __future__ import annotations

import importlib

_HOMES = {
    "AgainstTheClock": "against_the_clock",
    "AttentionExplorer": "attention_explorer",
    "BatchingTimeline": "batching",
    "BugHunt": "bug_hunt",
    "Composition": "composition",
    "EqualsPlain": "equals_plain",
    "FrontEndCheck": "front_end_check",
    "GateDraws": "gate_draws",
    "GatesLive": "gates_live",
    "GlossWithoutHeads": "gloss_without_heads",
    "Glossary": "glossary",
    "HeadBrowser": "head_browser",
    "HeadMap": "head_map",
    "HeadsCompared": "heads_compared",
    "HeadsForming": "heads_forming",
    "Interview": "interview",
    "Leaderboard": "leaderboard",
    "LiveTraining": "live_training",
    "LowRank": "low_rank",
    "OutputMixer": "output_mixer",
    "PositionHead": "position_head",
    "PruningReplay": "pruning_replay",
    "Roofline": "roofline",
    "Routing": "routing",
    "ShapeTracer": "shape_tracer",
    "SoftmaxExplorer": "softmax_explorer",
    "TranslationStepper": "translation_stepper",
    "ask": "question",
    "bertviz_head_view": "bertviz.views",
    "bertviz_model_view": "bertviz.views",
    "parsons": "line_puzzle",
    "predict": "prediction",
    "reveal": "prediction",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
