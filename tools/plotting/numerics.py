"""What the formats do to numbers: SQNR per tensor class and pass, gradients as distributions."""
import math

from matplotlib.ticker import MaxNLocator

from .style import (BLACK, BLUE, GREEN, ORANGE, PASSES, PASS_COLOURS, PASS_TITLES, PURPLE, SKY, VERMILION, is_product,
                    plt, shortened)

CLASSES = ("weights", "activations", "errors", "weight_gradients")
CLASS_COLOURS = dict(zip(CLASSES, (BLUE, SKY, ORANGE, GREEN)))
MOST_HISTOGRAMS = 12


def spread(count):
    """Places beside each other in a column of points, the same each time."""
    golden = (math.sqrt(5) - 1) / 2
    return [((i * golden) % 1 - 0.5) * 0.55 if count > 1 else 0 for i in range(count)]


def columns_of_points(panel, columns):
    """columns: (title, colour, values, how many are exact)."""
    for x, (_, colour, values, exact) in enumerate(columns):
        if values:
            panel.scatter([x + dx for dx in spread(len(values))], values, s=12, color=colour, alpha=0.7, linewidths=0)
            middle = sorted(values)[len(values) // 2]
            panel.plot([x - 0.33, x + 0.33], [middle, middle], color=BLACK, linewidth=1.3, solid_capstyle="butt")
        if exact:
            panel.annotate(f"{exact} exact", (x, 1), xycoords=("data", "axes fraction"), ha="center", va="top",
                           fontsize=7)
    panel.set_xticks(range(len(columns)), [column[0] for column in columns])
    panel.set_xlim(-0.6, len(columns) - 0.4)
    panel.yaxis.grid(True)
    panel.tick_params(axis="x", length=0)


def column(title, colour, records):
    values = [record["sqnr_db"] for record in records if record["sqnr_db"] is not None]
    return title, colour, values, sum(1 for record in records if record.get("exact"))


def sqnr_per_class(report):
    found = {tensor["class"] for tensor in report["tensors"]}
    classes = [name for name in CLASSES if name in found] + sorted(found - set(CLASSES))
    tensors = [column(shortened(name).replace("_", "\n"), CLASS_COLOURS.get(name, PURPLE),
                      [tensor for tensor in report["tensors"] if tensor["class"] == name]) for name in classes]
    results = [column(PASS_TITLES[name].replace(" ", "\n"), PASS_COLOURS[name],
                      [layer for layer in report["layers"] if layer["pass"] == name and is_product(layer)])
               for name in PASSES]
    norms = [layer for layer in report["layers"] if layer["kind"] == "batchnorm"]
    if norms:
        results.append(column("Batch\nnorm", PURPLE, norms))
    if not any(values or exact for _, _, values, exact in tensors + results):
        return None
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.0), gridspec_kw={"width_ratios": (max(len(tensors), 1), len(results))})
    columns_of_points(panels[0], tensors)
    columns_of_points(panels[1], results)
    panels[0].set_title("Quantized tensors against the recorded ones")
    panels[1].set_title("Results against FP64")
    for panel in panels:
        panel.set_ylabel("SQNR (dB)")
        panel.margins(y=0.15)
    figure.tight_layout(w_pad=2)
    return figure


def normal_share(low, high, mu, sigma):
    """Of a normal distribution between two edges."""
    def below(x):
        return 0.5 * (1 + math.erf((x - mu) / (sigma * math.sqrt(2))))
    return below(high) - below(low)


def chosen(gradients):
    """Spread evenly over layers and steps where there are too many."""
    usable = [gradient for gradient in gradients
              if gradient["histogram_share"] and gradient["histogram_width_log2"] and None not in gradient["histogram_share"]]
    if len(usable) <= MOST_HISTOGRAMS:
        return usable, len(usable)
    last = len(usable) - 1
    return [usable[round(i * last / (MOST_HISTOGRAMS - 1))] for i in range(MOST_HISTOGRAMS)], len(usable)


def draw_gradient(panel, gradient, several_steps):
    first, width = gradient["histogram_first_log2"], gradient["histogram_width_log2"]
    shares = gradient["histogram_share"]
    edges = [first + i * width for i in range(len(shares) + 1)]
    panel.stairs([share / width for share in shares], edges, fill=True, color=SKY, label="recorded")
    if gradient["sigma_ln"] and gradient["mu_ln"] is not None:
        mu, sigma = gradient["mu_ln"] / math.log(2), gradient["sigma_ln"] / math.log(2)
        fine = [edges[0] + (edges[-1] - edges[0]) * i / 240 for i in range(241)]
        middles = [(a + b) / 2 for a, b in zip(fine, fine[1:])]
        step = fine[1] - fine[0]
        panel.plot(middles, [normal_share(a, b, mu, sigma) / step for a, b in zip(fine, fine[1:])], color=VERMILION,
                   linewidth=1.1, label="lognormal fit")
        text = f"σ = {sigma:.1f}"
        if gradient["ks_lognormal"] is not None:
            text += f"\nKS = {gradient['ks_lognormal']:.3f}"
        panel.text(0.02, 0.98, text, transform=panel.transAxes, va="top", fontsize=6.5)
    if gradient["tau"]:
        panel.axvline(math.log2(gradient["tau"]), color=BLACK, linewidth=0.9, linestyle="--", label="pruning threshold")
    title = shortened(gradient["layer"], 16 if several_steps else 26)
    panel.set_title(f"{title}, step {gradient['step']}" if several_steps else title, fontsize=7.5)
    panel.set_ylim(bottom=0)
    panel.yaxis.set_major_locator(MaxNLocator(3))
    panel.tick_params(labelsize=6.5)


def gradient_histograms(report):
    gradients, available = chosen(report["gradients"])
    if not gradients:
        return None
    across = min(4, len(gradients))
    down = -(-len(gradients) // across)
    figure, panels = plt.subplots(down, across, figsize=(max(1.8 * across, 3.2), 1.4 * down + 0.45), squeeze=False,
                                  sharex=True, constrained_layout=True)
    several_steps = len({gradient["step"] for gradient in gradients}) > 1
    flat = [panel for row in panels for panel in row]
    for panel, gradient in zip(flat, gradients):
        draw_gradient(panel, gradient, several_steps)
    for panel in flat[len(gradients):]:
        panel.set_visible(False)
    for panel in flat[max(len(gradients) - across, 0):len(gradients)]:
        panel.tick_params(labelbottom=True)  # the lowest of its column
    figure.supxlabel(r"$\log_2|g|$", fontsize=8, parse_math=True)
    figure.supylabel("density per binade", fontsize=8)
    handles = {}
    for panel in flat[: len(gradients)]:
        for handle, label in zip(*panel.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    figure.legend(list(handles.values()), list(handles), loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3)
    if available > len(gradients):
        figure.text(1, -0.01, f"{len(gradients)} of {available} recorded gradients", ha="right", va="top", fontsize=7,
                    color="#555555")
    return figure
