#!/usr/bin/python3
"""The files that tools/capture_torch.py writes, its errors, its program, and the traces that are shipped."""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import unittest

from capture_support import DATA, SOURCES, TOOLS, CaptureTest, np, read, torch  # first: skips where PyTorch is missing
from capture_torch import Capture, CaptureError, encode
from conv_oracle import conv_forward
from torch import nn


class Files(CaptureTest):
    def train(self, capture, model, steps):
        for step in steps:
            with capture.step(step):
                model(torch.randn(5, 4)).sum().backward()

    def test_steps_and_run(self):
        model = nn.Linear(4, 4)
        capture = Capture(model, self.path, [4, 2], quiet=True, loss_scale=1024, description="a test")
        self.train(capture, model, range(2))
        self.assertFalse(os.path.exists(self.path))
        self.train(capture, model, range(2, 4))
        metadata, tensors = read(self.path)  # complete after each recorded step
        self.assertEqual(json.loads(metadata["mantissa.run"]), {"loss_scale": 1024, "steps": [2]})
        self.train(capture, model, range(4, 9))
        metadata, tensors = read(self.path)
        self.assertEqual(json.loads(metadata["mantissa.run"]), {"loss_scale": 1024, "steps": [2, 4]})
        self.assertEqual(metadata["description"], "a test")
        self.assertEqual({name.split(".")[0] for name in tensors}, {"s2", "s4"})
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["t.safetensors"])  # no draft is left
        self.assertEqual(len(model._forward_hooks), 0)

    def test_a_step_that_comes_again_is_recorded_once(self):
        model = nn.Linear(4, 4)
        capture = Capture(model, self.path, [1], quiet=True)
        self.train(capture, model, [0, 1, 2])
        before = read(self.path)[1]["s1.model.input"]
        self.train(capture, model, [0, 1, 2])
        self.close(read(self.path)[1]["s1.model.input"], before, 0)
        self.assertIn("over all epochs", capture.notes[0])

    def test_types(self):
        x = torch.randn(5, 4)
        x[0, 0] = 1e-30
        for dtype, gradient_dtype, width in [("F32", "F32", 4), ("F16", "BF16", 2), ("BF16", "F32", 2)]:
            model = nn.Linear(4, 4)
            self.record(model, x, dtype=dtype, gradient_dtype=gradient_dtype, loss=lambda y: (y * 1e-20).sum())
            header = json.loads(pathlib.Path(self.path).read_bytes()[8:].split(b"}}")[0] + b"}}")
            self.assertEqual(header["s3.model.input"]["dtype"], dtype)
            self.assertEqual(header["s3.model.grad_output"]["dtype"], gradient_dtype)
            begin, end = header["s3.model.input"]["data_offsets"]
            self.assertEqual(end - begin, 20 * width)
            t = read(self.path)[1]
            self.close(t["s3.model.input"], x, 2.0**-8)
            self.close(t["s3.model.grad_output"], np.full((5, 4), 1e-20), 2.0**-8)

    def test_what_is_too_large_for_f16_is_kept(self):
        x = torch.full((2, 4), 1e6)
        capture, _, t = self.record(nn.Linear(4, 4), x, dtype="F16")
        self.close(t["model.input"], x, 0)
        self.assertIn("s3.model.input is beyond F16", capture.notes[0])

    def test_numbers_that_are_not_finite_are_noted(self):
        capture, _, t = self.record(nn.Linear(4, 4), torch.full((2, 4), float("nan")), dtype="BF16")
        self.assertTrue(np.isnan(t["model.input"]).all())
        self.assertIn("s3.model.input has numbers that are not finite", capture.notes[0])

    def test_bf16_rounds_as_torch_does(self):
        bits = np.random.default_rng(1).integers(0, 2**32, 100000, np.uint32)
        bits[:8] = [0x3F808000, 0x3F818000, 0x3F807FFF, 0x3F808001, 0x7F7FFFFF, 0x80000001, 0x7F800000, 0xFF800000]
        values = bits.view(np.float32)
        values = values[~np.isnan(values)]
        expected = torch.from_numpy(values.copy()).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
        self.assertTrue(np.array_equal(encode(values, "BF16"), expected))
        nan = np.array([0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001], np.uint32).view(np.float32)
        self.assertTrue(((encode(nan, "BF16") & 0x7FFF) > 0x7F80).all())

    def test_channels_last_is_stored_in_the_order_of_its_shape(self):
        x = torch.randn(2, 3, 4, 5)
        model = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
        _, _, t = self.record(model, x.to(memory_format=torch.channels_last))
        self.close(t["model.input"], x, 0)
        self.close(t["model.weight"], model.weight, 0)

    def test_through_a_link(self):
        target = self.path + ".target"
        os.symlink(target, self.path)
        self.record(nn.Linear(2, 2), torch.randn(2, 2))
        self.assertTrue(os.path.islink(self.path) and os.path.isfile(target))


