// What CUDA gives to kernels, for one thread that is a block and a warp of its own.
#pragma once

#include "words.hpp"

#define WARP 1
#define GROUP 1
#define BLOCK 1
#define __shared__ static thread_local

static const Dimension threadIdx{0}, blockIdx{0}, blockDim{1}, gridDim{1};

static inline void __syncthreads() {}
static inline void __syncwarp() {}
static inline void __threadfence() {}

// A clock of its own, so that tapes are interrupted at the same places in every run.
static inline unsigned long long now() {
    static thread_local unsigned long long time = 0;
    return ++time;
}

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
