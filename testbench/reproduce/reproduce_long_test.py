"""tools/reproduce itself: every recipe that it makes is one that trains, and a second call trains nothing again."""
import os
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
            report = os.path.join(directory, "runs", "lenet-fp32-sums-seed1.json")
            made = os.stat(report).st_mtime_ns
            second = subprocess.run(command, capture_output=True, text=True, check=True)
            self.assertEqual(os.stat(report).st_mtime_ns, made)
            self.assertEqual(second.stdout.split("\n", 1)[1], first.stdout.split("\n", 1)[1])
            with open(report[:-5] + ".inputs.json", "a", encoding="utf-8") as file:
                file.write(" of an older recipe")
            subprocess.run(command, capture_output=True, text=True, check=True)
            self.assertNotEqual(os.stat(report).st_mtime_ns, made)

    def test_a_budget_of_nothing_trains_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            command = [os.path.join(ROOT, "tools", "reproduce"), "--out", directory, "--only", "lenet", "--budget", "0"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            self.assertIn("the budget of 0 hours ended before lenet-fp32-sums (seed 1)", done.stdout)


if __name__ == "__main__":
    unittest.main()
