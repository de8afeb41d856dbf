// What CUDA gives to kernels, for one thread that is a block and a warp of its own.
#pragma once

#define ROLLED
#define UNROLLED
#define WARP 1
#define GROUP 1
#define BLOCK 1
#define RESIDENT 1
#define WIDE_RESIDENT 1
#define __global__
#define __device__
#define __shared__ static thread_local
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(threads, resident)
#define __grid_constant__

struct Dimension {
    unsigned x;
};

static const Dimension threadIdx{0}, blockIdx{0}, blockDim{1}, gridDim{1};

static inline void __syncthreads() {}
static inline void __syncwarp() {}
static inline void __threadfence() {}

// A clock of its own, so that tapes are interrupted at the same places in every run.
static inline unsigned long long now() {
    static thread_local unsigned long long time = 0;
    return ++time;
}

static inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
static inline int __ffs(unsigned bits) { return __builtin_ffs(int(bits)); }
static inline unsigned __ballot_sync(unsigned, bool holds) { return holds; }

template <typename Value>
static inline Value __shfl_sync(unsigned, Value value, int) { return value; }
template <typename Value>
static inline Value __shfl_up_sync(unsigned, Value value, int) { return value; }
template <typename Value>
static inline Value __shfl_down_sync(unsigned, Value value, int) { return value; }

template <typename Value>
static inline unsigned __match_any_sync(unsigned, Value) { return 1; }
static inline unsigned __reduce_add_sync(unsigned, unsigned value) { return value; }

template <typename Value>
static inline Value __shfl_xor_sync(unsigned, Value value, int) { return value; }

template <typename Value>
static inline Value atomicAdd(Value *place, Value value) {
    Value before = *place;
    *place += value;
    return before;
}

template <typename Value>
static inline Value atomicMax(Value *place, Value value) {
    Value before = *place;
    if (value > before) *place = value;
    return before;
}

static inline unsigned atomicOr(unsigned *place, unsigned value) {
    unsigned before = *place;
    *place |= value;
    return before;
}

template <typename Value>
static inline Value atomicCAS(Value *place, Value expected, Value value) {
    Value before = *place;
    if (before == expected) *place = value;
    return before;
}

template <typename Value>
static inline Value atomicExch(Value *place, Value value) {
    Value before = *place;
    *place = value;
    return before;
}
