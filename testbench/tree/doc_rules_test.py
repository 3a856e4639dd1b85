"""doc_rules.py on a few made-up documents: what is there is found, what is not is told with its line."""
import os
import tempfile
import unittest

import doc_rules

TREE = {
    "sim/cli/replay.cpp": 'CLI::App* command = program.add_subcommand(\n      "replay", "Replay a trace");\n'
                          'command->add_option("--out", out, "where to");\nparameter("acc", "a format");\n',
    "sim/arch/gemm_cycles.hpp": "", "sim/arch/dram.hpp": "", "sim/arch/dma.cpp": "",
    "tools/run": "", "build/release/notes.md": "[no](nowhere.md)\n",
}


class DocRules(unittest.TestCase):
    def breaches(self, text, path="sim/arch/README.md"):
        with tempfile.TemporaryDirectory() as root:
            for name, content in {**TREE, path: text}.items():
                os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(content)
            return doc_rules.Documents(root).check()

    def test_what_is_there_is_found(self):
        self.assertEqual(self.breaches("See [run](../../tools/run), [the web](https://example.org/x), [below](#here).\n"
                                       "`mantissa replay FILE`, `tools/run --help`. The mantissa has 2 bits.\n"
                                       "```sh\nmantissa replay x   # or tools/run --fast.\n```\n\n"
                                       "`mantissa replay x --out y --acc e5m2 --help`, `ctest --preset release`\n\n"
                                       "| file | what |\n|---|---|\n| `gemm_cycles.hpp` | |\n| `{dram,dma}` | |\n\n"
                                       "| key | what |\n|---|---|\n| `nothing.hpp` | |\n"), [])

    def test_a_link_to_nowhere(self):
        self.assertEqual(self.breaches("text\n[that](../gone.md#part)\n"),
                         ["sim/arch/README.md:2: a link to ../gone.md, which is not there"])

    def test_a_command_that_does_not_exist(self):
        for text in ("`mantissa area`\n", "```sh\nmantissa area\n```\n", "    $ mantissa area\n",
                     "    echo 1 | mantissa area\n", "| 7 | `mantissa area` | mantissa bits |\n"):
            self.assertEqual([each.split(": ")[1] for each in self.breaches(text)], ["no command 'mantissa area'"])

    def test_an_option_that_does_not_exist(self):
        for text in ("`mantissa replay x --outt y`\n", "    mantissa replay x --out y --outt z | head --lines=3\n"):
            self.assertEqual(self.breaches(text), ["sim/arch/README.md:1: no option --outt of mantissa"])

    def test_a_readme_is_one_page(self):
        self.assertEqual(self.breaches("x\n" * 90 + "y\n"),
                         ["sim/arch/README.md:91: 91 lines (this page has at most 90)"])
        self.assertEqual(self.breaches("x\n" * 90), [])
        self.assertEqual(self.breaches("x\n" * 120 + "y\n", "README.md"),
                         ["README.md:121: 121 lines (this page has at most 120)"])
        self.assertEqual(self.breaches("x\n" + "y" * 121 + "\n"),
                         ["sim/arch/README.md:2: 121 columns (this page has at most 120)"])
        self.assertEqual(self.breaches("y" * 100 + "\n" + "y" * 101 + "\n", "README.md"),
                         ["README.md:2: 101 columns (this page has at most 100)"])
        self.assertEqual(self.breaches("y" * 300 + "\n" + "x\n" * 200, "sim/arch/KEYS.md"), [])

    def test_a_tool_that_does_not_exist(self):
        self.assertEqual(self.breaches("Call `tools/area`.\n"), ["sim/arch/README.md:1: no tools/area"])

    def test_a_file_that_is_not_in_its_room(self):
        self.assertEqual(self.breaches("| file | what |\n|---|---|\n| `{dram,gone}.hpp` | |\n"),
                         ["sim/arch/README.md:3: the table lists gone.hpp, which is not in sim/arch/"])


if __name__ == "__main__":
    unittest.main()
