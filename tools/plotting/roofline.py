"""The roofline: how fast each product ran, and how fast its share of the DRAM traffic lets it run at most."""
import math

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from .style import BLACK, PASSES, PASS_COLOURS, PASS_MARKERS, PASS_TITLES, plt, shortened, si

MOST_NAMES = 6
NAME_SIZE = 6.5
DENSER = 1.02  # dense-equivalent points that lie closer to the executed ones are left out


class Product:
    """One layer's pass, summed over the steps."""

    def __init__(self, layer, kind):
        self.layer, self.kind = layer, kind
        self.macs = self.dense_macs = self.bytes = self.cycles = 0

    def add(self, record):
        self.macs += record["macs"]
        self.dense_macs += record["macs"] + record["skipped_macs"]
        self.bytes += record["dram_bytes"]
        self.cycles += record["cycles"]

    def executed(self, clock):
        return self.macs / self.bytes, self.macs / self.cycles * clock

    def dense(self, clock):
        return self.dense_macs / self.bytes, self.dense_macs / self.cycles * clock


def products_of(report):
    products = {}
    for record in report["layers"]:
        if record["macs"] > 0 and record["dram_bytes"] > 0 and record["cycles"] > 0:
            key = record["layer"], record["pass"]
            products.setdefault(key, Product(*key)).add(record)
    return list(products.values())


def that_stand_out(products, clock, peak, bandwidth):
    """Those that lose most cycles to the roof; a product of a few cycles matters to nobody."""
    def lost(product):
        intensity, rate = product.executed(clock)
        roof = min(peak, bandwidth * intensity) if bandwidth else peak
        return product.cycles * (1 - min(rate / roof, 1))
    total = sum(product.cycles for product in products)
    chosen = sorted(products, key=lost, reverse=True)[:MOST_NAMES]
    return [product for product in chosen if lost(product) > 0.005 * total]


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


class Names:
    """Puts names beside points where there is room, in the order of their importance."""

    def __init__(self, panel, points):
        self.panel = panel
        self.scale = panel.figure.dpi / 72
        self.taken = [self._around(point, 3.5) for point in points]
        self.inside = panel.get_window_extent().extents

    def _around(self, point, radius):
        x, y = self.panel.transData.transform(point)
        return x - radius * self.scale, y - radius * self.scale, x + radius * self.scale, y + radius * self.scale

    def _box(self, point, offset, text):
        x, y = self.panel.transData.transform(point)
        width, height = len(text) * NAME_SIZE * 0.6 * self.scale, NAME_SIZE * 1.25 * self.scale
        left = x + offset[0] * self.scale - (width if offset[0] < 0 else 0)
        bottom = y + offset[1] * self.scale - height / 2
        return left, bottom, left + width, bottom + height

    def _collisions(self, box):
        outside = box[0] < self.inside[0] or box[1] < self.inside[1] or box[2] > self.inside[2] or box[3] > self.inside[3]
        return 100 * outside + sum(overlap(box, other) for other in self.taken)

    def close_to(self, one, other):
        return overlap(self._around(one, 4), self._around(other, 4))

    def add(self, point, text):
        places = [(side * radius, rise) for radius, rises in ((7, (0, 8, -8)), (14, (14, -14, 22, -22)), (26, (30, -30, 0, 40, -40)))
                  for rise in rises for side in (1, -1)]
        offset = min(places, key=lambda place: self._collisions(self._box(point, place, text)))
        self.taken.append(self._box(point, offset, text))
        far = math.hypot(*offset) > 10
        self.panel.annotate(text, point, xytext=offset, textcoords="offset points", fontsize=NAME_SIZE, va="center",
                            ha="right" if offset[0] < 0 else "left",
                            arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": "#777777", "shrinkA": 1, "shrinkB": 3}
                            if far else None)


def draw_roof(panel, peak, bandwidth, ridge, low, high):
    roof = [(low, min(peak, bandwidth * low) if bandwidth else peak), (ridge, peak), (high, peak)]
    panel.plot(*zip(*roof), color=BLACK, linewidth=1.2)
    readable = {"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.8, "linewidth": 0}
    panel.annotate(f"peak {si(float(f'{peak:.3g}'))}MAC/s", (high, peak), xytext=(-2, 5), textcoords="offset points",
                   ha="right", fontsize=7.5, bbox=readable, zorder=5)
    if bandwidth:
        middle = math.sqrt(low * ridge)
        panel.annotate(f"DRAM {si(float(f'{bandwidth:.3g}'))}B/s", (middle, bandwidth * middle), xytext=(-4, 4),
                       textcoords="offset points", ha="right", fontsize=7.5)
    return roof[0][1]


def draw_points(panel, products, clock):
    """Returns all points, and whether some are dense-equivalent."""
    points, denser = [], False
    for name in PASSES:
        of_pass = [product for product in products if product.kind == name]
        for product in of_pass:
            executed, dense = product.executed(clock), product.dense(clock)
            points.append(executed)
            if dense[1] > DENSER * executed[1]:
                denser = True
                points.append(dense)
                panel.plot(*zip(executed, dense), color=PASS_COLOURS[name], linewidth=0.5, alpha=0.4, zorder=2)
                panel.scatter(*zip(dense), s=20, marker=PASS_MARKERS[name], facecolors="white", linewidths=0.9,
                              edgecolors=PASS_COLOURS[name], zorder=3)
        if of_pass:
            panel.scatter(*zip(*(product.executed(clock) for product in of_pass)), s=22, marker=PASS_MARKERS[name],
                          color=PASS_COLOURS[name], linewidths=0.4, edgecolors="white", label=PASS_TITLES[name], zorder=4)
    return points, denser


def roofline(report):
    products = products_of(report)
    if not products:
        return None
    arch = report["arch"]
    clock = arch["clock_mhz"] * 1e6
    peak = clock * arch["rows"] * arch["cols"]
    bandwidth = (arch["peak_dram_bytes_per_cycle"] or 0) * clock
    figure, panel = plt.subplots(figsize=(7.2, 3.8))
    points, denser = draw_points(panel, products, clock)
    ridge = peak / bandwidth if bandwidth else min(x for x, _ in points)
    low, high = min([x for x, _ in points] + [ridge]) / 2, max([x for x, _ in points] + [ridge]) * 6
    lowest = draw_roof(panel, peak, bandwidth, ridge, low, high)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlim(low, high)
    panel.set_ylim(min([y for _, y in points] + [lowest]) / 2, max([peak] + [y for _, y in points]) * 2)
    panel.xaxis.set_major_formatter(FuncFormatter(si))
    panel.yaxis.set_major_formatter(FuncFormatter(si))
    panel.set_xlabel("operational intensity (MACs per DRAM byte)")
    panel.set_ylabel("MACs per second")
    panel.grid(True, which="major")
    handles, labels = panel.get_legend_handles_labels()
    if denser:
        handles.append(Line2D([], [], linestyle="none", marker="o", markersize=4.5, markerfacecolor="white",
                              markeredgecolor=BLACK, markeredgewidth=0.9))
        labels.append("dense-equivalent")
    panel.legend(handles, labels, loc="lower right", handletextpad=0.2)
    figure.tight_layout()
    names, named = Names(panel, points), []
    for product in that_stand_out(products, clock, peak, bandwidth):
        point = product.executed(clock)
        if any(layer == product.layer and names.close_to(point, other) for layer, other in named):
            continue  # one name for two passes in one place
        names.add(point, shortened(product.layer, 22))
        named.append((product.layer, point))
    return figure
