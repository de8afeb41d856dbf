"""The complex reads of LDBC's Social Network Benchmark (interactive workload) on generated networks."""
