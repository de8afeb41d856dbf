"""The GPU backend: CUDA kernels, level by level in blocks of partial matches."""
