"""How all figures look: Okabe and Ito's colours, small sans-serif type, no frames, the same bytes each time."""
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Okabe & Ito (2008), told apart by colour-blind readers, and a grey.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE, GREY = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#999999",
)

PASSES = ("forward", "input_gradient", "weight_gradient")
PASS_TITLES = {"forward": "Forward", "input_gradient": "Input gradient", "weight_gradient": "Weight gradient",
               "update": "Update"}
PASS_COLOURS = {"forward": BLUE, "input_gradient": ORANGE, "weight_gradient": GREEN}
PASS_MARKERS = {"forward": "o", "input_gradient": "s", "weight_gradient": "^"}

# From the arithmetic out to the memory, so that equal things stack in equal places.
COMPONENTS = {
    "multiply": VERMILION, "accumulate": ORANGE, "staging": YELLOW, "quantize": PURPLE, "random": BLACK,
    "prune": GREY, "norm": GREEN, "sram": SKY, "dram": BLUE,
}

SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.linewidth": 0.7,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 180,
    "svg.hashsalt": "mantissa",
    "text.parse_math": False,  # a name with $ in it is a name; our own formulas ask for it
}


def save(figure, directory, name):
    """PNG and SVG without a date, each in place when it is complete; returns the path of the PNG."""
    for form, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
        path = f"{directory}/{name}.{form}"
        figure.savefig(path + ".draft", format=form, metadata=metadata, bbox_inches="tight", pad_inches=0.08)
        os.replace(path + ".draft", path)
    plt.close(figure)
    return f"{directory}/{name}.png"


def is_product(layer):
    """Batch norms and updates have no M, N, K."""
    return layer["M"] > 0


def si(value, _=None):
    """A number with a prefix, as tick labels have it."""
    for factor, letter in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:g} {letter}"
    return f"{value:g}"


def shortened(name, width=26):
    """The middle of a long name gives way. A space goes before an underscore: such labels would not be in a legend."""
    if len(name) > width:
        head = (width - 1) // 3
        name = name[:head] + "…" + name[len(name) - (width - 1 - head):]
    return " " + name if name.startswith("_") else name


def prefix(largest, unit, base=1.0):
    """Factor and unit in which `largest` has few digits; `base` is the value's own unit."""
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"),
                           (1e-9, "n"), (1e-12, "p")):
        if largest * base >= factor:
            return base / factor, letter + unit
    return base, unit
