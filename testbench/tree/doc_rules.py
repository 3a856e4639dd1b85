"""What the documents name exists: links lead somewhere, commands and tools are there, and so are the files that the
README of a room lists.

    doc_rules.py [ROOT]         prints every breach as file:line: what is wrong, and fails if there is one
"""
import os
import re
import sys

import tree_rules

LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
COMMAND = re.compile(r"(?:`|^\s*(?:\$ |build/release/)?)mantissa ([a-z][a-z0-9_]*)\b")
TOOL = re.compile(r"(?<![\w/.])(tools/[A-Za-z_][\w./-]*)")
SUBCOMMAND = re.compile(r'program\.add_subcommand\(\s*"(\w+)"')
# What the README of a room may list without an ending.
ENDINGS = ("", ".hpp", ".cpp", ".h", ".sv")


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
        for path in tree_rules.files_below(root, "sim/cli", (".cpp",)):
            self.commands.update(SUBCOMMAND.findall("\n".join(tree_rules.read_lines(root, path))))

    def _exists(self, *path):
        return os.path.exists(os.path.join(self.root, *path))

    def check(self):
        for path in documents(self.root):
            self._check(path)
        return self.breaches

    def _check(self, path):
        here = os.path.dirname(path)
        in_code = lists_files = False
        for number, line in enumerate(tree_rules.read_lines(self.root, path), 1):
            def breach(what, number=number):
                self.breaches.append(f"{path}:{number}: {what}")
            if line.lstrip().startswith("```"):
                in_code = not in_code
                continue
            for command in COMMAND.findall(line):
                if command not in self.commands:
                    breach(f"no command 'mantissa {command}'")
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
