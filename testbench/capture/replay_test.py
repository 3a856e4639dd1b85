#!/usr/bin/python3
"""From PyTorch to the report: training runs are captured, replayed by $MANTISSA_PROGRAM, and the reports read."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77  # CTest's SKIP_RETURN_CODE
TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
if not DATA.is_dir():
    print("skipped: no data set; tools/setup --torch installs dataset-fashion-mnist")
    sys.exit(SKIPPED)
try:
    import torch  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}; tools/setup --torch installs it")
    sys.exit(SKIPPED)

STEPS = [2, 5]
PASSES = {"forward", "input_gradient", "weight_gradient"}


def run(*command):
    finished = subprocess.run([str(part) for part in command], text=True, capture_output=True, check=False)
    if finished.returncode != 0:
        raise AssertionError(f"{command} ended with {finished.returncode}:\n{finished.stdout}{finished.stderr}")
    return finished.stdout


def layers_of(trace):
    data = trace.read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["mantissa.layers"])


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = os.environ.get("MANTISSA_PROGRAM")
        if not cls.program:
            raise AssertionError("set MANTISSA_PROGRAM to the path of the mantissa program")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.directory = pathlib.Path(cls.scratch.name)

    def capture(self, net):
        trace = self.directory / f"{net}.safetensors"
        run("/usr/bin/python3", TOOLS / "capture_torch.py", "--net", net, "--steps", ",".join(map(str, STEPS)),
            "--batch", 16, "--record-batch", 4, "--out", trace)
        run(self.program, "trace", "check", trace)
        return trace

    def replay(self, trace, name, *options):
        out = self.directory / name
        run(self.program, "replay", trace, "--recipe", "fp8", "--out", out, *options)
        return json.loads((out / "report.json").read_text())

    def check_that_all_was_replayed(self, trace, report):
        passes = {}
        for row in report["layers"]:
            passes.setdefault((row["step"], row["layer"]), set()).add(row["pass"])
            if row["kind"] != "batchnorm":
                scheduled, product = row["macs"] + row["skipped_macs"], row["M"] * row["N"] * row["K"] * row["groups"]
                self.assertLessEqual(scheduled, product, row)  # holes of strided input gradients are not scheduled
                if row["pass"] != "input_gradient":
                    self.assertEqual(scheduled, product, row)
        self.assertEqual(set(passes), {(step, layer["name"]) for step in STEPS for layer in layers_of(trace)})
        for layer in layers_of(trace):
            if layer["kind"] != "batchnorm":
                expected = PASSES if layer["input_gradient"] else PASSES - {"input_gradient"}
                for step in STEPS:
                    self.assertEqual(passes[step, layer["name"]], expected, layer["name"])
        self.assertTrue(report["totals"])

    def underflow(self, report, title):
        """Share of the errors (gradients on their way into the array) that became zero; prints it per layer."""
        print(f"\n{title}: errors flushed to zero")
        flushed = elements = 0
        for tensor in report["tensors"]:
            if tensor["class"] == "errors":
                print(f"  step {tensor['step']:3}  {tensor['layer']:16} {tensor['flushed_to_zero']:7} of "
                      f"{tensor['elements']:7}  {tensor['flushed_to_zero'] / tensor['elements']:8.3%}")
                flushed += tensor["flushed_to_zero"]
                elements += tensor["elements"]
        self.assertGreater(elements, 0)
        print(f"  all  {'':18} {flushed:7} of {elements:7}  {flushed / elements:8.3%}", flush=True)
        return flushed / elements

    def test_cnn(self):
        trace = self.capture("resnet8")
        report = self.replay(trace, "cnn")
        self.check_that_all_was_replayed(trace, report)
        self.underflow(report, "resnet8, fp8")

    def test_transformer_with_and_without_loss_scaling(self):
        trace = self.capture("transformer")
        bare = self.replay(trace, "bare", "--loss-scale", "none")
        scaled = self.replay(trace, "scaled", "--loss-scale", "13")
        for report in (bare, scaled):
            self.check_that_all_was_replayed(trace, report)
        without = self.underflow(bare, "transformer, fp8 without loss scaling")
        with_scale = self.underflow(scaled, "transformer, fp8 with loss scale 2^13")
        self.assertGreater(without, 0.01)
        self.assertLess(with_scale, without / 4)


if __name__ == "__main__":
    unittest.main()
