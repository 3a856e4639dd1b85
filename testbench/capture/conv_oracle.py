"""Convolutions in plain numpy, with stride, padding, dilation and groups of a trace's layer record."""
import numpy as np


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
