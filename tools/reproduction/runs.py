"""Which training runs the papers' claims need."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
CONFIGS = os.path.join(ROOT, "sim", "configs")


def shipped(kind, name):
    with open(os.path.join(CONFIGS, kind, name + ".yaml"), encoding="utf-8") as file:
        return file.read()


class Run:
    """One training run: a shipped recipe, perhaps with lines replaced, on one network, or that network in PyTorch; seeds are
    the caller's."""

    def __init__(self, name, recipe, changes=(), net="resnet8", epochs=None, images=0, torch=False):
        self.name, self.recipe, self.changes = name, recipe, dict(changes)
        self.net, self.epochs, self.images, self.torch = net, epochs, images, torch

    def recipe_text(self):
        """The shipped recipe under this run's name, with top-level keys replaced, added, or left out (None)."""
        text = shipped("recipes", self.recipe)
        for key, value in {**self.changes, "name": self.name}.items():
            line = "" if value is None else f"{key}: {value}\n"
            text, found = re.subn(rf"^{key}:.*\n", lambda _, line=line: line, text, flags=re.M)
            if not found:
                text += line
        return text


def pruned_to(share, feedback="true", threshold="lognormal"):
    return (f"{{sparsity: {share}, max_sparsity: {max(0.95, share)}, random_bits: 16, refresh_steps: 100, "
            f"choose_format: true, feedback: {feedback}, threshold: {threshold}}}")


def e6m5(rounding):
    return f'{{kind: plain, format: e6m5, rounding: "{rounding}"}}'


NEAREST = {"errors": "{format: e5m2, rounding: rne}", "weight_gradients": "{format: e5m2, rounding: rne}"}
ALL_LAYERS = {"exempt_first": "false", "exempt_last": "false"}
SMALL = {"net": "lenet", "epochs": 2, "images": 10000}
HEADLINE = [Run(name, name) for name in ("fp32", "fp8", "int8-rangebn", "lognormal-sparse")]
SPARSITIES = {50: "sparse-50", 70: "sparse-70", 85: "lognormal-sparse", 90: "sparse-90", 95: "sparse-95"}
SINGLE = [
    Run("fp32-rangebn", "fp32", {"norm": "{kind: range, precision: fp32, constant: reference, chunks: 16}"}),
    Run("fp8-unscaled", "fp8", {"loss_scale": "{kind: none}"}),
    Run("fp8-fp32-masters", "fp8", {"master_weights": "{format: fp32, rounding: rne}"}),
    Run("fp8-rne", "fp8", NEAREST),
    Run("int8-rne", "int8-rangebn", {
        "errors": "{bits: 8, rounding: rne, exact_zero: true}",
        "norm": "{kind: range, precision: int8, constant: reference, chunks: 16, gradient_rounding: rne}"}),
    *[Run(name, "lognormal-sparse", {"pruning": pruned_to(percent / 100)})
      for percent, name in SPARSITIES.items() if name != "lognormal-sparse"],
    Run("sparse-quantile", "lognormal-sparse", {"pruning": pruned_to(0.85, threshold="quantile")}),
    *[Run("lenet-" + name, "fp8", {**ALL_LAYERS, "accumulator": accumulator}, **SMALL) for name, accumulator in (
        ("fp32-sums", "{kind: plain, format: fp32, rounding: rne}"), ("e6m5-rne", e6m5("rne")), ("e6m5-sr", e6m5("sr:13")),
        ("fp16-chunks", '{kind: "chunk:64", format: fp16, rounding: rne}'))],
    Run("fp8-all-layers", "fp8", ALL_LAYERS),
    Run("sparse-fit-alone", "lognormal-sparse", {"pruning": pruned_to(0.85, feedback="false")}),
    Run("fp8-unscaled-rne", "fp8", {**NEAREST, "loss_scale": "{kind: none}"}),
    Run("unpruned", "lognormal-sparse", {"pruning": None}),
    Run("sparse-0", "lognormal-sparse", {"pruning": pruned_to(0.0, feedback="false")}),
    Run("pytorch", "fp32", torch=True),
]


def plan(seeds, only=""):
    """(run, seed), what matters most first."""
    pairs = [(run, seed) for seed in range(1, seeds + 1) for run in HEADLINE]
    pairs += [(run, 1) for run in SINGLE]
    return [(run, seed) for run, seed in pairs if only in run.name]
