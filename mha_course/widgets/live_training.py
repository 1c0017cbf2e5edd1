"""LiveTraining: the course model learns while one looks on, and its heads take their roles."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import traitlets

from mha_course.models.gloss_model import GlossModel
from mha_course.text.course_language.gloss import PARTS
from mha_course.training.live import MEASURED_SENTENCES, ROLES, live_settings
from mha_course.training.live_run import FAILED, STOPPED, live_run
from mha_course.widgets.base import CourseWidget
from mha_course.widgets.beside_cells import heard_beside_cells
from mha_course.widgets.run_in_view import RunInView

__all__ = ["LiveTraining"]

ORDERS = ("", "start", "stop")


class LiveTraining(RunInView, CourseWidget):
    """A button that starts and stops training, how far it is, what it gets right, and its heads' roles.

    seed: of weights and batches. parts: of the gloss that the model is asked for. Nothing starts by itself;
    but to run a cell again whose training was stopped goes on with it. Kernel → Interrupt stops it as the
    button does. The environment variable MHA_COURSE_STEPS sets a smaller number of updates.
    Raises: ValueError as `LiveSettings` and `live_settings`.
    """

    js = ("svg_pieces.js", "live_chart.js", "live_roles.js", "live_controls.js", "live_training.js")
    css = ("pieces.css", "live_training.css")
    root = "mha-live"
    settings = ("order",)

    order = traitlets.Enum(ORDERS, "").tag(sync=True, echo_update=False)
    steps = traitlets.Int().tag(sync=True)
    parts = traitlets.List(traitlets.Unicode()).tag(sync=True)
    all_parts = traitlets.List(traitlets.Unicode(), list(PARTS)).tag(sync=True)

    def __init__(self, seed: int = 0, parts: Sequence[str] = PARTS) -> None:
        chosen = live_settings(seed, parts)
        self.run = live_run(chosen)
        self._obeyed = 0
        super().__init__(steps=chosen.steps, parts=list(chosen.parts))
        heard_beside_cells(self)
        self.run.watch(self._on_news)
        if self.run.state in (STOPPED, FAILED):
            self.start()

    def model(self) -> GlossModel | None:
        """The model as it stood at the last look at its heads or when it stopped; None before."""
        return self.run.model()

    def measured(self) -> list[dict[str, object]]:
        """Every look at the heads so far: step, seconds, accuracy by part, the best head of each role."""
        return self.run.measured()

    def compute(self) -> tuple[Mapping[str, object], bytes]:
        """Do what the view asked for, and tell how the training stands."""
        if self.stamp != self._obeyed:
            self._obeyed = self.stamp
            if self.order:
                getattr(self, self.order)()
        run = self.run
        history, latest = list(run.history), dict(run.latest)
        looks = [report for report in history if report["roles"]]
        header = {
            "state": run.state,
            "trouble": run.trouble,
            "step": run.step,
            "seconds": latest.get("seconds", 0.0),
            "drawn": latest.get("drawn", 0),
            "sentences": run.settings.sentences,
            "measured_on": MEASURED_SENTENCES,
            "losses": [[r["step"], round(r["loss"], 4)] for r in history if r["loss"] is not None],
            "looks": [[r["step"], *(_height(r["roles"].get(role)) for role in ROLES)] for r in looks],
            "accuracy": looks[-1]["accuracy"] if looks else None,
            "roles": _with_since(looks),
        }
        self.alt = self._in_words(header)
        return header, b""

    def still_png(self) -> bytes | None:
        """The curves of the four role scores; None before the first look at the heads."""
        from mha_course.plots import lines

        looks = self.measured()
        if len(looks) < 2:
            return None
        names = ("previous word", "next word", "syntactic: above the best fixed distance", "rarest word")
        rows = {
            name: [max(0.0, _height(look["roles"].get(role)) or 0.0) for look in looks]
            for name, role in zip(names, ROLES, strict=True)
        }
        steps = [look["step"] for look in looks]
        note = f"Held-out half of {MEASURED_SENTENCES} sentences, the best head of each role."
        return lines(
            steps, rows, title="The roles while the model learns", x_label="step", share=True, note=note
        ).png()

    def _on_news(self) -> None:
        self.refresh(force=True)

    def _in_words(self, header: Mapping) -> str:
        told = f"Live training, {header['state']}: step {header['step']:,} of {self.steps:,}"
        if header["accuracy"]:
            right = ", ".join(f"{part} {header['accuracy'][part]:.2f}" for part in self.parts)
            told += f"; right answers: {right}"
        roles = ", ".join(f"{role} {found['score']:.2f}" for role, found in header["roles"].items())
        return told + (f"; best heads: {roles}." if roles else ".")

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """The live view; where there is no front end, a picture if there is one, and a sentence."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        data.setdefault("text/html", f"<p>{html.escape(self.alt)} A button in the notebook starts it.</p>")
        return data, metadata


def _height(found: Mapping[str, object] | None) -> float | None:
    """What the chart shows of a role: the score, of a relation what it is above the best fixed distance."""
    if found is None:
        return None
    return round(found["score"] - (found["baseline"] if ":" in found["name"] else 0.0), 4)


def _with_since(looks: Sequence[Mapping]) -> dict[str, dict[str, object]]:
    """The best heads now, each with the step and second since which its role has held."""
    if not looks:
        return {}
    now = {role: dict(found) for role, found in looks[-1]["roles"].items()}
    for role, found in now.items():
        found["since"] = None
        for look in reversed(looks):
            if not look["roles"].get(role, {}).get("passed"):
                break
            found["since"] = [look["step"], look["seconds"]]
    return now
