"""Stacked bars per layer, one panel per pass: energy by component, cycles by what they were spent on."""
from matplotlib.ticker import FuncFormatter

from .style import (BLUE, COMPONENTS, GREY, ORANGE, PASSES, PASS_TITLES, SKY, VERMILION, plt, prefix, shortened)


def layer_names(report):
    """In the order of the network, each once."""
    return list(dict.fromkeys(layer["layer"] for layer in report["layers"]))


def summed(report, figures_of):
    """{pass: {layer: {part: value}}}: sums over the steps. Not every machine has units that update weights."""
    sums = {name: {} for name in PASSES}
    for layer in report["layers"]:
        parts = sums.setdefault(layer["pass"], {}).setdefault(layer["layer"], {})
        for part, value in figures_of(layer).items():
            parts[part] = parts.get(part, 0) + (value or 0)
    return sums


def stacked_bars(report, sums, parts, colours, labels, unit, base, what):
    """Horizontal bars: names of layers stay readable, however many there are."""
    layers = layer_names(report)
    if not layers:
        return None
    largest = max((sum(values.values()) for of in sums.values() for values in of.values()), default=0)
    factor, shown_unit = prefix(largest or 1, unit, base)
    row, size = (0.24, 7.5) if len(layers) <= 24 else (0.15, 6)
    height = max(1.3, row * len(layers)) + 0.9
    figure, panels = plt.subplots(1, len(sums), figsize=(7.2, height), sharey=True, sharex=True)
    positions = range(len(layers))
    for panel, name in zip(panels, sums):
        left = [0.0] * len(layers)
        for part in parts:
            widths = [sums[name].get(layer, {}).get(part, 0) * factor for layer in layers]
            panel.barh(positions, widths, 0.76, left=left, color=colours[part], linewidth=0, label=labels[part])
            left = [a + b for a, b in zip(left, widths)]
        panel.set_title(PASS_TITLES[name])
        panel.set_xlabel(f"{what} ({shown_unit})" if unit else what)
        if not unit:  # a bare number has its prefix on the axis
            panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g} {shown_unit}" if x else "0"))
        panel.xaxis.grid(True)
        panel.tick_params(axis="y", length=0)
    panels[0].set_yticks(list(positions), [shortened(layer) for layer in layers], fontsize=size)
    panels[0].set_ylim(len(layers) - 0.4, -0.6)
    handles, names = panels[0].get_legend_handles_labels()
    figure.tight_layout(w_pad=1.2)
    figure.legend(handles, names, loc="lower center", ncol=min(len(parts), 6), bbox_to_anchor=(0.5, 1.0),
                  handlelength=1, handleheight=0.9, columnspacing=1.4)
    return figure


def energy_per_layer(report):
    sums = summed(report, lambda layer: layer.get("energy_pj", {}))
    found = {part for of in sums.values() for values in of.values() for part, pj in values.items() if pj > 0}
    if not found or any(layer.get("energy_total_pj") is None for layer in report["layers"]):
        return None  # bars of parts would pass for the whole
    parts = [part for part in COMPONENTS if part in found] + sorted(found - set(COMPONENTS))
    colours = {part: COMPONENTS.get(part, GREY) for part in parts}
    figure = stacked_bars(report, sums, parts, colours, {part: shortened(part) for part in parts}, "J", 1e-12, "energy")
    if figure is not None:
        figure.text(0.0, -0.01, f"Priced by the table {shortened(report['tables'][0]['name'])}.", fontsize=7,
                    color="#555555", va="top")
    return figure


def cycles_per_layer(report):
    parts = ("compute_cycles", "stall_load_cycles", "stall_write_back_cycles", "stall_drain_cycles")
    colours = dict(zip(parts, (BLUE, ORANGE, VERMILION, SKY)))
    labels = dict(zip(parts, ("compute", "stall: load", "stall: write-back", "stall: drain")))
    sums = summed(report, lambda layer: {part: layer[part] for part in parts})
    return stacked_bars(report, sums, parts, colours, labels, "", 1, "cycles")
