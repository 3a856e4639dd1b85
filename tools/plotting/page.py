"""report.html: summary, plots and tables in one file that asks nobody for anything."""
import base64
import hashlib
import html
import os

PASSES = (("forward", "Forward"), ("input_gradient", "Input gradient"), ("weight_gradient", "Weight gradient"),
          ("update", "Update"))
HERE = os.path.dirname(os.path.realpath(__file__))


def esc(text):
    """Text as HTML, in an element or in quotes. Whatever comes from the report goes through here."""
    return html.escape(str(text))


def policy(style, script):
    """The browser is told to refuse what the page does not bring itself, and scripts other than ours."""
    def allowed(text):
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii") + "'"
    return f"default-src 'none'; img-src data:; style-src {allowed(style)}; script-src {allowed(script)}"


def digits(value, places):
    return "–" if value is None else f"{value:.{places}f}"


def scaled(value, unit, base=1.0):
    """Three significant digits with a prefix."""
    if value is None:
        return "–"
    size = abs(value) * base
    steps = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"),
             (1e-12, "p"))
    small = 1e-12 if unit in ("J", "s") else 1
    for factor, letter in steps:
        if size >= factor * 0.9995 and factor >= small:
            shown = value * base / factor
            if not unit and factor == 1 and shown == int(shown):
                return f"{int(shown)}"
            places = 0 if abs(shown) >= 99.95 else 1 if abs(shown) >= 9.995 else 2
            return f"{shown:.{places}f} {letter}{unit}".rstrip()
    return f"0 {unit}".rstrip() if size == 0 else f"{value:.2g} {unit}".rstrip()


def percent(value):
    return "–" if value is None else f"{100 * value:.1f} %"


def sqnr(record, key="sqnr_db", exact="exact"):
    return "exact" if record.get(exact) else digits(record[key], 1)


def cell(shown, value=None, text=False):
    if text:
        return f'<td class="text">{esc(shown)}</td>'
    return f'<td data-value="{"" if value is None else esc(repr(value))}">{esc(shown)}</td>'


def head(title, text, meaning=""):
    kind = " class=text" if text else ""
    hint = f' title="{esc(meaning)}"' if meaning else ""
    return f'<th scope="col"{kind}{hint}><button type="button">{esc(title)}</button></th>'


def table(columns, rows):
    """columns: what head() takes; rows: lists of cells."""
    heads = "".join(head(*column) for column in columns)
    body = "\n".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return (f'<div class="scroll tall"><table class="sortable"><thead><tr>{heads}</tr></thead>\n'
            f"<tbody>\n{body}\n</tbody></table></div>")


def shown(column, value):
    """A figure as its unit and its decimals say."""
    if column["decimals"]:
        return digits(value, column["decimals"])
    if column["unit"] == "%":
        return percent(value)
    return scaled(value, column["unit"] if column["unit"] in ("B", "J", "s") else "", 1e-12 if column["unit"] == "J" else 1)


def is_product(layer):
    """Batch norms and updates have no M, N, K."""
    return layer["M"] > 0


def figure_cell(column, layer):
    value = layer.get(column["key"])
    if column["share_of"]:
        whole = sum(layer[key] for key in column["share_of"])
        value = value / whole if whole else None
        return cell(percent(value), value)
    if column["products_only"] and not is_product(layer):
        return cell("–", value if isinstance(value, int) else None)  # none is a number to sort by, too
    if column["exact"]:
        return cell(sqnr(layer, column["key"], column["exact"]), 1e300 if layer[column["exact"]] else value)
    return cell(shown(column, value), value)


def shape_of(layer):
    if "channels" in layer:
        return f"{layer['channels']} ch × {layer['elements_per_channel']}"
    if "parameters" in layer:
        return f"{layer['parameters']} weights"
    groups = f"{layer['groups']} · " if layer["groups"] > 1 else ""
    return f"{groups}{layer['M']}×{layer['N']}×{layer['K']}"


def layer_row(layer, columns):
    macs = layer["macs"] + layer["skipped_macs"]
    return [cell(layer["step"], layer["step"]), cell(layer["layer"], text=True), cell(layer["kind"], text=True),
            cell(shape_of(layer), macs), *(figure_cell(column, layer) for column in columns)]


def pass_tables(report, columns):
    heads = [("step", False), ("layer", True), ("kind", True), ("M×N×K", False)]
    heads += [(column["title"], False, column["meaning"]) for column in columns]
    parts = []
    for name, title in PASSES:
        rows = [layer_row(layer, columns) for layer in report["layers"] if layer["pass"] == name]
        if rows:
            parts.append(f"<h2>{title}</h2>\n{table(heads, rows)}")
    return "\n".join(parts)


