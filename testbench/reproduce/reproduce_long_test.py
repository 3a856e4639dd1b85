"""tools/reproduce itself: every recipe that it makes is one that trains, and a second call trains nothing again."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from reproduction import runs  # noqa: E402

PROGRAM = os.environ["MANTISSA_PROGRAM"]


class Reproduce(unittest.TestCase):
    def test_every_recipe_trains(self):
        with tempfile.TemporaryDirectory() as directory:
            for run, _ in runs.plan(1):
                if run.torch:
                    continue
                path = os.path.join(directory, run.name + ".yaml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(run.recipe_text())
                done = subprocess.run([PROGRAM, "train", "--recipe", path, "--net", run.net, "--epochs", "1", "--images",
                                       "256", "--json"], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, run.name + ": " + done.stderr)

    def test_finished_runs_are_not_made_again(self):
        with tempfile.TemporaryDirectory() as directory:
            command = [os.path.join(ROOT, "tools", "reproduce"), "--out", directory, "--only", "lenet-fp32", "--seeds", "1"]
            first = subprocess.run(command, capture_output=True, text=True, check=True)
            self.assertIn("1 of 1: lenet-fp32-sums, seed 1: ", first.stdout)
            made = self.reports(directory)
            self.assertEqual(len(made), 1)
            second = subprocess.run(command, capture_output=True, text=True, check=True)
            self.assertEqual(self.reports(directory), made)
            self.assertEqual(second.stdout.split("\n", 1)[1], first.stdout.split("\n", 1)[1])
            # Another program: its run stands beside the first, which stays.
            other = os.path.join(directory, "mantissa")
            shutil.copy(PROGRAM, other)
            with open(other, "ab") as file:
                file.write(b" ")
            subprocess.run(command, capture_output=True, text=True, check=True,
                           env={**os.environ, "MANTISSA_PROGRAM": other, "MANTISSA_DATA": ROOT})
            self.assertEqual(len(self.reports(directory)), 2)
            self.assertLessEqual(made.items(), self.reports(directory).items())

    @staticmethod
    def reports(directory):
        """{file: when it was made}"""
        return {path: os.stat(path).st_mtime_ns for path in glob.glob(os.path.join(directory, "runs", "*-????????.json"))}

    def test_a_budget_of_nothing_trains_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            command = [os.path.join(ROOT, "tools", "reproduce"), "--out", directory, "--only", "lenet", "--budget", "0"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            self.assertIn("the budget of 0 hours ended before lenet-e6m5-rne (seed 1), lenet-e6m5-sr (seed 1)", done.stdout)


if __name__ == "__main__":
    unittest.main()
