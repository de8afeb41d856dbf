"""What Numba and the machine are told: compilation, addresses, memory, threads."""
