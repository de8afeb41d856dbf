// What CUDA gives to kernels whatever runs them: its words, and what a thread does to memory that others use. No two
// threads run at once.
#pragma once

#define ROLLED
#define UNROLLED
#define RESIDENT 1
#define WIDE_RESIDENT 1
#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(threads, resident)
#define __grid_constant__

struct Dimension {
    unsigned x;
};

static inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
static inline int __ffs(unsigned bits) { return __builtin_ffs(int(bits)); }

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

static inline void __nanosleep(unsigned) {}

template <typename Value>
static inline Value atomicOr(Value *place, Value value) {
    Value before = *place;
    *place |= value;
    return before;
}

static inline unsigned atomicAnd(unsigned *place, unsigned value) {
    unsigned before = *place;
    *place &= value;
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
