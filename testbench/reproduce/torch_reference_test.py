"""The network in PyTorch is the one of resnet8.yaml, trained alike."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
try:
    import torch_resnet8 as reference
except ImportError:
    print("no PyTorch (tools/setup --torch)")
    sys.exit(77)  # ctest: skipped

PROGRAM = os.environ["MANTISSA_PROGRAM"]


class TorchReference(unittest.TestCase):
    def test_has_the_parameters_and_settings_of_the_trainer(self):
        done = subprocess.run([PROGRAM, "train", "--net", "resnet8", "--recipe", "fp32", "--epochs", "1", "--images", "128",
                               "--json"], capture_output=True, text=True, check=True)
        run = json.loads(done.stdout)
        self.assertEqual(sum(each.numel() for each in reference.network().parameters()), run["parameters"])
        for key in ("learning_rate", "momentum", "weight_decay"):
            self.assertEqual(reference.setting(key), run[key])

    def test_schedule_goes_up_and_down(self):
        self.assertEqual([reference.one_cycle(step, 100) for step in (0, 30)], [0.04, 1])
        self.assertAlmostEqual(reference.one_cycle(15, 100), 0.52)
        self.assertAlmostEqual(reference.one_cycle(100, 100), 1e-4)

    def test_first_epoch_learns(self):
        with tempfile.TemporaryDirectory() as directory:
            out = os.path.join(directory, "x.json")
            subprocess.run([os.path.join(ROOT, "tools", "train_torch"), "--epochs", "1", "--threads", "2", "--out", out],
                           capture_output=True, check=True)
            with open(out, encoding="utf-8") as file:
                self.assertGreater(json.load(file)["val_accuracy"][0], 0.8)


if __name__ == "__main__":
    unittest.main()
