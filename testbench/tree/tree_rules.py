"""The order of rooms: who may include and link whom. The order itself is read from the tables of models/README.md and
sim/README.md, so that a reader and this check cannot be told different things.

    tree_rules.py [ROOT]        prints every breach as file:line: what is wrong (the rule), and fails if there is one
"""
import collections
import os
import re
import sys

SOURCES = (".cpp", ".hpp", ".h")
LONGEST_FILE = 400  # lines
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^">]+)[">]')
SYSTEMC_HEADER = re.compile(r"(systemc|tlm|sysc/|tlm_)")
# What a target may not reach through link lines: a network is trained without a simulated machine, and without MPI.
MAY_NOT_REACH = {"mantissa_train": ("mantissa_units", "mantissa_dut", "PkgConfig::SYSTEMC", "MPI::MPI_C")}

Include = collections.namedtuple("Include", "file line target quoted")
Row = collections.namedtuple("Row", "room file line uses")


def read_lines(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read().splitlines()


def files_below(root, directory, endings):
    for here, directories, names in os.walk(os.path.join(root, directory)):
        directories.sort()
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.relpath(os.path.join(here, name), root)


def room_table(root, top):
    """The rows of the table whose first column is `room`, in order; `uses` is None where there is no such column."""
    path = os.path.join(top, "README.md")
    rows, columns = [], None
    for number, line in enumerate(read_lines(root, path), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            columns = None
        elif cells[0] == "room":
            columns = cells
        elif columns and not set(cells[0]) <= set("-:"):
            name = re.search(r"`([^`]+)/`", cells[0])
            if not name:
                raise ValueError(f"{path}:{number}: the first cell of a row is a room, as in `format/`")
            uses = None
            if "uses" in columns:
                text = cells[columns.index("uses")] if len(cells) == len(columns) else ""
                uses = set() if text == "-" else {top + "/" + each.strip() for each in text.split(",")}
            rows.append(Row(top + "/" + name.group(1), path, number, uses))
    if not rows:
        raise ValueError(f"{path}: no table whose first column is 'room'")
    return rows


def includes_of(root, path):
    for number, line in enumerate(read_lines(root, path), 1):
        match = INCLUDE.match(line)
        if match:
            yield Include(path, number, match.group(2), match.group(1) == '"')


def find_cycle(graph):
    """A cycle as a list of nodes whose first is also the last, or None. graph: node -> nodes."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return None
        path.append(node)
        for follower in sorted(graph.get(node, ())):
            cycle = visit(follower)
            if cycle:
                return cycle
        path.pop()
        done.add(node)
        return None

    for node in sorted(graph):
        cycle = visit(node)
        if cycle:
            return cycle
    return None


class Links:
    """Targets of the CMakeLists.txt below models/ and sim/, and what each of them links."""

    def __init__(self, root):
        self.home = {}  # target -> directory
        self.lines = []  # (target, linked, file, line)
        for top in ("models", "sim"):
            for path in files_below(root, top, ("CMakeLists.txt",)):
                self._read(path, read_lines(root, path))

    def _read(self, path, lines):
        text = "\n".join(line.split("#")[0] for line in lines)
        for call in re.finditer(r"\b(add_library|add_executable|target_link_libraries)\s*\(([^)]*)\)", text):
            words = list(re.finditer(r"[^\s]+", call.group(2)))
            target = words[0].group()
            if call.group(1) != "target_link_libraries":
                self.home[target] = os.path.dirname(path)
                continue
            for word in words[1:]:
                if word.group() not in ("PUBLIC", "PRIVATE", "INTERFACE"):
                    line = text.count("\n", 0, call.start(2) + word.start()) + 1
                    self.lines.append((target, word.group(), path, line))

    def graph(self):
        graph = collections.defaultdict(set)
        for target, linked, _, _ in self.lines:
            graph[target].add(linked)
        return graph

    def ways_from(self, target):
        """Everything that is reached from a target, each with the way to it."""
        graph, ways = self.graph(), {target: [target]}
        queue = collections.deque([target])
        while queue:
            here = queue.popleft()
            for follower in sorted(graph.get(here, ())):
                if follower not in ways:
                    ways[follower] = ways[here] + [follower]
                    queue.append(follower)
        return ways


class Tree:
    def __init__(self, root):
        self.root = root
        self.breaches = []
        self.tables = {top: room_table(root, top) for top in ("models", "sim")}
        # Everything in models/ comes before everything in sim/.
        self.order = [row.room for top in ("models", "sim") for row in self.tables[top]]
        self.sources = [path for top in ("models", "sim") for path in files_below(root, top, SOURCES)]
        self.includes = [each for path in self.sources for each in includes_of(root, path)]
        self.rooms = {os.path.dirname(path) for path in self.sources}
        self.links = Links(root)

    def check(self):
        self._rooms_and_table()
        self._includes_in_order()
        self._uses_column()
        self._testbench_of_models()
        self._links()
        self._includes_are_linked()
        self._no_cycles()
        self._lengths()
        return self.breaches

    def _breach(self, file, line, what):
        self.breaches.append(f"{file}:{line}: {what}")

    def _room_includes(self):
        """Includes between two rooms, of files that exist."""
        for each in self.includes:
            here, there = os.path.dirname(each.file), os.path.dirname(each.target)
            if each.quoted and here != there and os.path.isfile(os.path.join(self.root, each.target)):
                yield each, here, there

    def _rooms_and_table(self):
        for room in sorted(self.rooms - set(self.order)):
            self._breach(room.split("/")[0] + "/README.md", 1, f"room {room}/ is missing in the table of rooms")
        for rows in self.tables.values():
            for row in rows:
                if row.room not in self.rooms:
                    self._breach(row.file, row.line, f"room {row.room}/ is in the table, but has no sources")
                if self.order.count(row.room) > 1:
                    self._breach(row.file, row.line, f"room {row.room}/ is in the table more than once")

    def _includes_in_order(self):
        for each in self.includes:
            if not each.quoted:
                if each.file.startswith("models/") and SYSTEMC_HEADER.match(each.target):
                    self._breach(each.file, each.line, f"includes <{each.target}> (models/ knows no SystemC)")
            elif not os.path.isfile(os.path.join(self.root, each.target)):
                self._breach(each.file, each.line,
                             f'no file "{each.target}" (includes name their path from the root of the repository)')
        for each, here, there in self._room_includes():
            if here.startswith("models") and not there.startswith("models"):
                self._breach(each.file, each.line, f"includes {each.target} (models/ knows no other room)")
            elif not there.startswith(("models", "sim")):
                self._breach(each.file, each.line, f"includes {each.target} (sim/ includes models/ and sim/ only)")
            elif here in self.order and there in self.order and self.order.index(there) > self.order.index(here):
                self._breach(each.file, each.line, f"{here}/ includes {each.target} (a room uses only rooms above it in "
                             f"the table of {here.split('/')[0]}/README.md)")

    def _uses_column(self):
        used = collections.defaultdict(dict)  # room -> used room -> where
        for each, here, there in self._room_includes():
            used[here].setdefault(there, f"{each.file}:{each.line}")
        for row in (row for rows in self.tables.values() for row in rows if row.uses is not None):
            for room in sorted(set(used[row.room]) - row.uses):
                self._breach(row.file, row.line, f"column 'uses' of {row.room}/ lacks {room}/, included in {used[row.room][room]}")
            for room in sorted(row.uses - set(used[row.room])):
                self._breach(row.file, row.line, f"column 'uses' of {row.room}/ has {room}/, which nothing in it includes")

    def _testbench_of_models(self):
        for path in files_below(self.root, "testbench/models", SOURCES):
            for each in includes_of(self.root, path):
                if each.quoted and not each.target.startswith(("models/", "testbench/")):
                    self._breach(each.file, each.line,
                                 f"includes {each.target} (testbench/models includes models/ and testbench/ only)")

    def _links(self):
        home = self.links.home
        for target, linked, file, line in self.links.lines:
            here, there = home.get(target), home.get(linked)
            if here is None:
                self._breach(file, line, f"links of {target}, which no CMakeLists.txt of models/ or sim/ adds")
            elif here.startswith("models") and (linked == "PkgConfig::SYSTEMC" or (there or "").startswith("sim")):
                self._breach(file, line, f"{target} links {linked} (models/ knows no other room, and no SystemC)")
            elif linked.startswith("mantissa_") and there is None:
                self._breach(file, line, f"{target} links {linked}, which no CMakeLists.txt of models/ or sim/ adds")
            elif here in self.order and there in self.order and self.order.index(there) > self.order.index(here):
                self._breach(file, line, f"{target} of {here}/ links {linked} of {there}/ (a room uses only rooms above it "
                             f"in the table of {here.split('/')[0]}/README.md)")
        for target, forbidden in MAY_NOT_REACH.items():
            ways = self.links.ways_from(target)
            for each in forbidden:
                if each in ways:
                    file, line = next((file, line) for start, linked, file, line in self.links.lines
                                      if [start, linked] == ways[each][:2])
                    self._breach(file, line, f"{target} may not reach {each}: {' -> '.join(ways[each])}")

    def _includes_are_linked(self):
        """A room that includes another one also links its library, itself or through others."""
        targets = collections.defaultdict(set)
        for target, home in self.links.home.items():
            targets[home].add(target)

        def home_of(room):  # of its targets: a room below another one may be part of that one's library
            while room and room not in targets:
                room = os.path.dirname(room)
            return room

        reached = {home: {each for target in targets[home] for each in self.links.ways_from(target)} for home in targets}
        told = set()
        for each, here, there in self._room_includes():
            here, there = home_of(here), home_of(there)
            if here and there and here != there and not reached[here] & targets[there] and (here, there) not in told:
                told.add((here, there))
                self._breach(each.file, each.line, f"includes {each.target}, but no target of {here}/ links one of {there}/")

    def _no_cycles(self):
        rooms, headers, first = collections.defaultdict(set), collections.defaultdict(set), {}
        for each, here, there in self._room_includes():
            rooms[here].add(there)
            first.setdefault((here, there), each)
        for each in self.includes:
            if each.quoted and not each.file.endswith(".cpp"):
                headers[each.file].add(each.target)
                first.setdefault((each.file, each.target), each)
        for graph, rule in ((rooms, "no cycle between directories"), (headers, "no cycle among headers")):
            cycle = find_cycle(graph)
            if cycle:
                self._breach(first[cycle[0], cycle[1]].file, first[cycle[0], cycle[1]].line,
                             f"{' -> '.join(cycle)} ({rule}); by " +
                             ", ".join(f"{first[pair].file}:{first[pair].line}" for pair in zip(cycle, cycle[1:])))
        cycle = find_cycle(self.links.graph())
        if cycle:
            file, line = next((file, line) for start, linked, file, line in self.links.lines if [start, linked] == cycle[:2])
            self._breach(file, line, f"{' -> '.join(cycle)} (no cycle among libraries)")

    def _lengths(self):
        for path in self.sources + list(files_below(self.root, "rtl", (".sv",))):
            lines = len(read_lines(self.root, path))
            if lines > LONGEST_FILE:
                self._breach(path, LONGEST_FILE + 1, f"{lines} lines (a file is one idea, of at most {LONGEST_FILE} lines)")


def main():
    breaches = Tree(sys.argv[1] if len(sys.argv) > 1 else ".").check()
    print("\n".join(breaches) if breaches else "every room uses only rooms above it")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
