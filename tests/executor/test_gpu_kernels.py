"""The GPU's kernels are compiled for several cards, which needs no card."""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path

import pytest

from gquery.executor.gpu.device import source

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")


def compiler() -> ctypes.CDLL:
    """NVRTC from the package nvidia-cuda-nvrtc."""
    found = sorted(Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/lib/libnvrtc.so*"))
    if not found:
        pytest.skip("the compiler for CUDA (the package nvidia-cuda-nvrtc) is not here")
    return ctypes.CDLL(str(found[0]))


def compiled(nvrtc: ctypes.CDLL, text: str, architecture: str) -> tuple[int, str]:
    """The compiler's status and what it said."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None) == 0
    options = [b"-std=c++17", f"-arch={architecture}".encode(), b"--ptxas-options=-v"]
    status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    said = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, said)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return status, said.value.decode()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kernel_compiles(architecture: str) -> None:
    """Prints registers and spills of each operation; none keeps a stack of any size."""
    status, said = compiled(compiler(), source(), architecture)
    assert status == 0, said
    spills = re.findall(
        r"Function properties for (\w+)\s+ptxas\s+\.\s+\d+ bytes stack frame, (\d+) bytes spill stores", said
    )
    registers = [int(each) for each in re.findall(r"Used (\d+) registers", said)]
    for name, spilled in spills:
        print(f"{architecture} {name}: {spilled} bytes spilled")
    print(f"{architecture}: {registers} registers")
    assert len(registers) == len(re.findall("^(?:WIDE_)?KERNEL", source(), re.MULTILINE))
    # What runs the operations keeps a few numbers on the stack while one runs: once for each, and in no loop of theirs.
    assert max(int(spilled) for name, spilled in spills if name != "run") <= 96


def test_a_broken_kernel_does_not_compile() -> None:
    status, said = compiled(compiler(), source() + "\nKERNEL broken() { missing(); }", "sm_90")
    assert status != 0
    assert "missing" in said
