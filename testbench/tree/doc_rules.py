"""What the documents name exists: links lead somewhere, commands, their options and tools are there, and so are the
files that the README of a room lists. And a README is one page.

    doc_rules.py [ROOT]         prints every breach as file:line: what is wrong, and fails if there is one
"""
import os
import re
import sys

import tree_rules

LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
COMMAND = re.compile(r"(?:`|[|&] |^\s*(?:\$ |build/release/)?)mantissa ([a-z][a-z0-9_]*)\b([^`|&#]*)")
OPTION = re.compile(r"(?<=\s)(--[a-z][\w-]*)")
TOOL = re.compile(r"(?<![\w/.])(tools/[A-Za-z_][\w./-]*)")
SUBCOMMAND = re.compile(r'program\.add_subcommand\(\s*"(\w+)"')
OPTION_NAME = re.compile(r'"--([a-z][\w-]*)"|\bparameter\("(\w+)"')  # add_option("--seed"; parameter("acc"
# What the README of a room may list without an ending.
ENDINGS = ("", ".hpp", ".cpp", ".h", ".sv")
# Lines and columns of the first page that a visitor sees, and of the page of a room.
FRONT_PAGE = (120, 100)
ROOM_PAGE = (90, 120)


def documents(root):
    for path in tree_rules.files_below(root, ".", (".md",)):
        if not os.path.normpath(path).startswith(("build" + os.sep, ".git" + os.sep)):
            yield os.path.normpath(path)


def expanded(name):
    """`{a,b}.hpp` as its two names."""
    braces = re.match(r"(.*)\{([^}]*)\}(.*)", name)
    return [braces[1] + each + braces[3] for each in braces[2].split(",")] if braces else [name]


class Documents:
    def __init__(self, root):
        self.root = root
        self.breaches = []
        self.commands = set()
        self.options = {"--help", "--version"}
        for path in tree_rules.files_below(root, "sim/cli", (".cpp", ".hpp")):
            source = "\n".join(tree_rules.read_lines(root, path))
            self.commands.update(SUBCOMMAND.findall(source))
            self.options.update("--" + (name or parameter) for name, parameter in OPTION_NAME.findall(source))

    def _exists(self, *path):
        return os.path.exists(os.path.join(self.root, *path))

    def check(self):
        for path in documents(self.root):
            self._check(path)
            if os.path.basename(path) == "README.md":
                self._check_page(path, *(FRONT_PAGE if path == "README.md" else ROOM_PAGE))
        return self.breaches

    def _check_page(self, path, most_lines, most_columns):
        lines = tree_rules.read_lines(self.root, path)
        if len(lines) > most_lines:
            self.breaches.append(f"{path}:{most_lines + 1}: {len(lines)} lines (this page has at most {most_lines})")
        for number, line in enumerate(lines, 1):
            if len(line) > most_columns:
                self.breaches.append(f"{path}:{number}: {len(line)} columns (this page has at most {most_columns})")

    def _check(self, path):
        here = os.path.dirname(path)
        in_code = lists_files = False
        for number, line in enumerate(tree_rules.read_lines(self.root, path), 1):
            def breach(what, number=number):
                self.breaches.append(f"{path}:{number}: {what}")
            if line.lstrip().startswith("```"):
                in_code = not in_code
                continue
            # A pipe leads to a command in a shell, and to a cell in a table.
            for command, arguments in COMMAND.findall(line.replace("| ", ", ") if line.startswith("|") else line):
                if command not in self.commands:
                    breach(f"no command 'mantissa {command}'")
                for option in OPTION.findall(arguments):
                    if option not in self.options:
                        breach(f"no option {option} of mantissa")
            for tool in TOOL.findall(line):
                if not self._exists(tool.rstrip(".")):
                    breach(f"no {tool}")
            if in_code:
                continue
            for target in LINK.findall(line):
                if "://" not in target and not self._exists(here, target):
                    breach(f"a link to {target}, which is not there")
            if not line.startswith("|"):
                lists_files = False
            elif re.match(r"\| *files? *\|", line):
                lists_files = True
            elif lists_files:
                for name in re.findall(r"`([^`]+)`", line.split("|")[1]):
                    for each in expanded(name):
                        if not any(self._exists(here, each + ending) for ending in ENDINGS):
                            breach(f"the table lists {each}, which is not in {here or '.'}/")


def main():
    breaches = Documents(sys.argv[1] if len(sys.argv) > 1 else ".").check()
    print("\n".join(breaches) if breaches else "everything that the documents name is there")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
