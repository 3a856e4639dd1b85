"""Figures of training runs, from the JSON of `mantissa train`."""
from .style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, plt, shortened

LAYER_COLOURS = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, BLACK, GREY)


def epochs_of(report):
    return range(1, len(report["history"]) + 1)


def _loss(axes, report):
    for key, colour, label in (("train_loss", GREY, "training"), ("val_loss", BLUE, "validation")):
        axes.plot(epochs_of(report), [epoch[key] for epoch in report["history"]], color=colour, linewidth=1, label=label)
    axes.set(ylabel="cross-entropy per image", title="Loss")
    axes.legend()


def _accuracy(axes, report):
    for key, colour, label in (("train_accuracy", GREY, "training"), ("val_accuracy", BLUE, "validation")):
        axes.plot(epochs_of(report), [100 * epoch[key] for epoch in report["history"]], color=colour, linewidth=1,
                  label=label)
    axes.set(ylabel="images recognised (%)", title="Accuracy")
    axes.legend()


def _loss_scale(axes, report):
    """Where it changed, by step; as a scale of epochs like the others."""
    steps = sum(epoch["steps"] for epoch in report["history"]) / len(report["history"])
    changes = report["loss_scale_exponents"]
    places = [change["step"] / steps for change in changes] + [len(report["history"])]
    exponents = [change["exponent"] for change in changes]
    axes.step(places, exponents + exponents[-1:], where="post", color=ORANGE, linewidth=1)
    axes.set(ylabel="log2 of the loss scale", title="Loss scale")
    axes.set_ylim(min(exponents) - 1, max(exponents) + 1)
    axes.yaxis.get_major_locator().set_params(integer=True)


def _sparsity(axes, report):
    rows = [(number, epoch["sparsity"]) for number, epoch in zip(epochs_of(report), report["history"]) if "sparsity" in epoch]
    targets = [epoch["target_sparsity"] for epoch in report["history"] if "sparsity" in epoch]
    for index, layer in enumerate(report["pruned_layers"]):
        axes.plot([number for number, _ in rows], [100 * shares[index] for _, shares in rows], linewidth=1,
                  linestyle="-" if index < len(LAYER_COLOURS) else "--",
                  color=LAYER_COLOURS[index % len(LAYER_COLOURS)], label=shortened(layer))
    axes.plot([number for number, _ in rows], [100 * sum(each) / len(each) for each in targets], color=BLACK, linewidth=0.7, linestyle=":")
    axes.set(ylabel="zeros in pruned errors (%)", title="Measured sparsity, dotted: target")
    axes.legend(fontsize=6, ncol=2)


def curves(report):
    """One run, epoch by epoch; None where no epoch was finished."""
    if not report["history"]:
        return None
    panels = [_loss, _accuracy]
    if report["loss_scale_exponents"]:
        panels.append(_loss_scale)
    if report.get("pruned_layers") and "sparsity" in report["history"][-1]:
        panels.append(_sparsity)
    figure, grid = plt.subplots(1, len(panels), figsize=(2.9 * len(panels), 2.6), squeeze=False)
    for axes, draw in zip(grid[0], panels):
        draw(axes, report)
        axes.set_xlabel("epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(axis="y")
    figure.suptitle(f"{shortened(report['network'])}, recipe {shortened(report['recipe'])}, seed {report['seed']}", x=0.01, ha="left", fontsize=9)
    figure.tight_layout(w_pad=1.5)
    return figure


def accuracy_of_recipes(reports_of, title):
    """Validation accuracy by epoch; reports_of: {recipe: [report, one per seed]}."""
    figure, axes = plt.subplots(figsize=(4.6, 3))
    for (name, reports), colour in zip(reports_of.items(), (BLACK, BLUE, VERMILION, GREEN, ORANGE, PURPLE)):
        for index, report in enumerate(reports):
            axes.plot(epochs_of(report), [100 * value for value in report["val_accuracy"]], color=colour, linewidth=1,
                      alpha=1 if index == 0 else 0.4, label=name if index == 0 else None)
    axes.set(xlabel="epoch", ylabel="validation accuracy (%)", title=title)
    axes.grid(axis="y")
    axes.legend(loc="lower right")
    return figure


def accuracy_over_sparsity(points, baseline, title):
    """points: [(share of zeros aimed at, accuracies of the seeds)], both in percent; baseline: accuracies without pruning."""
    figure, axes = plt.subplots(figsize=(4.6, 3))
    for value in baseline:
        axes.axhline(value, color=GREY, linewidth=0.7, label="not pruned" if value == baseline[0] else None)
    axes.plot([share for share, _ in points], [sum(values) / len(values) for _, values in points], color=GREEN, linewidth=1)
    for share, values in points:
        axes.plot([share] * len(values), values, color=GREEN, marker="o", markersize=3.5, linestyle="none")
    axes.set(xlabel="zeros aimed at (% of the errors)", ylabel="validation accuracy (%)", title=title)
    axes.grid(axis="y")
    if baseline:
        axes.legend(loc="lower left")
    return figure
