"""Packed tables, frames and workers: how kernels run."""
