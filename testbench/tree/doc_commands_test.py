"""doc_commands.py on made-up documents: what is printed is compared with what is shown, line by line."""
import os
import tempfile
import unittest

import doc_commands


class DocCommands(unittest.TestCase):
    def breaches(self, text):
        with tempfile.TemporaryDirectory() as root:
            program = os.path.join(root, "build", "mantissa")
            os.makedirs(os.path.dirname(program))
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nprintf 'one %s\\ntwo 1.5 s\\n' \"$*\"\n")
            os.chmod(program, 0o755)
            with open(os.path.join(root, "README.md"), "w", encoding="utf-8") as file:
                file.write(text)
            return doc_commands.check(root, program)

    def test_equal_output_of_every_command(self):
        self.assertEqual(self.breaches("```sh\n$ false\nanything\n```\n"
                                       "```console\n$ mantissa a \\\n    b   # comment\none a b\ntwo 9.25 s\n"
                                       "$ grep -c false README.md\n2\n```\n"
                                       "```console\n$ mantissa | tail -1\ntwo 1.5 s\n```\n"), ([], 3))

    def test_a_line_that_differs(self):
        self.assertEqual(self.breaches("```console\n$ mantissa a\none b\ntwo 1.5 s\n```\n"),
                         (["README.md:3: shows ['one b'], the command prints ['one a']"], 1))

    def test_a_line_that_is_missing_or_too_much(self):
        self.assertEqual(self.breaches("```console\n$ mantissa a\none a\n```\n"),
                         (["README.md:4: shows nothing more, the command prints ['two 1.5 s']"], 1))
        self.assertEqual(self.breaches("```console\n$ mantissa a\none a\ntwo 1.5 s\nthree\n```\n"),
                         (["README.md:5: shows ['three'], the command prints nothing more"], 1))


if __name__ == "__main__":
    unittest.main()
