"""What array and memory do in one product, side by side in time."""
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from .style import BLUE, ORANGE, PASS_TITLES, SKY, VERMILION, plt, shortened, si

FEWEST_STEPS, MOST_STEPS = 16, 64
FEWEST_WRITE_BACKS = 3
# What goes on, from DRAM to DRAM; a wait of the array has the colour of what it waits for.
ROWS = (("load", "load", ORANGE), ("compute", "array", BLUE), ("drain", "drain", SKY), ("write_back", "write-back", VERMILION))
COLOURS = {key: colour for key, _, colour in ROWS}
WAITS = (("stall_load", "load"), ("stall_drain", "drain"), ("stall_write_back", "write_back"))


def window_end(timeline):
    """A few steps, and so many more that some results are written back; the whole, if it is not much more."""
    starts, shown = timeline["step_starts"], timeline["shown_cycles"]
    written = timeline["write_back"][:FEWEST_WRITE_BACKS]

    def start_of(step):
        return starts[step] if step < len(starts) else shown
    end = start_of(FEWEST_STEPS)
    if len(written) == FEWEST_WRITE_BACKS:
        end = max(end, written[-1][1])
    end = min(end, start_of(MOST_STEPS))
    return shown if shown < 1.2 * end else end


def bars(intervals, end):
    return [(begin, min(stop, end) - begin) for begin, stop in intervals if begin < end]


def record_of(report):
    timeline = report["timeline"]
    return next((layer for layer in report["layers"]
                 if all(layer[key] == timeline[key] for key in ("step", "layer", "pass"))), None)


def share(record, key):
    return f"{100 * record[key + '_cycles'] / record['cycles']:.1f} %" if record["cycles"] else "–"


def legend_of(record):
    """With shares of the whole product's cycles, whatever the window shows."""
    handles = [Patch(color=BLUE)]
    labels = [f"compute {share(record, 'compute')}"]
    for stall, cause in WAITS:
        handles.append(Patch(facecolor=COLOURS[cause], alpha=0.45, hatch="////", edgecolor="white", linewidth=0))
        labels.append(f"array waits for {cause.replace('_', '-')} {share(record, stall)}")
    return handles, labels


def timeline(report):
    found = report["timeline"]
    if found is None or not found["shown_cycles"]:
        return None
    record, end = record_of(report), window_end(found)
    if record is None:
        return None
    figure, panel = plt.subplots(figsize=(7.2, 2.3))
    for place, (key, _, colour) in enumerate(ROWS):
        panel.broken_barh(bars(found[key], end), (place - 0.36, 0.72), facecolors=colour, linewidth=0)
    for stall, cause in WAITS:
        panel.broken_barh(bars(found[stall], end), (1 - 0.36, 0.72), facecolors=COLOURS[cause], alpha=0.45, hatch="////",
                          edgecolor="white", linewidth=0)
    steps = [start for start in found["step_starts"] if start < end]
    panel.vlines(steps, 1 - 0.46, 1 - 0.36, color="#333333", linewidth=0.8)
    panel.set_yticks(range(len(ROWS)), [title for _, title, _ in ROWS])
    panel.set_ylim(len(ROWS) - 0.4, -0.6)
    panel.set_xlim(0, end)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    panel.xaxis.set_major_formatter(FuncFormatter(si))
    panel.xaxis.grid(True)
    whole = "" if end >= found["cycles"] else f" of {si(float(format(found['cycles'], '.3g')))}"
    parts = "the whole product" if not whole else f"the first {len(steps)} of {found['memory_steps']} steps"
    panel.set_xlabel(f"cycles{whole}: {parts}; ticks above the array are steps")
    panel.set_title(f"{shortened(found['layer'], 34)}, {PASS_TITLES[found['pass']].lower()} (mapping: {found['mapping']})", fontsize=8)
    figure.tight_layout()
    handles, labels = legend_of(record)
    figure.legend(handles, labels, loc="lower center", ncol=4, bbox_to_anchor=(0.5, 1.0), handlelength=1.2, handleheight=0.9,
                  columnspacing=1.2, fontsize=7)
    return figure
