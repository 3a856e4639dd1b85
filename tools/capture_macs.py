"""Multiply-accumulates of forward passes: what a model does, recorded or not."""
from torch import Tensor, is_grad_enabled
from torch.utils._python_dispatch import TorchDispatchMode

# The places of both factors among an operation's arguments.
PRODUCTS = {"mm": (0, 1), "bmm": (0, 1), "mv": (0, 1), "dot": (0, 1), "vdot": (0, 1),
            "addmm": (1, 2), "baddbmm": (1, 2), "addbmm": (1, 2), "addmv": (1, 2), "_addmm_activation": (1, 2)}


def product(left, right):
    return left.numel() * (right.shape[-1] if right.dim() > 1 else 1)


def macs_of(name, arguments, result):
    """Of one call of ATen's operation `name`; 0 for what multiplies no matrices."""
    if name in PRODUCTS:
        return product(*(arguments[place] for place in PRODUCTS[name]))
    if name == "convolution":
        source, weight, transposed = arguments[0], arguments[1], arguments[6]
        return (source if transposed else result).numel() * weight[0].numel()
    if "scaled_dot_product" in name:
        query, key, value = arguments[:3]
        return query.numel() // query.shape[-1] * key.shape[-2] * (query.shape[-1] + value.shape[-1])
    return 0


class MacCounter(TorchDispatchMode):
    """While it is entered, counts what operations with gradients do; backward passes and evaluations have none.

    `inside` says whether a recorded module is running.
    """

    def __init__(self, inside):
        super().__init__()
        self.total = 0
        self.outside = {}  # operation -> what it did outside of recorded modules
        self._inside = inside

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if is_grad_enabled():
            name = func.__name__.split(".")[0]
            macs = macs_of(name, args, result if isinstance(result, Tensor) else None)
            self.total += macs
            if macs and not self._inside():
                self.outside[name] = self.outside.get(name, 0) + macs
        return result
