"""The figures of a replay. Each function takes the report and gives a figure, or None where there is nothing."""
from .bars import cycles_per_layer, energy_per_layer
from .numerics import gradient_histograms, sqnr_per_class
from .roofline import roofline
from .speed import speedup_over_sparsity
from .style import SETTINGS, plt, save
from .timeline import timeline

FIGURES = (
    ("energy", energy_per_layer, "Energy per layer and pass, by component."),
    ("cycles", cycles_per_layer, "Cycles per layer and pass: computing, and stalls by cause."),
    ("timeline", timeline, "The longest product, or the one that was asked for, cycle by cycle: the array, and what goes on "
                           "beside it."),
    ("roofline", roofline, "Multiply-accumulates per second against the machine's roof: executed ones, and joined to them "
                           "what a machine without skipping would have to do in the same time. Named are the products that "
                           "lose most time to the roof."),
    ("sqnr", sqnr_per_class, "Signal to quantization noise: tensors on their way into the array, and results."),
    ("gradients", gradient_histograms, "Neural gradients as recorded, and the lognormal distribution fitted to them."),
    ("speedup", speedup_over_sparsity, "Speed-up of training by skipping zero gradients, and its bound."),
)


def draw_all(report, directory):
    """Saves every figure; returns (name, caption, path of the PNG) of each."""
    drawn = []
    with plt.rc_context(SETTINGS):
        for name, make, caption in FIGURES:
            figure = make(report)
            if figure is not None:
                drawn.append((name, caption, save(figure, directory, name)))
    return drawn
