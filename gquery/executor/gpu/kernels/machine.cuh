// What kernels assume of the machine: its widths, and what threads do together. The only place that knows how many lanes
// a warp has; the tests run the same kernels with one lane a warp and one thread a block.

typedef long long int64;
typedef unsigned long long uint64;
typedef unsigned char byte;

#define KERNEL extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
#define WIDE_KERNEL extern "C" __global__ void __launch_bounds__(BLOCK, WIDE_RESIDENT)
#define INNER static __device__ __forceinline__
#define INNER_MEMBER __device__ __forceinline__
#define APART static __device__ __noinline__

#ifndef WARP
#define ROLLED _Pragma("unroll 1")  // a loop of few turns: written out it would only crowd others from the caches
#define UNROLLED _Pragma("unroll")  // one that has to be written out, for its array to be registers
#define WARP 32
#define GROUP 8  // lanes that take a short row together
#define BLOCK 256
#define RESIDENT 4  // blocks of a multiprocessor at least
#define WIDE_RESIDENT 3  // where threads need many registers

// Nanoseconds.
INNER uint64 now() {
    uint64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}
#endif

const unsigned ALL = 0xffffffffu;
const int WARPS = BLOCK / WARP;  // of a block

INNER int64 thread() { return int64(blockIdx.x) * BLOCK + threadIdx.x; }
INNER int64 threads() { return int64(gridDim.x) * BLOCK; }
INNER int lane() { return threadIdx.x % WARP; }

template <typename Value>
INNER Value seen_now(const Value *place) { return *static_cast<const volatile Value *>(place); }

// Memory of a block for what an operation uses as long as it runs: the same for all operations that use a kind.
template <typename Kind>
INNER Kind &at_hand() {
    __shared__ Kind kind;
    return kind;
}

// The same for operations of a tape, which come one after another: all kinds share one place, so that more is left for
// the cache.
const int DESK = 48 * BLOCK + 512;

INNER byte *desk() {
    alignas(16) __shared__ byte place[DESK];
    return place;
}

template <typename Kind>
INNER Kind &at_desk() {
    static_assert(sizeof(Kind) <= DESK, "it does not fit");
    return *reinterpret_cast<Kind *>(desk());
}

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

// Of the lanes in `found`, those of this lane's row that are not before it; rows ascend over the lanes.
INNER int count_of_row(unsigned found, int row) {
    unsigned behind = __ballot_sync(ALL, begins_row(row)) & ~((2u << lane()) - 1);
    unsigned until = behind ? (behind & (0u - behind)) - 1 : ALL;
    return __popc(found & until & ~((1u << lane()) - 1));
}

// What lane `from` points to.
template <typename Value>
INNER Value *pointer_of(Value *pointer, int from) {
    return reinterpret_cast<Value *>(__shfl_sync(ALL, reinterpret_cast<uint64>(pointer), from));
}

// The sum of `value` over the threads of a block before this one; `total` becomes that of all.
INNER int64 sum_before(int64 value, int64 &total) {
    __shared__ int64 of_warp[WARPS];
    int64 running = value;
    for (int step = 1; step < WARP; step *= 2) {
        int64 other = __shfl_up_sync(ALL, running, step);
        if (lane() >= step) running += other;
    }
    __syncthreads();
    if (lane() == WARP - 1) of_warp[threadIdx.x / WARP] = running;
    __syncthreads();
    int64 earlier = 0;
    total = 0;
    for (int i = 0; i < WARPS; i++) {
        if (i < int(threadIdx.x) / WARP) earlier += of_warp[i];
        total += of_warp[i];
    }
    return earlier + running - value;
}

INNER int64 sum_of_block(int64 value) {
    int64 total;
    sum_before(value, total);
    return total;
}

// Adds what all threads of a block have to a number that others add to as well.
INNER void add_of_block(int64 value, uint64 *number) {
    int64 total = sum_of_block(value);
    if (threadIdx.x == 0 && total) atomicAdd(number, uint64(total));
}

// Threads that take a row together: so many lanes of a warp, or a block. Each looks at so many entries at once before
// any looks at what has been found.
template <int LANES>
struct Lanes {
    enum { SIZE = LANES, AT_ONCE = LANES == WARP ? 8 : 4 };

    INNER_MEMBER int member() const { return lane() % LANES; }
    INNER_MEMBER unsigned all() const {
        return LANES == 32 ? ALL : ((1u << (LANES % 32)) - 1) << (lane() / LANES * LANES);
    }
    INNER_MEMBER int sum(int value) const {
        for (int step = 1; step < LANES; step *= 2) value += __shfl_xor_sync(all(), value, step);
        return value;
    }
    // How many before this one hold it; `total` becomes how many do.
    INNER_MEMBER int before(bool holds, int &total) const {
        unsigned found = (__ballot_sync(all(), holds) & all()) >> (lane() / LANES * LANES);
        total = __popc(found);
        return __popc(found & ((1u << member()) - 1));
    }
};

struct Block {
    enum { SIZE = BLOCK, AT_ONCE = 4 };

    INNER_MEMBER int member() const { return threadIdx.x; }
    INNER_MEMBER int sum(int value) const { return int(sum_of_block(value)); }
    INNER_MEMBER int before(bool holds, int &total) const {
        int64 all;
        int64 earlier = sum_before(holds, all);
        total = int(all);
        return int(earlier);
    }
};

// What a block does of so many rows, a thread each, in turns: the same rows by the same threads for every operation.
struct Share {
    int64 begin, end;
};

INNER Share share_of(int64 count) {
    int64 each = (count + gridDim.x - 1) / gridDim.x;
    each = (each + BLOCK - 1) / BLOCK * BLOCK;
    int64 begin = each * blockIdx.x;
    return Share{begin < count ? begin : count, begin + each < count ? begin + each : count};
}
