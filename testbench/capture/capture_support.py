"""What the tests of tools/capture_torch.py share: a reader of traces that is not the tool's writer, and a recorder."""
import json
import os
import pathlib
import sys
import tempfile
import unittest
from collections import OrderedDict

SKIPPED = 77  # CTest's SKIP_RETURN_CODE
SOURCES = pathlib.Path(__file__).resolve().parents[2]
TOOLS = SOURCES / "tools"
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as error:
    print(f"skipped: {error}; tools/setup --torch installs it")
    sys.exit(SKIPPED)
sys.path.insert(0, str(TOOLS))
from capture_torch import Capture  # noqa: E402

torch.set_num_threads(1)


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
