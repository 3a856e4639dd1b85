"""The papers' claims beside what our runs gave, as a table."""
import statistics

from .runs import SPARSITIES


class Results:
    """JSON of finished runs by name, in the order of their seeds."""

    def __init__(self):
        self.of = {}

    def add(self, run, report):
        self.of.setdefault(run.name, []).append(report)
        self.of[run.name].sort(key=lambda each: each["seed"])

    def finished(self, name):
        """Reports of the runs that came to their end."""
        return [report for report in self.of.get(name, []) if "diverged" not in report]

    def diverged(self, name):
        return len(self.finished(name)) < len(self.of.get(name, []))

    def accuracies(self, name):
        return [100 * report["val_accuracy"][-1] for report in self.finished(name)]

    def text(self, name):
        values = self.accuracies(name)
        if self.diverged(name):
            return f"{len(self.of[name]) - len(values)} of {len(self.of[name])} runs diverged"
        if not values:
            return "not run"
        spread = f" ({min(values):.2f} to {max(values):.2f}, {len(values)} seeds)" if len(values) > 1 else ""
        return f"{statistics.mean(values):.2f} %{spread}"

    def gap(self, name, base):
        """Points by which `name` is below `base`, in the mean of the seeds that both have; None where there is none."""
        accuracy = {report["seed"]: 100 * report["val_accuracy"][-1] for report in self.finished(name)}
        gaps = [100 * report["val_accuracy"][-1] - accuracy[report["seed"]]
                for report in self.finished(base) if report["seed"] in accuracy]
        return statistics.mean(gaps) if gaps else None

    def below(self, name, base):
        """`0.42 below fp32`, over the seeds that both have."""
        gap = self.gap(name, base)
        if gap is None:
            return "not run"
        seeds = len({each["seed"] for each in self.finished(name)} & {each["seed"] for each in self.finished(base)})
        of = f"{seeds} seeds" if seeds > 1 else "one seed"
        return f"{abs(gap):.2f} {'below' if gap > 0 else 'above'} `{base}` ({of})"

    def at_most_below(self, name, base, points):
        """Whether `name` is at most `points` below `base`; None where that is not known."""
        if self.diverged(name):
            return False
        gap = self.gap(name, base)
        return None if gap is None else gap <= points


def share_of_errors(results, name, rate, places):
    if not results.finished(name):
        return "not run"
    rows = [row for row in results.finished(name)[0]["conversions"] if row["tensors"] == "errors"]
    elements = sum(row["elements"] for row in rows)
    return f"{100 * sum(row[rate] * row['elements'] for row in rows) / elements:.{places}f} %"


def flushed(results, name):
    """Share of the errors that became zero in the quantizers."""
    return share_of_errors(results, name, "flushed_to_zero_rate", 1)


def saturated(results, name):
    """Share of the errors that were too large for their format."""
    return share_of_errors(results, name, "overflow_rate", 3)


def sparsity_apart(results, name):
    """How far the mean sparsity of each pruned layer in each epoch is from the target, and whether that is near enough."""
    apart = [(abs(share - target), layer, number)
             for report in results.finished(name)
             for number, epoch in enumerate(report["history"], 1)
             for layer, share, target in zip(report["pruned_layers"], epoch["sparsity"], epoch["target_sparsity"])]
    asked = "2 points in 80 %, 4 in all"
    if not apart:
        return "not run", asked, None
    near = sum(1 for each, _, _ in apart if each <= 0.02) / len(apart)
    worst, layer, epoch = max(apart)
    return (f"within 2 points in {100 * near:.0f} % of layers and epochs; the worst, {layer} in epoch {epoch}, is "
            f"{100 * worst:.1f} points away", asked, near >= 0.8 and worst <= 0.04)


def lognormal(results):
    gradients = [row for name in ("fp32", "fp8") for report in results.finished(name) for row in report["gradients"]]
    if not gradients:
        return "not run", None
    kinds = ("lognormal", "normal", "laplace")
    best = sum(1 for row in gradients if row["ks_lognormal"] < min(row["ks_normal"], row["ks_laplace"]))
    distances = ", ".join(f"{statistics.median(row['ks_' + kind] for row in gradients):.3f}" for kind in kinds)
    return (f"nearest in {best} of {len(gradients)} gradients of `fp32` and `fp8`; median KS distance of lognormal, normal, "
            f"Laplace: {distances}", best > len(gradients) / 2)