def totals_cell(column, totals):
    value = totals.get(column["key"])
    if column["share_of"]:
        whole = sum(totals[key] for key in column["share_of"])
        return percent(value / whole if whole else None)
    return shown(column, value)


def totals_table(report, columns):
    """By pass, by kind of work, all, and by step where there are several."""
    totals = report["totals"]
    groups = [[(dict(PASSES)[name], of) for name, of in totals["by_pass"].items() if of["passes"]]]
    if len(totals["by_work"]) > 1:
        groups.append([(name.capitalize(), of) for name, of in totals["by_work"].items()])
    groups.append([("Total", totals)])
    if len(totals["by_step"]) > 1:
        groups.append([(f"Step {step}", of) for step, of in totals["by_step"].items()])
    heads = "".join(f'<th scope="col" title="{esc(column["meaning"])}">{esc(column["title"])}</th>' for column in columns)
    bodies = "\n".join("<tbody>" + "\n".join(
        f'<tr><td class="text">{esc(name)}</td>' + "".join(f"<td>{esc(totals_cell(column, of))}</td>" for column in columns) + "</tr>"
        for name, of in group) + "</tbody>" for group in groups)
    return (f'<h2>Totals</h2>\n<div class="scroll"><table class="totals"><thead><tr><th></th>{heads}</tr></thead>\n'
            f"{bodies}</table></div>")


def tensor_table(report):
    if not report["tensors"]:
        return ""
    columns = [(title, title in ("layer", "class", "format")) for title in (
        "step", "layer", "class", "format", "scale 2^", "elements", "zeros", "zeros recorded", "SQNR dB", "overflow", "underflow",
        "flushed")]
    rows = [[cell(t["step"], t["step"]), cell(t["layer"], text=True), cell(t["class"], text=True),
             cell(t["format"], text=True), cell(t["scale_exponent"], t["scale_exponent"]),
             cell(scaled(t["elements"], ""), t["elements"]), cell(percent(t["zero_share"]), t["zero_share"]),
             cell(percent(t["zero_share_recorded"]), t["zero_share_recorded"]),
             cell(sqnr(t), 1e300 if t["exact"] else t["sqnr_db"]), cell(scaled(t["overflow"], ""), t["overflow"]),
             cell(scaled(t["underflow"], ""), t["underflow"]),
             cell(scaled(t["flushed_to_zero"], ""), t["flushed_to_zero"])] for t in report["tensors"]]
    return f"<h2>Tensors on their way into the array</h2>\n{table(columns, rows)}"


def counted(number, what):
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def accuracy_card(totals):
    sums = f"sums alone {digits(totals['median_accumulator_sqnr_db'], 1)} dB"
    if totals["median_accumulator_sqnr_db"] is None:
        sums = "sums exact" if totals["exact_sums"] else "no sums"
    return (f"{digits(totals['median_sqnr_db'], 1)} dB", f"median SQNR; worst {digits(totals['min_sqnr_db'], 1)} dB; {sums}")


def cards(report):
    totals = report["totals"]
    figures = [
        (scaled(totals["cycles"], ""), f"cycles, {scaled(totals['time_s'], 's')} at {report['arch']['clock_mhz']:g} MHz"),
        (percent(totals["utilization"]), "utilization of the array"),
        (digits(totals["speedup"], 2) + "×", f"speed-up over dense; bound {digits(totals['ideal_speedup'], 2)}×"),
        (digits(totals["dense_equivalent_tops"], 3), f"TOPS dense-equivalent; {digits(totals['tops'], 3)} executed"),
        (scaled(totals["images_per_second"], ""),
         f"images per second; {counted(len(totals['by_step']), 'step')}, {counted(report['images'], 'image')}"),
        accuracy_card(totals),
        (f"{digits(totals['traffic_factor'], 2)}×", f"DRAM traffic over the sizes of the tensors; {scaled(totals['dram_bytes'], 'B')}"),
    ]
    for name, energy in totals["energy_by_table"].items():
        figures.append((f"{digits(energy['pj_per_mac_executed'], 2)} pJ",
                        f"per executed MAC, {digits(energy['pj_per_mac_dense'], 2)} pJ dense; {name}, "
                        f"{percent(energy['derived_share'])} derived"))
    items = "\n".join(f'<div class="card"><b>{esc(big)}</b><span>{esc(small)}</span></div>' for big, small in figures)
    return f'<div class="cards">\n{items}\n</div>'