class WrongUse(CaptureTest):
    def refused(self, message, *arguments, **options):
        with self.assertRaisesRegex(CaptureError, message):
            Capture(*arguments, **options)

    def test_arguments(self):
        model = nn.Linear(2, 2)
        self.refused("not a torch.nn.Module", model.forward, self.path, [0])
        self.refused("no step", model, self.path, [])
        self.refused("2\\^32", model, self.path, [-1])
        self.refused("not a whole number", model, self.path, [0.5])
        self.refused("unknown dtype 'F64'", model, self.path, [0], dtype="F64")
        self.refused("F32 or BF16", model, self.path, [0], gradient_dtype="F16")
        self.refused("loss_scale", model, self.path, [0], loss_scale=float("nan"))
        self.refused("cannot write", model, "/no/such/directory/t.safetensors", [0])
        self.refused("cannot write", model, os.path.dirname(self.path), [0])
        self.refused("no Conv2d, Linear", nn.ReLU(), self.path, [0])

    def test_steps_without_passes(self):
        model = nn.Linear(2, 2)
        capture = Capture(model, self.path, [0], quiet=True)
        with self.assertRaisesRegex(CaptureError, "forward pass inside the step"):
            with capture.step(0):
                pass
        with self.assertRaisesRegex(CaptureError, r"loss.backward\(\) inside the step"):
            with capture.step(0):
                model(torch.randn(2, 2))
        with self.assertRaisesRegex(CaptureError, "before step 0 has ended"):
            capture.begin(0)
            capture.begin(1)
        capture.cancel()
        self.assertFalse(os.path.exists(self.path))

    def test_an_exception_of_the_training_passes_through(self):
        model = nn.Linear(2, 2)
        capture = Capture(model, self.path, [0], quiet=True)
        with self.assertRaises(ZeroDivisionError):
            with capture.step(0):
                model(torch.randn(2, 2)).sum().backward()
                raise ZeroDivisionError
        self.assertFalse(os.path.exists(self.path))
        self.assertEqual(len(model._forward_hooks), 0)


class Program(CaptureTest):
    def run_program(self, *arguments, **options):
        return subprocess.run(["/usr/bin/python3", TOOLS / "capture_torch.py", *arguments], text=True,
                              capture_output=True, check=False, **options)

    def test_errors(self):
        for arguments, message in [(["--data", "/no/such"], "dataset-fashion-mnist"),
                                   (["--data", "/no/such", "--shipped"], "--shipped takes no other option"),
                                   (["--steps", "1,x"], "'1,x' is not a list")]:
            run = self.run_program("--out", self.path, *arguments)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(message, run.stderr)
            self.assertNotIn("Traceback", run.stderr)
            self.assertFalse(os.path.exists(self.path))

    def test_says_which_package_is_missing(self):
        blocked = os.path.join(os.path.dirname(self.path), "blocked")
        os.mkdir(blocked)
        pathlib.Path(blocked, "torch.py").write_text("raise ImportError('no torch here')")
        run = self.run_program("--out", self.path, env=dict(os.environ, PYTHONPATH=blocked))
        self.assertEqual(run.returncode, 2)
        self.assertIn("python3-torch", run.stderr)
        self.assertNotIn("Traceback", run.stderr)

    @unittest.skipUnless(DATA.is_dir(), "dataset-fashion-mnist is not installed")
    def test_same_seed_same_file(self):
        texts = []
        for seed in ("1", "1", "2"):
            run = self.run_program("--net", "mlp", "--steps", "0,3", "--batch", "16", "--record-batch", "4", "--seed",
                                   seed, "--loss-scale", "8", "--out", self.path)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("test accuracy", run.stdout)
            texts.append(pathlib.Path(self.path).read_bytes())
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])
        metadata, t = read(self.path)
        self.assertEqual([layer["kind"] for layer in json.loads(metadata["mantissa.layers"])],
                         ["linear", "batchnorm", "linear", "batchnorm", "linear"])
        # Cross entropy's gradient: each sample's row sums to 0, and is at most loss_scale / batch.
        g = t["s3.fc3.grad_output"]
        self.assertEqual(g.shape, (4, 10))
        self.assertLess(np.abs(g.sum(1)).max(), 1e-5)
        self.assertTrue(1 < np.abs(g).max() <= 8 / 4)


class Shipped(unittest.TestCase):
    TRACES = SOURCES / "traces"

    def test_files_are_those_of_the_table(self):
        table = (self.TRACES / "SHIPPED.md").read_text()
        rows = re.findall(r"\| `(\S+)` \| ([\d,]+) \| `([0-9a-f]{64})` \|", table)
        files = {path.name: path.read_bytes() for path in self.TRACES.glob("*.safetensors")}
        self.assertEqual(sorted(files), sorted(name for name, _, _ in rows))
        for name, size, digest in rows:
            self.assertEqual(len(files[name]), int(size.replace(",", "")))
            self.assertEqual(hashlib.sha256(files[name]).hexdigest(), digest)
        self.assertLess(sum(map(len, files.values())), 4 << 20)

    def test_tensors_belong_together(self):
        metadata, t = read(self.TRACES / "fashion-cnn.safetensors")
        layers = json.loads(metadata["mantissa.layers"])
        steps = json.loads(metadata["mantissa.run"])["steps"]
        convolutions = 0
        for step in steps:
            for layer, norm in zip(layers, layers[1:]):  # every convolution is followed by its batch norm
                if layer["kind"] != "conv2d":
                    continue
                x, weight = t[f"s{step}.{layer['name']}.input"], t[f"s{step}.{layer['name']}.weight"]
                y = conv_forward(x, weight, layer)
                rounding = np.abs(y - t[f"s{step}.{norm['name']}.input"]).max()
                self.assertLess(rounding, 2.0**-9 * np.abs(y).max(), layer["name"])  # of x, weight and y to F16
                convolutions += 1
        self.assertEqual((len(steps), convolutions), (2, 18))

    def test_numbers_are_finite_and_gradients_are_small(self):
        for path in self.TRACES.glob("*.safetensors"):
            for name, values in read(path)[1].items():
                self.assertTrue(np.isfinite(values).all(), name)
                if name.endswith(".grad_output"):
                    self.assertLess(0, np.abs(values).max(), name)
                    self.assertLess(np.abs(values).max(), 1, name)


if __name__ == "__main__":
    unittest.main()
