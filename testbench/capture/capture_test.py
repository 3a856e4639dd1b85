#!/usr/bin/python3
"""What tools/capture_torch.py records, against autograd and plain numpy; files are read by a reader of their own."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections import OrderedDict

SKIPPED = 77  # CTest's SKIP_RETURN_CODE
TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
try:
    import numpy as np
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError as error:
    print(f"skipped: {error}; tools/setup --torch installs it")
    sys.exit(SKIPPED)
sys.path.insert(0, str(TOOLS))
from capture_torch import Capture, CaptureError, encode  # noqa: E402

torch.set_num_threads(1)
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")


# ---- oracles ------------------------------------------------------------------------------------------------

def read(path):
    """Metadata, and the tensors as float64; asserts what the format demands."""
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    body = data[8 + length:]
    metadata = header.pop("__metadata__")
    tensors, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert entry["data_offsets"][0] == end, f"a gap or overlap before {name}"
        begin, end = entry["data_offsets"]
        words = body[begin:end]
        if entry["dtype"] == "BF16":  # the upper half of an FP32
            words = b"".join(b"\0\0" + words[i:i + 2] for i in range(0, len(words), 2))
        kind = "<f2" if entry["dtype"] == "F16" else "<f4"
        tensors[name] = np.frombuffer(words, kind).reshape(entry["shape"]).astype(np.float64)
    assert end == len(body), "bytes after the last tensor"
    assert (8 + length) % 8 == 0
    return metadata, tensors


def patches(x, kernel, layer):
    """x padded and cut: [n, c, kh, kw, oh, ow], one shifted copy for each tap."""
    (sh, sw), (ph, pw), (dh, dw) = layer["stride"], layer["padding"], layer["dilation"]
    x = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    oh = (x.shape[2] - dh * (kernel[0] - 1) - 1) // sh + 1
    ow = (x.shape[3] - dw * (kernel[1] - 1) - 1) // sw + 1
    taps = [[x[:, :, i * dh:i * dh + sh * (oh - 1) + 1:sh, j * dw:j * dw + sw * (ow - 1) + 1:sw]
             for j in range(kernel[1])] for i in range(kernel[0])]
    return np.moveaxis(np.array(taps), (0, 1), (2, 3))


def conv_weight_gradient(x, grad, weight_shape, layer):
    cut, groups = patches(x, weight_shape[2:], layer), layer["groups"]
    n, c, kh, kw, oh, ow = cut.shape
    cut = cut.reshape(n, groups, c // groups, kh, kw, oh, ow)
    grad = grad.reshape(n, groups, -1, oh, ow)
    return np.einsum("ngcklxy,ngoxy->gockl", cut, grad).reshape(weight_shape)


def conv_forward(x, weight, layer):
    cut, groups = patches(x, weight.shape[2:], layer), layer["groups"]
    n, c, kh, kw, oh, ow = cut.shape
    cut = cut.reshape(n, groups, c // groups, kh, kw, oh, ow)
    weight = weight.reshape(groups, -1, *weight.shape[1:])
    return np.einsum("ngcklxy,gockl->ngoxy", cut, weight).reshape(n, -1, oh, ow)


def named(**modules):
    return nn.Sequential(OrderedDict(modules))


class CaptureTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = os.path.join(scratch.name, "t.safetensors")

    def record(self, model, *inputs, loss=lambda y: (y * torch.arange(y.numel()).view_as(y).cos()).sum(), **options):
        """One recorded step; the capture, layers by name, tensors of step 3 by `layer.role`."""
        capture = Capture(model, self.path, [3], quiet=True, outputs=True, **options)
        with capture.step(3):
            loss(model(*inputs)).backward()
        metadata, tensors = read(self.path)
        layers = json.loads(metadata["mantissa.layers"])
        self.assertTrue(all(name.startswith("s3.") for name in tensors))
        return capture, {layer["name"]: layer for layer in layers}, {n[3:]: t for n, t in tensors.items()}

    def close(self, got, expected, tolerance=1e-5):
        got = np.asarray(got, np.float64)
        expected = expected.detach().numpy() if isinstance(expected, torch.Tensor) else expected
        self.assertEqual(got.shape, expected.shape)
        self.assertLessEqual(np.abs(got - expected).max(), tolerance * max(1e-30, np.abs(expected).max()))


class Convolutions(CaptureTest):
    CASES = [dict(), dict(stride=2, padding=1), dict(dilation=2, padding=2), dict(groups=2, bias=False),
             dict(stride=(2, 1), padding=(0, 2), dilation=(1, 2), groups=4), dict(padding="same", dilation=(1, 3)),
             dict(padding="valid", stride=3)]

    def test_weight_gradient_from_the_record_is_autograds(self):
        for case in self.CASES:
            with self.subTest(**case):
                model = named(first=nn.Conv2d(4, 8, 1), conv=nn.Conv2d(8, 12, (3, 2 if "padding" not in case else 3),
                                                                       **case))
                capture, layers, t = self.record(model, torch.randn(3, 4, 11, 9))
                conv, layer = model.conv, layers["conv"]
                self.assertEqual(capture.notes, [])
                self.close(t["conv.weight"], conv.weight, 0)
                self.close(conv_weight_gradient(t["conv.input"], t["conv.grad_output"], conv.weight.shape, layer),
                           conv.weight.grad)
                y = conv_forward(t["conv.input"], t["conv.weight"], layer)
                self.assertEqual("conv.bias" in t, conv.bias is not None)
                if conv.bias is not None:
                    self.close(t["conv.grad_output"].sum((0, 2, 3)), conv.bias.grad)
                    y = y + t["conv.bias"][:, None, None]
                self.close(t["conv.output"], y)

    def test_records_say_what_the_layer_is(self):
        model = named(a=nn.Conv2d(2, 4, 3, stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2),
                      bn=nn.BatchNorm2d(4), flat=nn.Flatten(), fc=nn.Linear(4 * 5 * 6, 3))
        _, layers, _ = self.record(model, torch.randn(2, 2, 9, 10))
        self.assertEqual(list(layers.values()), [
            {"name": "a", "kind": "conv2d", "stride": [2, 1], "padding": [1, 0], "dilation": [1, 2], "groups": 2,
             "input_gradient": False},
            {"name": "bn", "kind": "batchnorm", "input_gradient": True},
            {"name": "fc", "kind": "linear", "input_gradient": True}])

    def test_a_picture_without_batch_dimension_gets_one(self):
        _, _, t = self.record(nn.Conv2d(2, 3, 3), torch.randn(2, 5, 5))
        self.assertEqual(t["model.input"].shape, (1, 2, 5, 5))
        self.assertEqual(t["model.grad_output"].shape, (1, 3, 3, 3))

    def test_refuses_padding_that_a_trace_cannot_say(self):
        for conv in (nn.Conv2d(1, 1, 2, padding="same"), nn.Conv2d(1, 1, 3, padding=1, padding_mode="reflect")):
            with self.assertRaisesRegex(CaptureError, "layer a: padding.*layers="):
                Capture(named(a=conv, b=nn.Conv2d(1, 1, 3)), self.path, [0])
            Capture(named(a=conv, b=nn.Conv2d(1, 1, 3)), self.path, [0], layers=["b"])


class LinearLayers(CaptureTest):
    def test_inputs_of_any_rank(self):
        for shape in [(5,), (4, 5), (3, 4, 5), (2, 3, 4, 5)]:
            with self.subTest(shape=shape):
                model = named(fc=nn.Linear(5, 3), relu=nn.ReLU(), last=nn.Linear(3, 2))
                _, layers, t = self.record(model, torch.randn(shape))
                self.assertGreaterEqual(t["fc.input"].ndim, 2)
                x, g = t["fc.input"].reshape(-1, 5), t["fc.grad_output"].reshape(-1, 3)
                self.close(g.T @ x, model.fc.weight.grad)
                self.close(g.sum(0), model.fc.bias.grad)
                self.close(t["fc.output"].reshape(-1, 3), x @ t["fc.weight"].T + t["fc.bias"])
                self.assertEqual((layers["fc"]["input_gradient"], layers["last"]["input_gradient"]), (False, True))

    def test_input_gradient_is_of_the_input(self):
        _, layers, _ = self.record(nn.Linear(5, 3), torch.randn(4, 5, requires_grad=True))
        self.assertTrue(layers["model"]["input_gradient"])


class BatchNorms(CaptureTest):
    def test_gamma_and_beta_make_the_output(self):
        for norm, shape in [(nn.BatchNorm2d(4), (3, 4, 5, 6)), (nn.BatchNorm1d(4), (7, 4)), (nn.BatchNorm1d(4), (3, 4, 5)),
                            (nn.BatchNorm2d(4, affine=False), (3, 4, 5, 6)),
                            (nn.BatchNorm1d(4, track_running_stats=False).eval(), (7, 4))]:
            with self.subTest(norm=norm):
                if norm.affine:
                    nn.init.normal_(norm.weight), nn.init.normal_(norm.bias)
                capture, _, t = self.record(norm, torch.randn(shape, requires_grad=True))
                x, channels = t["model.input"], (4,) + (1,) * (len(shape) - 2)
                axes = tuple(axis for axis in range(len(shape)) if axis != 1)
                hat = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + norm.eps)
                self.close(t["model.output"], hat * t["model.gamma"].reshape(channels) + t["model.beta"].reshape(channels))
                if norm.affine:
                    self.close((t["model.grad_output"] * hat).sum(axes), norm.weight.grad)
                    self.close(t["model.grad_output"].sum(axes), norm.bias.grad)
                self.assertEqual(capture.notes, [])

    def test_leaves_out_frozen_ones(self):
        model = named(fc=nn.Linear(3, 4), bn=nn.BatchNorm1d(4).eval())
        capture, layers, _ = self.record(model, torch.randn(5, 3))
        self.assertEqual(list(layers), ["fc"])
        self.assertEqual(len(capture.notes), 1)
        self.assertIn("bn is left out: it is in eval mode", capture.notes[0])


class ResidualNet(nn.Module):
    def __init__(self, in_place):
        super().__init__()
        self.in_place = in_place
        self.a, self.bn = nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4)
        self.b, self.c = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 1)

    def forward(self, x):
        relu = F.relu_ if self.in_place else F.relu
        x = relu(self.bn(relu(self.a(x))))
        y = self.b(x)
        if self.in_place:
            y += x
            y.view(-1).mul_(2)
        else:
            y = (y + x) * 2
        return self.c(relu(y))


class Surroundings(CaptureTest):
    def test_in_place_operations_change_neither_record_nor_training(self):
        x, net, unrecorded, apart = torch.randn(3, 2, 8, 8), *(ResidualNet(flag) for flag in (True, True, False))
        unrecorded.load_state_dict(net.state_dict())
        apart.load_state_dict(net.state_dict())
        _, layers, t = self.record(net, x)
        for name in ("a", "b", "c"):
            layer, weight = layers[name], t[f"{name}.weight"]
            y = conv_forward(t[f"{name}.input"], weight, layer) + t[f"{name}.bias"][:, None, None]
            self.close(t[f"{name}.output"], y)  # before ReLU and sum
            gradient = conv_weight_gradient(t[f"{name}.input"], t[f"{name}.grad_output"], weight.shape, layer)
            self.close(gradient, getattr(net, name).weight.grad)
        _, _, expected = self.record(apart, x)
        self.assertEqual(sorted(t), sorted(expected))
        for name in t:
            self.assertTrue(np.array_equal(t[name], expected[name]), name)
        y = unrecorded(x)
        (y * torch.arange(y.numel()).view_as(y).cos()).sum().backward()
        for (name, parameter), other in zip(net.named_parameters(), unrecorded.parameters()):
            self.assertTrue(torch.equal(parameter.grad, other.grad), name)
        for (name, buffer), other in zip(net.named_buffers(), unrecorded.buffers()):
            self.assertTrue(torch.equal(buffer, other), name)

    def test_each_call_of_a_module_is_a_layer(self):
        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc, self.last = nn.Linear(4, 4), nn.Linear(4, 2)

            def forward(self, x):
                return self.last(self.fc(torch.relu(self.fc(x))))

        model = Twice()
        capture, layers, t = self.record(model, torch.randn(5, 4))
        self.assertEqual(list(layers), ["fc", "fc#2", "last"])  # in order of execution
        self.assertEqual([layer["input_gradient"] for layer in layers.values()], [False, True, True])
        self.close(sum(t[f"{n}.grad_output"].T @ t[f"{n}.input"] for n in ("fc", "fc#2")), model.fc.weight.grad)
        self.assertIn("fc#2", capture.notes[0])

    def test_an_output_with_several_readers_gets_their_sum(self):
        class Fork(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4)

            def forward(self, x):
                y = self.fc(x)
                return y * y.sigmoid() + y.exp()

        model = Fork()
        _, _, t = self.record(model, torch.randn(5, 4))
        self.close(t["fc.grad_output"].T @ t["fc.input"], model.fc.weight.grad)

    def test_two_backward_passes_add(self):
        model = nn.Linear(4, 4)
        capture = Capture(model, self.path, [0], quiet=True)
        with capture.step(0):
            y = model(torch.randn(5, 4))
            y.sum().backward(retain_graph=True)
            y.square().sum().backward()
        _, t = read(self.path)
        self.close(t["s0.model.grad_output"].T @ t["s0.model.input"], model.weight.grad)

    def test_weights_are_those_before_the_update(self):
        model = nn.Linear(4, 4)
        before = model.weight.detach().clone()
        capture = Capture(model, self.path, [0], quiet=True)
        with capture.step(0):
            model(torch.randn(5, 4)).sum().backward()
            torch.optim.SGD(model.parameters(), lr=1).step()
        self.close(read(self.path)[1]["s0.model.weight"], before, 0)
        self.assertFalse(torch.equal(before, model.weight))

    def test_evaluation_inside_a_step_is_not_recorded(self):
        model = nn.Linear(4, 4)
        capture = Capture(model, self.path, [0], quiet=True)
        with capture.step(0):
            with torch.no_grad():
                model(torch.randn(9, 4))
            model(torch.randn(5, 4)).sum().backward()
        _, t = read(self.path)
        self.assertEqual(capture.notes, [])
        self.assertEqual(sorted(t), [f"s0.model.{role}" for role in ("bias", "grad_output", "input", "weight")])
        self.assertEqual(t["s0.model.input"].shape, (5, 4))

    def test_other_kinds_and_unreached_layers_are_noted(self):
        class Odd(nn.Module):
            def __init__(self):
                super().__init__()
                self.up, self.conv = nn.ConvTranspose2d(1, 2, 2), nn.Conv2d(2, 2, 3)
                self.idle, self.dead = nn.Linear(2, 2), nn.Conv2d(2, 2, 1)

            def forward(self, x):
                x = self.up(x)
                self.dead(x)
                return self.conv(x)

        capture, layers, _ = self.record(Odd(), torch.randn(2, 1, 5, 5))
        self.assertEqual(list(layers), ["conv"])
        notes = " | ".join(capture.notes)
        for expected in ("up itself (ConvTranspose2d)", "dead is left out: no gradient", "idle was not called"):
            self.assertIn(expected, notes)

    def test_only_chosen_layers(self):
        model = named(a=nn.Linear(3, 3), b=nn.Linear(3, 3), norm=nn.LayerNorm(3))
        capture, layers, _ = self.record(model, torch.randn(2, 3), layers=["b"])
        self.assertEqual(list(layers), ["b"])
        self.assertEqual(capture.notes, [])
        with self.assertRaisesRegex(CaptureError, "name 'norm'"):
            Capture(model, self.path, [0], layers=["norm"])


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


if __name__ == "__main__":
    unittest.main()
