"""The GPU's kernels without a GPU: compiled for the CPU, with one thread a block and one lane a warp."""
