#!/usr/bin/python3
"""Records real training tensors of a PyTorch model into a trace for `mantissa replay`.

As a library, two lines in a training loop:

    from capture_torch import Capture

    capture = Capture(model, "run.safetensors", steps=[20, 400])
    for i, (x, y) in enumerate(batches):
        with capture.step(i):
            optimizer.zero_grad()
            criterion(model(x), y).backward()
        optimizer.step()

The file is written anew after each chosen step, beside its place and then renamed, so that whatever ends the
training later, the trace is complete. Steps that were not chosen cost nothing: no hook is installed.

Recorded per call of a Conv2d, Linear, BatchNorm1d or BatchNorm2d: input, weight, bias (gamma, beta of batch
norms), and the gradient that reaches the output; copies, so that in-place operations after the layer change
neither the record nor the training. A module called again in one step is a layer of its own, `name#2`. Calls
without gradients (torch.no_grad) are not recorded. Layers of other kinds are left alone, with a note. The trace has
these notes, and how many multiply-accumulates the forward passes executed, so that `mantissa trace info` can say
which share of them it has.

As a program it trains a small network on Fashion-MNIST and records it; see --help.
"""
import contextlib
import json
import operator
import os
import sys
import tempfile

TORCH_HINT = ("needs PyTorch and numpy: `tools/setup --torch` installs Debian's python3-torch and python3-numpy, "
              "which /usr/bin/python3 finds")
try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as error:
    if __name__ == "__main__":
        print(f"capture_torch.py: error: {TORCH_HINT} ({error})", file=sys.stderr)
        sys.exit(2)
    raise ImportError(f"capture_torch {TORCH_HINT} ({error})") from error
from capture_macs import MacCounter  # after torch, which may be missing


class CaptureError(Exception):
    """What the user must change, in words."""


# ---- the file -----------------------------------------------------------------------------------------------

DTYPES = ("F32", "F16", "BF16")
LONGEST_NOTE, MOST_NOTES = 500, 1000  # bytes; what a trace may say of its capture


def encode(values, dtype):
    """FP32 numbers as little-endian words of `dtype`, to nearest, ties to even."""
    values = np.asarray(values, np.float32)
    if dtype == "F32":
        return values.astype("<f4")
    if dtype == "F16":
        with np.errstate(over="ignore"):
            return values.astype("<f2")
    if dtype == "BF16":
        bits = values.view(np.uint32)
        rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16
        # The carry of a NaN's payload could reach its exponent.
        return np.where(np.isnan(values), (bits >> 16) | 0x40, rounded).astype("<u2")
    raise CaptureError(f"unknown type '{dtype}'; allowed: {', '.join(DTYPES)}")


def one_line(note):
    """As a trace may have it: printable, and not too long."""
    text = "".join(c if c.isprintable() else "?" for c in note)
    return text.encode()[:LONGEST_NOTE].decode(errors="ignore")


