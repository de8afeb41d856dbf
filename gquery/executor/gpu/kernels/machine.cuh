// What kernels assume of the machine: its widths, and what threads do together. The only place that knows how many lanes
// a warp has; the tests run the same kernels with one lane a warp and one thread a block.

#ifndef WARP
#define WARP 32
#define BLOCK 256
#endif

#define KERNEL extern "C" __global__ void __launch_bounds__(BLOCK)
#define INNER static __device__ __forceinline__
#define INNER_MEMBER __device__ __forceinline__

typedef long long int64;
typedef unsigned long long uint64;
typedef unsigned char byte;

const unsigned ALL = 0xffffffffu;

INNER int64 thread() { return int64(blockIdx.x) * blockDim.x + threadIdx.x; }
INNER int64 threads() { return int64(gridDim.x) * blockDim.x; }
INNER int lane() { return threadIdx.x % WARP; }

// Lanes of the warp before this one for which `found` holds, and in all.
INNER int before(unsigned found) { return __popc(found & ((1u << lane()) - 1)); }
INNER int in_all(unsigned found) { return __popc(found); }

// The sum of `value` over this lane and those behind it with the same `row`; rows ascend over the lanes.
template <typename Value>
INNER Value sum_of_row(Value value, int row) {
    for (int step = 1; step < WARP; step *= 2) {
        Value other = __shfl_down_sync(ALL, value, step);
        int other_row = __shfl_down_sync(ALL, row, step);
        if (lane() + step < WARP && other_row == row) value += other;
    }
    return value;
}

// Whether this lane is the first of its row.
INNER bool begins_row(int row) {
    int other = __shfl_up_sync(ALL, row, 1);
    return lane() == 0 || other != row;
}
