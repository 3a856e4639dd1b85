#!/usr/bin/python3
"""What tools/capture_torch.py records of layers and networks, against autograd and plain numpy."""
import json
import unittest

from capture_support import CaptureTest, named, np, read, torch  # first: skips where PyTorch is missing
from capture_torch import Capture, CaptureError
from conv_oracle import conv_forward, conv_weight_gradient
from torch import nn
from torch.nn import functional as F


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
        for norm, shape in [(nn.BatchNorm2d(4), (3, 4, 5, 6)), (nn.BatchNorm1d(4), (7, 4)),
                            (nn.BatchNorm1d(4), (3, 4, 5)),
                            (nn.BatchNorm2d(4, affine=False), (3, 4, 5, 6)),
                            (nn.BatchNorm1d(4, track_running_stats=False).eval(), (7, 4))]:
            with self.subTest(norm=norm):
                if norm.affine:
                    nn.init.normal_(norm.weight), nn.init.normal_(norm.bias)
                capture, _, t = self.record(norm, torch.randn(shape, requires_grad=True))
                x, channels = t["model.input"], (4,) + (1,) * (len(shape) - 2)
                axes = tuple(axis for axis in range(len(shape)) if axis != 1)
                hat = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + norm.eps)
                gamma, beta = t["model.gamma"].reshape(channels), t["model.beta"].reshape(channels)
                self.close(t["model.output"], hat * gamma + beta)
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

    def macs(self):
        return json.loads(read(self.path)[0]["mantissa.capture"])

    def test_the_model_is_counted_once(self):
        model = named(conv=nn.Conv2d(4, 6, 3, groups=2, padding=1), relu=nn.ReLU(), flat=nn.Flatten(),
                      fc=nn.Linear(6 * 5 * 7, 3))
        self.record(model, torch.randn(2, 4, 5, 7))
        self.assertEqual(self.macs(), {"executed_macs": 2 * 6 * 5 * 7 * 2 * 9 + 2 * 6 * 5 * 7 * 3})

    def test_what_functions_multiply_is_counted_and_noted(self):
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.k = nn.Linear(8, 8), nn.Linear(8, 8)
                self.up = nn.ConvTranspose2d(1, 2, (2, 3))

            def forward(self, x):
                scores = torch.einsum("btc,bsc->bts", self.q(x), self.k(x))
                with torch.no_grad():
                    x @ x.transpose(1, 2)
                return (scores @ x).sum() + self.up(x.unsqueeze(1)).sum()

        capture, _, _ = self.record(Attention(), torch.randn(3, 5, 8, requires_grad=True), loss=lambda y: y)
        linear, products, up = 2 * 3 * 5 * 8 * 8, 2 * 3 * 5 * 5 * 8, 3 * 5 * 8 * 2 * 6
        told = self.macs()
        self.assertEqual(told["executed_macs"], linear + products + up)
        self.assertEqual(told["notes"][:len(capture.notes)], capture.notes)
        notes = " | ".join(told["notes"])
        self.assertIn(f"{products} forward multiply-accumulates of bmm are outside", notes)
        self.assertIn(f"{up} forward multiply-accumulates of convolution are outside", notes)
        self.assertIn("up itself (ConvTranspose2d)", notes)

    def test_a_step_that_fails_is_not_counted(self):
        model = nn.Linear(4, 4)
        capture = Capture(model, self.path, [0, 1], quiet=True)
        with self.assertRaises(ZeroDivisionError):
            with capture.step(0):
                model(torch.randn(5, 4))
                raise ZeroDivisionError
        with capture.step(1):
            model(torch.randn(5, 4)).sum().backward()
        model(torch.randn(5, 4))
        self.assertEqual(self.macs(), {"executed_macs": 5 * 4 * 4})

    def test_notes_fit_into_a_trace(self):
        model = named(**{"\u00fc" * 400: nn.LayerNorm(4), "fc": nn.Linear(4, 4)})
        model.add_module("bell\a", nn.LayerNorm(4))
        self.record(model, torch.randn(5, 4))
        long, bell = self.macs()["notes"]
        self.assertEqual(len(long.encode()), 500)
        self.assertIn("bell?", bell)

    def test_only_chosen_layers(self):
        model = named(a=nn.Linear(3, 3), b=nn.Linear(3, 3), norm=nn.LayerNorm(3))
        capture, layers, _ = self.record(model, torch.randn(2, 3), layers=["b"])
        self.assertEqual(list(layers), ["b"])
        self.assertEqual(capture.notes, [])
        with self.assertRaisesRegex(CaptureError, "name 'norm'"):
            Capture(model, self.path, [0], layers=["norm"])


if __name__ == "__main__":
    unittest.main()