def write_safetensors(path, tensors, metadata):
    """tensors: name -> (dtype, encoded array), written in this order; metadata: name -> text."""
    header, offset = {"__metadata__": metadata}, 0
    for name, (dtype, words) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(words.shape), "data_offsets": [offset, offset + words.nbytes]}
        offset += words.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors begin on a multiple of 8
    path = os.path.realpath(path)
    descriptor, draft = tempfile.mkstemp(prefix="." + os.path.basename(path) + ".", dir=os.path.dirname(path))
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(len(text).to_bytes(8, "little"))
            file.write(text)
            for _, words in tensors.values():
                file.write(np.ascontiguousarray(words).data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(draft, 0o666 & ~mask)  # mkstemp's files are private
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


# ---- what a module is in the trace --------------------------------------------------------------------------

RECORDED = (nn.Conv2d, nn.Linear, nn.BatchNorm1d, nn.BatchNorm2d)


def conv_padding(name, conv):
    """Numbers for what Conv2d allows as words; an error for what the trace cannot say."""
    advice = "pad in the model, or choose other layers with layers=[...]"
    if conv.padding_mode != "zeros":
        raise CaptureError(f"layer {name}: padding mode '{conv.padding_mode}' is not zeros; {advice}")
    if conv.padding == "valid":
        return [0, 0]
    if conv.padding == "same":
        total = [d * (k - 1) for d, k in zip(conv.dilation, conv.kernel_size)]
        if any(t % 2 for t in total):
            raise CaptureError(f"layer {name}: padding 'same' of the kernel {tuple(conv.kernel_size)} is not the same "
                               f"on both sides; {advice}")
        return [t // 2 for t in total]
    return list(conv.padding)


def describe(name, module):
    """The layer's record in `mantissa.layers`."""
    if isinstance(module, nn.Conv2d):
        return {"name": name, "kind": "conv2d", "stride": list(module.stride), "padding": conv_padding(name, module),
                "dilation": list(module.dilation), "groups": module.groups}
    return {"name": name, "kind": "linear" if isinstance(module, nn.Linear) else "batchnorm"}


def snapshot(tensor):
    return tensor.detach().to("cpu", torch.float32, copy=True)


def parameters_of(module):
    if not isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
        yield "weight", snapshot(module.weight)
        if module.bias is not None:
            yield "bias", snapshot(module.bias)
        return
    # Without affine parameters a batch norm does what gamma = 1, beta = 0 do.
    yield "gamma", torch.ones(module.num_features) if module.weight is None else snapshot(module.weight)
    yield "beta", torch.zeros(module.num_features) if module.bias is None else snapshot(module.bias)


def batched(module, tensor):
    """With the batch dimension that PyTorch lets one leave out."""
    return tensor.unsqueeze(0) if tensor.dim() < (4 if isinstance(module, nn.Conv2d) else 2) else tensor


# ---- the hooks ----------------------------------------------------------------------------------------------

class Capture:
    """Records `steps` of the training of `model` into the trace `path`.

    layers          names of the modules to record (as in model.named_modules()); all that can be, by default
    loss_scale      the factor on the loss, if there is one: recorded gradients are multiplied by it, and the
                    trace says so
    outputs         also record what the layers put out
    dtype           F32, F16 or BF16 for all but gradients
    gradient_dtype  F32 or BF16: gradients are too small for F16
    description     a sentence for the file's metadata
    quiet           no notes on stderr; they are in `notes` in any case
    """

    def __init__(self, model, path, steps, *, layers=None, loss_scale=1.0, outputs=False, dtype="F32",
                 gradient_dtype="F32", description="", quiet=False):
        if not isinstance(model, nn.Module):
            raise CaptureError(f"the model is a {type(model).__name__}, not a torch.nn.Module")
        if dtype not in DTYPES:
            raise CaptureError(f"unknown dtype '{dtype}'; allowed: {', '.join(DTYPES)}")
        if gradient_dtype not in ("F32", "BF16"):
            raise CaptureError(f"gradient_dtype '{gradient_dtype}' must be F32 or BF16: small gradients would vanish")
        if not (0 < loss_scale < float("inf")):
            raise CaptureError(f"loss_scale {loss_scale} must be positive and finite")
        self.path = os.fspath(path)
        directory = os.path.dirname(os.path.realpath(self.path))
        if os.path.isdir(self.path) or not os.access(directory, os.W_OK | os.X_OK):  # now, not after the training
            raise CaptureError(f"cannot write {self.path}: it is a directory, or its directory is not there or not "
                               "writable")
        self.steps = self._checked_steps(steps)
        self.recorded = []  # steps that are in the file
        self.notes = []
        self.description = description
        self.loss_scale = float(loss_scale)
        self._dtype, self._gradient_dtype, self._outputs, self._quiet = dtype, gradient_dtype, outputs, quiet
        self._modules = self._chosen_modules(model, layers)
        self._layers = {}   # name -> record, in order of execution
        self._tensors = {}  # name in the file -> (dtype, words)
        self._step = None
        self._hooks = []
        self._calls = {}  # of this step: name -> (record, FP32 tensors by role), in order
        self._skipped = set()  # of this step: names of layers left out, with a note
        self._running = 0      # recorded modules that are being called
        self._counter = None   # of this step
        self._macs = 0         # of the recorded steps' forward passes
        self._outside = {}     # of these, outside of recorded modules: operation -> MACs

    @staticmethod
    def _checked_steps(steps):
        checked = set()
        for step in steps:
            try:
                checked.add(operator.index(step))
            except TypeError:
                raise CaptureError(f"step {step!r} is not a whole number") from None
        if not checked:
            raise CaptureError("no step to record: give steps=[0, 100], counted over all epochs")
        if min(checked) < 0 or max(checked) >= 2**32:
            raise CaptureError("steps must be from 0 to 2^32 - 1")
        return sorted(checked)

    def _chosen_modules(self, model, layers):
        names = {name or "model": module for name, module in model.named_modules()}
        if layers is not None:
            unknown = [name for name in layers if not isinstance(names.get(name), RECORDED)]
            if unknown:
                raise CaptureError(f"no Conv2d, Linear, BatchNorm1d or BatchNorm2d with the name '{unknown[0]}' in the "
                                   "model; model.named_modules() lists the names")
            names = {name: names[name] for name in layers}
        chosen = {}
        for name, module in names.items():
            if isinstance(module, RECORDED):
                chosen[name] = (module, describe(name, module))
            elif any(parameter is not None for parameter in module._parameters.values()):
                self._note(f"parameters of {name} itself ({type(module).__name__}) are not recorded: replay runs "
                           "Conv2d, Linear and batch norms")
        if not chosen:
            raise CaptureError("the model has no Conv2d, Linear, BatchNorm1d or BatchNorm2d to record")
        return chosen

    def _note(self, text):
        if text not in self.notes:
            self.notes.append(text)
            if not self._quiet:
                print(f"capture: note: {text}", file=sys.stderr)

    @contextlib.contextmanager
    def step(self, index):
        """Around forward and backward pass of step `index`; does nothing unless the step was chosen."""
        self.begin(index)
        try:
            yield self
        except BaseException:
            self.cancel()
            raise
        self.end()

    def begin(self, index):
        if self._step is not None:
            raise CaptureError(f"step {index} begins before step {self._step} has ended")
        if index not in self.steps:
            return
        if index in self.recorded:
            self._note(f"step {index} came again and is not recorded again: count steps over all epochs")
            return
        self._step = index
        self._skipped = set()
        self._running = 0
        for name, (module, record) in self._modules.items():
            self._hooks.append(module.register_forward_pre_hook(self._enter))
            self._hooks.append(module.register_forward_hook(self._forward_hook(name, record)))
        self._counter = MacCounter(lambda: self._running > 0)
        self._counter.__enter__()

    def _enter(self, module, inputs):
        self._running += 1

    def cancel(self):
        """Ends a step without recording it."""
        if self._counter is not None:
            self._counter.__exit__(None, None, None)
            self._counter = None
        for hook in self._hooks:
            hook.remove()
        self._hooks, self._calls, self._step = [], {}, None

    def end(self):
        """Ends a chosen step, and writes the trace."""
        if self._step is None:
            return
        step, calls, counter = self._step, self._calls, self._counter
        self.cancel()
        if not calls:
            raise CaptureError(f"step {step}: none of the layers was called; put the forward pass inside the step")
        if not any("grad_output" in tensors for _, tensors in calls.values()):
            raise CaptureError(f"step {step}: no gradient reached any layer; call loss.backward() inside the step")
        for name, (record, tensors) in calls.items():
            if "grad_output" not in tensors:
                self._note(f"step {step}: {name} is left out: no gradient reached it")
                continue
            known = self._layers.setdefault(name, record)
            known["input_gradient"] = known["input_gradient"] or record["input_gradient"]
            for role, tensor in tensors.items():
                self._store(f"s{step}.{name}.{role}", role, tensor.numpy())
        for name in self._modules:
            if name not in calls and name not in self._skipped:
                self._note(f"step {step}: {name} was not called as a module, so it is left out")
        self._macs += counter.total
        for name, macs in counter.outside.items():
            self._outside[name] = self._outside.get(name, 0) + macs
        self.recorded = sorted(self.recorded + [step])
        self._write(step)

    # What the network does to the output in place afterwards (ReLU(inplace=True), +=) is a later node of autograd's
    # graph: a hook registered now gets the gradient of the output as the layer made it.
    def _forward_hook(self, name, record):
        def hook(module, inputs, output):
            self._running -= 1
            if not torch.is_grad_enabled():
                return
            problem = self._why_not(module, inputs, output)
            if problem:
                self._note(f"step {self._step}: {name} is left out: {problem}")
                self._skipped.add(name)
                return
            call, number = name, 1
            while call in self._calls:
                number += 1
                call = f"{name}#{number}"
            if number == 2:
                self._note(f"{name} is called several times in a step: its further calls are recorded as {call}, ...")
            source = inputs[0]
            tensors = {"input": batched(module, snapshot(source))}
            tensors.update(parameters_of(module))
            if self._outputs:
                tensors["output"] = batched(module, snapshot(output))
            self._calls[call] = (dict(record, name=call, input_gradient=source.requires_grad), tensors)

            def keep(gradient):
                gradient = batched(module, snapshot(gradient))
                # A second backward pass through the same graph adds, as it does to weight.grad.
                tensors["grad_output"] = tensors["grad_output"] + gradient if "grad_output" in tensors else gradient

            output.register_hook(keep)

        return hook

    @staticmethod
    def _why_not(module, inputs, output):
        if not inputs:
            return "it was called with its input as a keyword"
        if not output.requires_grad:
            return "neither its weights nor its input need a gradient"
        if inputs[0].numel() == 0 or output.numel() == 0:
            return "it has no elements"
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)) and not (
                module.training or module.running_mean is None):
            return "it is in eval mode and takes no statistics from the batch"
        return None

    def _store(self, name, role, values):
        if not np.isfinite(values).all():
            self._note(f"{name} has numbers that are not finite: replay will refuse it (loss scale too large?)")
        dtype = self._gradient_dtype if role == "grad_output" else self._dtype
        words = encode(values, dtype)
        if dtype == "F16" and np.isinf(words).sum() > np.isinf(values).sum():
            self._note(f"{name} is beyond F16's range and stored as F32")
            dtype, words = "F32", encode(values, "F32")
        self._tensors[name] = (dtype, words)

    def _capture(self):
        """What the model did, and what of it is not in the file."""
        notes = self.notes + [
            f"{macs} forward multiply-accumulates of {name} are outside of recorded layers: a function, or a module of "
            "another kind, did them" for name, macs in sorted(self._outside.items())]
        capture = {"executed_macs": self._macs} if self._macs else {}
        if notes:
            capture["notes"] = [one_line(note) for note in notes[:MOST_NOTES]]
        return capture

    def _write(self, step):
        run = {"loss_scale": self.loss_scale, "steps": self.recorded}
        metadata = {"mantissa.layers": json.dumps(list(self._layers.values())), "mantissa.run": json.dumps(run),
                    "mantissa.capture": json.dumps(self._capture())}
        if self.description:
            metadata["description"] = self.description
        write_safetensors(self.path, self._tensors, metadata)
        if not self._quiet:
            size = os.path.getsize(self.path)
            print(f"capture: step {step}: {len(self._layers)} layers; {self.path} has {size} bytes",
                  file=sys.stderr)


if __name__ == "__main__":
    import capture_example
    sys.exit(capture_example.main())
