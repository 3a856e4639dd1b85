"""The speed-up of training by skipping zeros beside its bound."""
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from .style import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION, is_product, plt

DEPTH_COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, BLACK)
DEPTH_MARKERS = ("o", "s", "^", "D", "v", "P")


def ideal(sparsity):
    """Training speed-up if a MAC on a zero gradient cost nothing; two of three passes have gradients."""
    return 3 / (1 + 2 * (1 - sparsity))


def training_points(report):
    """{step: [(zeros of the gradients, dense cycles over cycles)]} of the layers with products in a gradient pass."""
    sums = {}
    for layer in report["layers"]:
        if not is_product(layer):
            continue
        entry = sums.setdefault((layer["step"], layer["layer"]), [0.0, 0, 0, 0])
        entry[0] += layer["dense_cycles"]
        entry[1] += layer["cycles"]
        if layer["pass"] != "forward":
            macs = layer["macs"] + layer["skipped_macs"]
            entry[2] += (layer["operand_sparsity"] or 0) * macs
            entry[3] += macs
    points = {}
    for (step, _), (dense, cycles, zeros, macs) in sums.items():
        if cycles > 0 and macs > 0:
            points.setdefault(step, []).append((zeros / macs, dense / cycles))
    return points


def speedup_over_sparsity(report):
    points = training_points(report)
    staging = report["staging"]
    if not points and not staging:
        return None
    figure, panels = plt.subplots(1, 2 if staging else 1, figsize=(7.2 if staging else 4, 3.0), squeeze=False)
    panel = panels[0][0]
    grid = [i / 200 for i in range(201)]
    panel.plot(grid, [ideal(s) for s in grid], color=BLACK, linewidth=1.2, label="bound 3/(1 + 2(1 − S))")
    steps = sorted(points)
    for i, step in enumerate(steps):
        shown = {"color": DEPTH_COLOURS[i], "marker": DEPTH_MARKERS[i]} if len(steps) <= len(DEPTH_COLOURS) else {
            "color": BLUE, "marker": "o"}
        label = f"layers, step {step}" if len(steps) <= len(DEPTH_COLOURS) else ("layers" if i == 0 else None)
        panel.scatter(*zip(*points[step]), s=20, alpha=0.85, linewidths=0.4, edgecolors="white", zorder=3, label=label,
                      **shown)
    total = report["totals"]
    if total["gradient_sparsity"] is not None and total["speedup"] is not None:
        panel.scatter([total["gradient_sparsity"]], [total["speedup"]], s=70, marker="*", color=VERMILION, zorder=4,
                      linewidths=0.4, edgecolors="white", label="whole run, with batch norms")
    panel.set_xlim(0, 1)
    panel.set_ylim(0.9, 3.1)
    top = max((y for of in points.values() for _, y in of), default=1)
    if top > 3:
        panel.set_ylim(0.9, top * 1.05)
    panel.set_xlabel("share S of zero gradients")
    panel.set_ylabel("speed-up of training over dense")
    panel.set_title("With memory")
    panel.grid(True)
    panel.legend(loc="upper left", handletextpad=0.4)
    if staging:
        draw_staging(panels[0][1], staging)
    figure.tight_layout(w_pad=2)
    return figure


def draw_staging(panel, staging):
    ports = sorted({point["port"] for point in staging})
    for i, depth in enumerate(sorted({point["depth"] for point in staging})):
        line = sorted((point["port"], point["speedup"]) for point in staging
                      if point["depth"] == depth and point["speedup"] is not None)
        if line:
            panel.plot(*zip(*line), color=DEPTH_COLOURS[i % 6], marker=DEPTH_MARKERS[i % 6], markersize=4, linewidth=1.2,
                       label=f"Depth {depth}")
    bound, zeros = staging[0]["ideal_speedup"], staging[0]["gradient_sparsity"]
    panel.set_xscale("log", base=2)
    if bound is not None:
        panel.axhline(bound, color=BLACK, linewidth=1.2)
        panel.annotate(f"bound at S = {100 * zeros:.0f} %", (ports[0], bound), xytext=(0, 3),
                       textcoords="offset points", fontsize=7.5)
    panel.xaxis.set_major_locator(FixedLocator(ports))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_locator(NullLocator())
    highest = max([point["speedup"] or 1 for point in staging] + [bound or 1])
    panel.set_ylim(0.9, highest * 1.12)
    panel.set_xlabel("Port (k-slices of B staged per cycle)")
    panel.set_ylabel("speed-up of training over dense")
    panel.set_title("Without memory, by staging")
    panel.grid(True)
    panel.legend(loc="lower right")


