"""Programs as tapes: what kernels read of them, and what is launched for them."""
