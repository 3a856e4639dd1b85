"""The example behind `tools/capture_torch.py`: small networks trained on Fashion-MNIST, and recorded."""
import argparse
import gzip
import hashlib
import os
import sys
from collections import OrderedDict, namedtuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from capture_torch import DTYPES, Capture, CaptureError

# ---- the data set -------------------------------------------------------------------------------------------

DATA = "/usr/share/datasets/fashion-mnist"
MEAN, DEVIATION = 0.2860, 0.3530  # of the training set's pixels, which are 0 to 1


def read_idx(path):
    """A gzipped IDX file of bytes: magic 0, 0, 8, rank; big-endian sizes; elements."""
    try:
        with gzip.open(path) as file:
            data = file.read()
    except FileNotFoundError:
        raise CaptureError(f"no data set at {path}: `tools/setup --torch` installs Debian's dataset-fashion-mnist, "
                           "or give --data DIR") from None
    except (OSError, EOFError) as error:
        raise CaptureError(f"{path}: {error}") from None
    if len(data) < 4 or data[:3] != b"\0\0\x08":
        raise CaptureError(f"{path} is not an IDX file of bytes")
    rank = data[3]
    shape = tuple(np.frombuffer(data, ">u4", rank, 4)) if len(data) >= 4 + 4 * rank else ()
    if len(shape) != rank or len(data) != 4 + 4 * rank + int(np.prod(shape)):
        raise CaptureError(f"{path} is not as long as its header says")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def fashion_mnist(directory, part):
    images = read_idx(os.path.join(directory, f"{part}-images-idx3-ubyte.gz")).astype(np.float32)
    labels = read_idx(os.path.join(directory, f"{part}-labels-idx1-ubyte.gz")).astype(np.int64)
    return (torch.from_numpy((images / 255 - MEAN) / DEVIATION).unsqueeze(1), torch.from_numpy(labels))


# ---- the networks -------------------------------------------------------------------------------------------

def named(**modules):
    return nn.Sequential(OrderedDict(modules))


class Block(nn.Module):
    """Two 3x3 convolutions with a skip connection, which a 1x1 convolution fits to another shape."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.skip = nn.Identity() if stride == 1 and inputs == outputs else named(
            conv=nn.Conv2d(inputs, outputs, 1, stride, bias=False), bn=nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + self.skip(x))


def resnet8():
    """The smallest of He et al.'s CIFAR networks (6n + 2 layers, n = 1), with half its channels."""
    stem = named(conv=nn.Conv2d(1, 8, 3, 1, 1, bias=False), bn=nn.BatchNorm2d(8), relu=nn.ReLU(inplace=True))
    return named(stem=stem, block1=Block(8, 8, 1), block2=Block(8, 16, 2), block3=Block(16, 32, 2),
                 pool=nn.AdaptiveAvgPool2d(1), flatten=nn.Flatten(), fc=nn.Linear(32, 10))


class Attention(nn.Module):
    """Four heads. nn.MultiheadAttention calls no Linear modules for its projections; here they are written out."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        q, k, v = (p(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in (self.q, self.k, self.v))
        weights = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, dim=-1)
        return self.o((weights @ v).transpose(1, 2).flatten(2))


class Transformer(nn.Module):
    """One pre-norm block; the 28 rows of an image are its tokens."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.embed = nn.Linear(28, width)
        self.position = nn.Parameter(torch.randn(28, width) * 0.02)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(x.squeeze(1)) + self.position
        x = x + self.attention(self.norm1(x))
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        return self.head(self.norm3(x).mean(dim=1))


def mlp():
    return named(flatten=nn.Flatten(), fc1=nn.Linear(784, 128, bias=False), bn1=nn.BatchNorm1d(128),
                 relu1=nn.ReLU(inplace=True), fc2=nn.Linear(128, 64, bias=False), bn2=nn.BatchNorm1d(64),
                 relu2=nn.ReLU(inplace=True), fc3=nn.Linear(64, 10))


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=5e-4)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=2e-3)


NETS = {"resnet8": (resnet8, sgd), "transformer": (Transformer, adam), "mlp": (mlp, sgd)}