def stochastic_sums(results):
    """Whether SR gives more than RNE; None where that is not known."""
    if results.diverged("lenet-e6m5-sr") or results.diverged("lenet-e6m5-rne"):
        return not results.diverged("lenet-e6m5-sr")
    gain = results.gap("lenet-e6m5-rne", "lenet-e6m5-sr")
    return None if gain is None else gain > 0


def claims(results):
    """(claim, the figure elsewhere, ours, acceptance criterion, whether it holds or None where there is none)"""
    def against(name, base, points):
        ours = results.text(name)
        if results.finished(name) and results.finished(base):
            ours += f"; {results.below(name, base)}"
        return ours, f"at most {points} below", results.at_most_below(name, base, points)

    def shown(*parts):
        return "; ".join(parts), "", None

    baseline = results.accuracies("fp32")
    return [
        ("FP32 baseline", f"PyTorch, same network, same machine: {results.text('pytorch')}", results.text("fp32"),
         "at least 91.3 %", statistics.mean(baseline) >= 91.3 if baseline else None),
        ("FP8 trains like FP32 (Mellempudi)", "ResNet-50: 75.70 beside 75.47", *against("fp8", "fp32", 0.5)),
        ("... without loss scaling", "ResNet-20 of an independent check: 17.9 % instead of 91.1",
         *shown(results.text("fp8-unscaled"), f"{flushed(results, 'fp8-unscaled')} of the errors become zero, with the scale "
                f"{flushed(results, 'fp8')}")),
        ("... FP32 masters instead of FP16", "half the memory, same accuracy",
         f"{results.text('fp8-fp32-masters')}; with FP16 {results.below('fp8', 'fp8-fp32-masters')}",
         "FP16 at most 0.3 below", results.at_most_below("fp8", "fp8-fp32-masters", 0.3)),
        ("... gradients rounded to nearest", "generalises worse on large ResNets",
         *shown(results.text("fp8-rne"), f"without loss scaling {results.text('fp8-unscaled-rne')}, "
                f"{flushed(results, 'fp8-unscaled-rne')} of the errors become zero")),
        ("... first and last layer also in E5M2", "the authors keep them in FP32", *shown(results.text("fp8-all-layers"))),
        ("8-bit integers with Range BN (Banner)", "no loss on ImageNet", *against("int8-rangebn", "fp32", 0.7)),
        ("... Range BN in FP32", "as standard BN on ResNet-50", *against("fp32-rangebn", "fp32", 0.3)),
        ("... gradients rounded to nearest", "SR is indispensable", *shown(results.text("int8-rne"))),
        ("85 % of the errors pruned in all layers but the first and the last, 69 % of all (Chmiel)",
         "no loss on ImageNet, ResNet-18", *against("lognormal-sparse", "fp32", 0.5)),
        ("... by target sparsity", "",
         *shown(*(f"{share} %: {results.text(name)}" for share, name in SPARSITIES.items()))),
        ("... nothing pruned", "", *shown(results.text("unpruned"), "errors in the format that each layer's sigma suggests, as "
                                          f"above: {results.text('sparse-0')}, {saturated(results, 'sparse-0')} saturate")),
        ("... measured sparsity against target", "", *sparsity_apart(results, "lognormal-sparse")),
        ("... threshold from the fit alone, without the counters", "",
         *shown(results.text("sparse-fit-alone"), sparsity_apart(results, "sparse-fit-alone")[0])),
        ("... threshold from the magnitudes themselves and the counters", "",
         *shown(results.text("sparse-quantile"), sparsity_apart(results, "sparse-quantile")[0])),
        ("Neural gradients are near-lognormal", "yes", lognormal(results)[0], "nearest in most", lognormal(results)[1]),
        ("E6M5 sums, SR instead of RNE (LeNet, 2 epochs of 10,000 images)", "near the baseline with SR (Ben Ali et al. 2024)",
         f"FP32 sums {results.text('lenet-fp32-sums')}, SR {results.text('lenet-e6m5-sr')}, RNE "
         f"{results.text('lenet-e6m5-rne')}; FP16 in chunks of 64 {results.text('lenet-fp16-chunks')}",
         "SR above RNE", stochastic_sums(results)),
    ]


def table(results, epochs):
    word = {True: "holds", False: "**does not hold**", None: ""}
    lines = [f"ResNet-8 (8, 16, 32 channels) on Fashion-MNIST, batch 128, {epochs} epochs; validation accuracy after the last "
             "one, mean and range where there is more than one seed; differences in points, over the seeds that both have.", "",
             "| claim | elsewhere | here | acceptance criterion | |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(row[:4])} | {word[row[4]]} |" for row in claims(results)]
    return "\n".join(lines) + "\n"
