"""The engine `fast` runs on the kernels: libraries of whole networks must not call the scalar model of what has a kernel.

    fast_kernels.py LIBRARY.a...
"""
import re
import subprocess
import sys

# Scalar models of whole tensors and their kernels, which have the same names in namespace mantissa::kernels.
SCALAR = re.compile(
    r"\bmantissa::(?:range_bn_tensor_(?:forward|backward)|batch_norm_(?:forward|backward)|int_gemm"
    r"|gemmlowp_(?:quantize|dequantize)\(std::span|quantize<|prune_tensor<|gemm\(mantissa::GemmOperands)")


def scalar_calls(library):
    names = subprocess.run(["nm", "-C", "--undefined-only", library], check=True, capture_output=True, text=True)
    return sorted({line.strip() for line in names.stdout.splitlines() if SCALAR.search(line)})


def main(libraries):
    calls = [(library, call) for library in libraries for call in scalar_calls(library)]
    for library, call in calls:
        print(f"{library}: calls the scalar model: {call}; models/kernels has the same, fast")
    if not calls:
        print(f"{len(libraries)} libraries call kernels for whole tensors")
    return 1 if calls or not libraries else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