def figures_html(plots):
    if not plots:
        return '<p class="note">No plots: matplotlib was missing when this page was made.</p>'
    items = []
    for name, caption, path in plots:
        with open(path, "rb") as file:
            data = base64.b64encode(file.read()).decode("ascii")
        items.append(f'<figure id="{name}"><img alt="{esc(caption)}" src="data:image/png;base64,{data}">'
                     f"<figcaption>{esc(caption)}</figcaption></figure>")
    return '<div class="figures">\n' + "\n".join(items) + "\n</div>"


def keys_table(report, what):
    """Every key with its value, and which of them the command line set."""
    title = {"recipe": "Recipe", "arch": "Architecture"}[what]
    settings = {word.split("=")[0].removeprefix(what + ".") for word in report["settings"]}
    rows = "".join(
        f'<tr><td class="text">{esc(key)}</td><td class="text wrap">{esc(value)}</td>'
        f'<td class="text">{"set on the command line" if key in settings else ""}</td></tr>'
        for key, value in report[what]["keys"].items())
    return (f'<details id="{what}-keys"><summary>{title} {esc(report[what]["name"])}: every key with its value</summary>'
            '<div class="scroll tall"><table><thead><tr><th class="text">key</th><th class="text">value</th>'
            f'<th class="text"></th></tr></thead><tbody>{rows}</tbody></table></div></details>')


def provenance(report):
    inputs = "".join(f'<tr><td class="text">{what}</td><td class="text">{esc(report[what]["name"])}</td>'
                     f'<td class="text wrap">{esc(report[what]["hash"])}</td></tr>' for what in ("trace", "recipe", "arch"))
    parts = ["<h2>Provenance</h2>", '<div class="scroll"><table><thead><tr><th class="text">input</th>'
             f'<th class="text">name</th><th class="text">SHA-256</th></tr></thead><tbody>{inputs}</tbody></table></div>']
    parts += [keys_table(report, what) for what in ("recipe", "arch")]
    for one in report["tables"]:
        facts = [f"{one['node_nm']:g} nm" if one["node_nm"] else "", f"{one['voltage_v']:g} V" if one["voltage_v"] else "",
                 f"{one['clock_mhz']:g} MHz" if one["clock_mhz"] else ""]
        rows = "".join(
            f'<tr><td class="text">{esc(price["action"])}</td><td>{price["pj"]:.4g}</td>'
            f'<td class="text">{esc(price["component"])}</td><td class="text">{esc(price["kind"])}</td>'
            f'<td class="text wrap">{esc(price.get("formula", ""))}</td><td class="text wrap">{esc(price.get("source", ""))}</td></tr>'
            for price in one["prices"] + [{**figure, "action": figure["name"], "component": "(in formulas)"}
                                          for figure in one["figures"]])
        parts.append(
            f"<details><summary>Energy table {esc(one['name'])} ({esc(', '.join(f for f in facts if f))}): {esc(one['source'])}"
            '</summary><div class="scroll tall"><table><thead><tr><th class="text">action</th><th>pJ</th>'
            '<th class="text">component</th><th class="text">kind</th><th class="text">formula</th>'
            f'<th class="text">source</th></tr></thead><tbody>{rows}</tbody></table></div></details>')
    return "\n".join(parts)


def write(report, columns, plots, path):
    """columns: of the tables of totals and passes, as mantissa describes them."""
    with open(os.path.join(HERE, "page.css"), encoding="utf-8") as file:
        style = "\n" + file.read()
    with open(os.path.join(HERE, "page.js"), encoding="utf-8") as file:
        script = "\n" + file.read()
    arch = report["arch"]
    identity = (f"trace {report['trace']['name']} · recipe {report['recipe']['name']} · architecture {arch['name']}, "
                f"{arch['rows']}×{arch['cols']} at {arch['clock_mhz']:g} MHz · engine {report['engine']} · seed {report['seed']}")
    warnings = "".join(f'<p class="warning">{esc(warning)}</p>' for warning in report["warnings"])
    notes = "".join(f'<p class="note">{esc(note)}</p>' for note in report["notes"])
    if report["sampled_tiles"]:
        notes += f'<p class="note">{esc(report["sampled_tiles"])} tiles were sampled.</p>'
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{esc(report['trace']['name'])} · {esc(report['recipe']['name'])} · {esc(arch['name'])}</title>
<style>{style}</style>
</head>
<body>
<h1>{esc(report['trace']['name'])}</h1>
<p class="identity">{esc(identity)}</p>
{warnings}
{cards(report)}
{notes}
{totals_table(report, columns["totals"])}
<h2>Figures</h2>
{figures_html(plots)}
{pass_tables(report, columns["passes"])}
{tensor_table(report)}
{provenance(report)}
<footer>mantissa {esc(report['version'])}. Everything here comes from report.json.</footer>
<script>{script}</script>
</body>
</html>
"""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(page)
