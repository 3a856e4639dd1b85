"""sim/configs/networks/resnet8.yaml in PyTorch FP32: what `mantissa train` is held against, in speed and in accuracy."""
import gzip
import os
import re

import torch
from torch import nn

DATA = "/usr/share/datasets/fashion-mnist"  # of the Debian package
NETWORK = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "sim", "configs", "networks",
                       "resnet8.yaml")


def setting(key):
    """Of the network file's `training`."""
    with open(NETWORK, encoding="utf-8") as file:
        return float(re.search(rf"^training: .*\b{key}: ([0-9.e-]+)", file.read(), re.M).group(1))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity() if stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return (self.body(x) + self.shortcut(x)).relu()


def network():
    return nn.Sequential(nn.Conv2d(1, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), Block(8, 8, 1),
                         Block(8, 16, 2), Block(16, 32, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


def initialise(model):
    """He et al. 2015, as `mantissa train` does."""
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.kaiming_normal_(parameter, nonlinearity="relu")
    nn.init.zeros_(model[-1].bias)


def optimizer_of(model):
    """SGD that decays weights alone: no bias, gamma or beta."""
    decayed = [each for each in model.parameters() if each.dim() > 1]
    others = [each for each in model.parameters() if each.dim() == 1]
    return torch.optim.SGD([{"params": decayed, "weight_decay": setting("weight_decay")}, {"params": others}],
                           lr=setting("learning_rate"), momentum=setting("momentum"))


def one_cycle(step, steps):
    """Share of the peak: in a straight line from 1/25 up during 30 % of the steps, then down to 1/10000."""
    top = max(1, 0.3 * steps)
    if step < top:
        return 0.04 + 0.96 * step / top
    return 1 + (1e-4 - 1) * min(1, (step - top) / max(1, steps - top))


def fashion_mnist(part):
    """Images, normalised, and labels of `train` or `t10k`."""
    def raw(kind, header):
        with gzip.open(f"{DATA}/{part}-{kind}-ubyte.gz") as file:
            return torch.frombuffer(bytearray(file.read()[header:]), dtype=torch.uint8)
    images = raw("images-idx3", 16).view(-1, 1, 28, 28).float() / 255
    return (images - 0.2860) / 0.3530, raw("labels-idx1", 8).long()


def train_epoch(model, optimizer, images, labels, batch, after_step=lambda: None):
    loss = nn.CrossEntropyLoss()
    order = torch.randperm(len(images))
    for chosen in order.split(batch):
        optimizer.zero_grad()
        loss(model(images[chosen]), labels[chosen]).backward()
        optimizer.step()
        after_step()