# ---- training -----------------------------------------------------------------------------------------------

def batches(images, labels, size, generator):
    """Without end: every epoch in an order of its own."""
    while True:
        for chosen in torch.randperm(len(images), generator=generator).split(size):
            if len(chosen) == size:
                yield images[chosen], labels[chosen]


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in zip(images.split(500), labels.split(500)))
    model.train()
    return right / len(images)


Row = namedtuple("Row", "step epoch loss mean_loss accuracy")


def train(options, quiet=False):
    """Trains until the last chosen step is recorded; returns what was reached at each of them, as Row.

    A recorded step is a training step like any other, only with `record_batch` samples: its batch norms take their
    statistics from those.
    """
    images, labels = fashion_mnist(options.data, "train")
    test = fashion_mnist(options.data, "t10k")
    if not 1 <= options.batch <= len(images):
        raise CaptureError(f"--batch {options.batch} must be from 1 to {len(images)}")
    if not 2 <= options.record_batch <= options.batch:  # a batch norm over one sample of one element is 0 / 0
        raise CaptureError(f"--record-batch {options.record_batch} must be from 2 to the batch, {options.batch}")
    # One thread and deterministic kernels: the same seed gives the same file on the same machine.
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    make, optimizer_of = NETS[options.net]
    model = make()
    optimizer = optimizer_of(model.parameters())
    capture = Capture(model, options.out, options.steps, loss_scale=options.loss_scale, outputs=options.outputs,
                      dtype=options.dtype, gradient_dtype=options.gradient_dtype, quiet=quiet,
                      description=f"{options.net} on Fashion-MNIST, PyTorch {torch.__version__}, seed {options.seed}, "
                                  f"batch {options.batch}, recorded steps with {options.record_batch} samples")
    rows, recent = [], []
    source = batches(images, labels, options.batch, torch.Generator().manual_seed(options.seed))
    for step, (x, y) in zip(range(capture.steps[-1] + 1), source):
        if step in capture.steps:
            x, y = x[:options.record_batch], y[:options.record_batch]
            reached = accuracy(model, *test)
        with capture.step(step):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            (loss * options.loss_scale).backward()
        for parameter in model.parameters():
            parameter.grad /= options.loss_scale
        optimizer.step()
        recent = (recent + [loss.item()])[-100:]
        row = Row(step, step * options.batch / len(images), loss.item(), sum(recent) / len(recent), None)
        text = f"step {step:6d}  epoch {row.epoch:5.2f}  loss {row.loss:.4f}  mean of 100 {row.mean_loss:.4f}"
        if step in capture.steps:
            rows.append(row._replace(accuracy=reached))
            text += f"  test accuracy {reached:.1%}  recorded"
        if step in capture.steps or step % 100 == 0:
            print(text, flush=True)
    return rows


# ---- the command line ---------------------------------------------------------------------------------------

