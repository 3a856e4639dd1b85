"""What a document shows of a terminal is what the program prints: runs the commands in its ```console blocks (lines that
begin with `$ `) and compares the lines below each.

    doc_commands.py PROGRAM [ROOT]      prints every breach as file:line: what is wrong, and fails if there is one

Commands run by bash in a scratch directory in which the top of the tree can be seen. Times in seconds may differ.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

import doc_rules
import tree_rules

TIMEOUT = 300
SECONDS = re.compile(r" *\d[\d.]* s\b")

Command = collections.namedtuple("Command", "file line text output")


def commands_of(path, lines):
    """Commands of the console blocks, each with the lines that are shown below it."""
    in_console, commands = False, []
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            in_console = line == "```console"
        elif in_console and line.startswith("$ "):
            commands.append(Command(path, number, [line[2:]], []))
        elif in_console and commands and commands[-1].text[-1].endswith("\\") and not commands[-1].output:
            commands[-1].text.append(line)
        elif in_console:
            commands[-1].output.append(line)
    return commands


def breach_of(command, program, directory):
    environment = {**os.environ, "PATH": os.path.dirname(program) + os.pathsep + os.environ["PATH"]}
    run = subprocess.run(["bash", "-c", "\n".join(command.text)], cwd=directory, env=environment, timeout=TIMEOUT,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    output = run.stdout.splitlines()
    shown, printed = ([SECONDS.sub(" SECONDS", line) for line in lines] for lines in (command.output, output))
    if shown == printed:
        return None
    first = next((i for i, (a, b) in enumerate(zip(shown, printed)) if a != b), min(len(shown), len(printed)))
    return (f"{command.file}:{command.line + len(command.text) + first}: "
            f"shows {command.output[first:first + 1] or 'nothing more'}, "
            f"the command prints {output[first:first + 1] or 'nothing more'}")


def check(root, program):
    breaches, count = [], 0
    with tempfile.TemporaryDirectory() as directory:
        for entry in os.listdir(root):
            if not entry.startswith(".") and entry != "build":
                os.symlink(os.path.join(os.path.abspath(root), entry), os.path.join(directory, entry))
        for path in doc_rules.documents(root):
            for command in commands_of(path, tree_rules.read_lines(root, path)):
                breaches.append(breach_of(command, os.path.abspath(program), directory))
                count += 1
    return [breach for breach in breaches if breach], count


def main():
    breaches, count = check(sys.argv[2] if len(sys.argv) > 2 else ".", sys.argv[1])
    print("\n".join(breaches) if breaches else f"{count} commands print what the documents show")
    return 1 if breaches or not count else 0


if __name__ == "__main__":
    sys.exit(main())
