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

    def at_most_below(self, name, base, points):
        """Whether `name` is at most so many points below `base`; None where that is not known."""
        if self.diverged(name):
            return False
        gap = self.gap(name, base)
        return None if gap is None else gap <= points


def flushed(results, name):
    """Share of the errors that became zero in the quantizers."""
    if not results.finished(name):
        return "not run"
    rows = [row for row in results.finished(name)[0]["conversions"] if row["tensors"] == "errors"]
    elements = sum(row["elements"] for row in rows)
    return f"{100 * sum(row['flushed_to_zero_rate'] * row['elements'] for row in rows) / elements:.1f} %"


def sparsity_apart(results, name):
    """How far the mean sparsity of each pruned layer in each epoch is from the target, and whether that is near enough."""
    apart = [(abs(share - target), layer, number)
             for report in results.finished(name)
             for number, epoch in enumerate(report["history"], 1)
             for layer, share, target in zip(report["pruned_layers"], epoch["sparsity"], epoch["target_sparsity"])]
    if not apart:
        return "not run", None
    near = sum(1 for each, _, _ in apart if each <= 0.02) / len(apart)
    worst, layer, epoch = max(apart)
    return (f"within 2 points in {100 * near:.0f} % of layers and epochs; the worst, {layer} in epoch {epoch}, is "
            f"{100 * worst:.1f} points away", near >= 0.8 and worst <= 0.04)


def lognormal(results):
    gradients = [row for name in ("fp32", "fp8") for report in results.finished(name) for row in report["gradients"]]
    if not gradients:
        return "not run", None
    best = sum(1 for row in gradients if row["ks_lognormal"] < min(row["ks_normal"], row["ks_laplace"]))
    return (f"nearest of lognormal, normal and Laplace in {best} of {len(gradients)} gradients of `fp32` and `fp8`",
            best > len(gradients) / 2)


def claims(results):
    """(claim, the figure elsewhere, ours, whether it holds or None where nothing is promised)"""
    def beside(name):
        return f"{results.text(name)} beside {results.text('fp32')}"

    def below(name, base, points):
        return results.at_most_below(name, base, points)

    baseline = results.accuracies("fp32")
    sr_gain = results.gap("lenet-e6m5-rne", "lenet-e6m5-sr")
    return [
        ("FP32 baseline", f"PyTorch, same network, here: {results.text('pytorch')}", results.text("fp32"),
         statistics.mean(baseline) >= 91.3 if baseline else None),
        ("FP8 trains like FP32 (Mellempudi)", "ResNet-50: 75.70 beside 75.47", beside("fp8"), below("fp8", "fp32", 0.5)),
        ("... without loss scaling", "ResNet-20 of an independent check: 17.9 % instead of 91.1",
         f"{results.text('fp8-unscaled')}; {flushed(results, 'fp8-unscaled')} of the errors become zero, with the scale "
         f"{flushed(results, 'fp8')}", None),
        ("... FP16 masters cost nothing", "half the memory, same accuracy",
         f"FP32 masters: {results.text('fp8-fp32-masters')}", below("fp8", "fp8-fp32-masters", 0.3)),
        ("... gradients rounded to nearest instead", "generalises worse on large ResNets", results.text("fp8-rne"), None),
        ("... first and last layer in E5M2, too", "the authors keep them in FP32", results.text("fp8-all-layers"), None),
        ("8-bit integers with Range BN (Banner)", "no loss on ImageNet", beside("int8-rangebn"),
         below("int8-rangebn", "fp32", 0.7)),
        ("... Range BN in FP32", "as standard BN on ResNet-50", beside("fp32-rangebn"), below("fp32-rangebn", "fp32", 0.3)),
        ("... gradients rounded to nearest instead", "SR is indispensable", results.text("int8-rne"), None),
        ("85 % of neural gradients pruned (Chmiel)", "no loss on ImageNet, ResNet-18", beside("lognormal-sparse"),
         below("lognormal-sparse", "fp32", 0.5)),
        ("... by target sparsity", "", "; ".join(f"{share} %: {results.text(name)}" for share, name in {0: "sparse-0", **SPARSITIES}.items()), None),
        ("... measured sparsity against target", "", *sparsity_apart(results, "lognormal-sparse")),
        ("... threshold from the fit alone, without the counters", "",
         f"{results.text('sparse-fit-alone')}; {sparsity_apart(results, 'sparse-fit-alone')[0]}", None),
        ("... threshold from the magnitudes themselves and the counters", "",
         f"{results.text('sparse-quantile')}; {sparsity_apart(results, 'sparse-quantile')[0]}", None),
        ("Neural gradients are near-lognormal", "yes", *lognormal(results)),
        ("E6M5 sums, SR instead of RNE (LeNet, 2 epochs of 10,000 images)", "near the baseline with SR (Ben Ali et al. 2024)",
         f"FP32 sums {results.text('lenet-fp32-sums')}, SR {results.text('lenet-e6m5-sr')}, RNE "
         f"{results.text('lenet-e6m5-rne')}; FP16 in chunks of 64 {results.text('lenet-fp16-chunks')}", None if sr_gain is None else sr_gain > 0),
    ]


def table(results, epochs):
    word = {True: "holds", False: "**does not hold**", None: ""}
    lines = [f"ResNet-8 (8, 16, 32 channels) on Fashion-MNIST, batch 128, {epochs} epochs; validation accuracy after the last "
             "one, mean and range where there is more than one seed.", "",
             "| claim | elsewhere | here | |", "|---|---|---|---|"]
    lines += [f"| {claim} | {paper} | {ours} | {word[holds]} |" for claim, paper, ours, holds in claims(results)]
    return "\n".join(lines) + "\n"