def step_list(text):
    try:
        return [int(step) for step in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers such as 20,400") from None


def parser():
    result = argparse.ArgumentParser(
        prog="capture_torch.py", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Trains a small network on Fashion-MNIST and records some steps as a trace for `mantissa replay`.\n"
                    "For your own model, use Capture from this file: two lines in your training loop.",
        epilog="""examples:
  tools/capture_torch.py --net resnet8 --steps 20,400 --batch 8 --out run.safetensors
  tools/capture_torch.py --net transformer --steps 100 --record-batch 8 --loss-scale 8192 --out run.safetensors
  tools/capture_torch.py --shipped     # makes the traces in traces/ again, and their table""")
    option = result.add_argument
    option("--net", choices=NETS, default="resnet8", help="default: %(default)s")
    option("--steps", type=step_list, default=[20, 400], metavar="N,N,...", help="steps to record; default: 20,400")
    option("--batch", type=int, default=64, metavar="N", help="samples of a training step; default: %(default)s")
    option("--record-batch", type=int, metavar="N", help="samples of a recorded step; default: as --batch")
    option("--out", default="run.safetensors", metavar="FILE", help="default: %(default)s")
    option("--dtype", choices=DTYPES, default="F32", help="element type of all tensors but gradients; default: %(default)s")
    option("--gradient-dtype", choices=("F32", "BF16"), default="F32", help="default: %(default)s")
    option("--outputs", action="store_true", help="also record the outputs of the layers")
    option("--loss-scale", type=float, default=1.0, metavar="S",
           help="factor on the loss, which recorded gradients contain; default: 1")
    option("--seed", type=int, default=1, metavar="N", help="default: %(default)s")
    option("--data", default=DATA, metavar="DIR", help="Fashion-MNIST; default: %(default)s")
    option("--shipped", action="store_true", help="make the traces in traces/ and traces/SHIPPED.md again; takes no other option")
    return result


def parse(arguments):
    options = parser().parse_args(arguments)
    options.record_batch = options.batch if options.record_batch is None else options.record_batch
    return options


SHIPPED = {
    "fashion-cnn.safetensors":
        "--net resnet8 --steps 20,2040 --batch 64 --record-batch 4 --dtype F16",
    "fashion-transformer.safetensors":
        "--net transformer --steps 20,2040 --batch 64 --record-batch 8 --dtype F16",
}
SHIPPED_TEXT = """# Shipped traces

Real training steps on Fashion-MNIST (60,000 training images, 10,000 test images; Debian's dataset-fashion-mnist), recorded
by `tools/capture_torch.py` with PyTorch {torch}, FP32 arithmetic, seed 1. Written by `tools/capture_torch.py --shipped`, which
trains both networks again (a few minutes on one core) and gives the same bytes on the same machine and PyTorch.

| file | network | step | epoch | mean loss of the last 100 steps (of all, before that) | loss of the recorded batch | test accuracy |
|---|---|---|---|---|---|---|
{reached}

| file | bytes | SHA-256 |
|---|---|---|
{files}

| file | made by |
|---|---|
{commands}

Networks: `resnet8` has a stem, three residual blocks of two 3x3 convolutions (8, 16, 32 channels; strides 1, 2, 2; 1x1
convolutions on the skips that change shape), batch norm after every convolution, and one linear layer. `transformer` is one
pre-norm block of width 32 with four heads and an MLP of width 64; its tokens are the 28 rows of an image. Layer norms and the
attention's own products are not layers of a trace.

Training takes batches of 64. A recorded step is a training step with a smaller batch (4 and 8 samples), which keeps the
files small; its batch norms take their statistics from that batch. The loss of so few samples varies (in this run of `resnet8`, every
20th step from 1900 to 2200: 0.07 to 2.3, median 0.6), so the late step is one with an ordinary loss. It is the batch's mean, not scaled.

Inputs, weights and batch norm parameters are stored as F16. Gradients are stored as F32: many are below 2^-14, where F16 loses bits.
"""


def make_shipped():
    directory = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "traces"))
    reached, files, commands = [], [], []
    for name, arguments in SHIPPED.items():
        options = parse(arguments.split() + ["--out", os.path.join(directory, name)])
        print(f"# {name}: {arguments}", flush=True)
        for row in train(options):
            reached.append(f"| `{name}` | {options.net} | {row.step} | {row.epoch:.2f} | {row.mean_loss:.3f} | "
                           f"{row.loss:.3f} | {row.accuracy:.1%} |")
        with open(options.out, "rb") as file:
            data = file.read()
        files.append(f"| `{name}` | {len(data):,} | `{hashlib.sha256(data).hexdigest()}` |")
        commands.append(f"| `{name}` | `tools/capture_torch.py {arguments} --out traces/{name}` |")
    text = SHIPPED_TEXT.format(torch=torch.__version__, files="\n".join(files),
                               reached="\n".join(reached), commands="\n".join(commands))
    with open(os.path.join(directory, "SHIPPED.md"), "w", encoding="utf-8") as file:
        file.write(text)


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parse(arguments)
    try:
        if options.shipped:
            if len(arguments) > 1:
                raise CaptureError("--shipped takes no other option")
            make_shipped()
        else:
            train(options)
    except CaptureError as error:
        print(f"capture_torch.py: error: {error}", file=sys.stderr)
        return 2
    return 0
