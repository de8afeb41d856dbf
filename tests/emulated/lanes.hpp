// What CUDA gives to kernels, for one block of two warps: every lane is a coroutine that runs from one meeting of its warp
// or block to the next. Which lane runs next is drawn at random, so that what a lane reads before all have written it
// comes out wrong; lanes that do not meet where they should end the process.
#pragma once

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "words.hpp"

#define WARP 32
#define GROUP 8
#define BLOCK 64
#define __shared__ static

enum Meeting { NOWHERE, SYNCWARP, BALLOT, SHUFFLE, MATCH, REDUCE, SYNCTHREADS };

struct Lane {
    ucontext_t context;
    std::vector<char> stack;
    bool ended;
    Meeting meeting;  // where it waits
    unsigned others;  // for which lanes of its warp
    unsigned long long value;
};

struct Emulator {
    Lane lanes[BLOCK];
    unsigned long long told[BLOCK];  // at the last meeting
    int current;
    ucontext_t back;
    std::function<void()> work;
    unsigned long long chance = 1;
};

static Emulator emulator;

static void fail(const char *why) {
    std::fprintf(stderr, "%s\n", why);
    std::abort();
}

static void meet(Meeting meeting, unsigned long long value, unsigned others = ~0u) {
    Lane &lane = emulator.lanes[emulator.current];
    lane.meeting = meeting;
    lane.others = others;
    lane.value = value;
    swapcontext(&lane.context, &emulator.back);
}

static void work_of_lane() {
    emulator.work();
    Lane &lane = emulator.lanes[emulator.current];
    lane.ended = true;
    swapcontext(&lane.context, &emulator.back);
}

static void begin_lanes() {
    for (Lane &lane : emulator.lanes) {
        lane.stack.resize(1 << 18);
        lane.ended = false;
        lane.meeting = NOWHERE;
        getcontext(&lane.context);
        lane.context.uc_stack.ss_sp = lane.stack.data();
        lane.context.uc_stack.ss_size = lane.stack.size();
        lane.context.uc_link = nullptr;
        makecontext(&lane.context, work_of_lane, 0);
    }
}

// Runs any lane that does not wait. Whether there is one.
static bool run_one() {
    int ready[BLOCK], count = 0;
    for (int i = 0; i < BLOCK; i++)
        if (!emulator.lanes[i].ended && emulator.lanes[i].meeting == NOWHERE) ready[count++] = i;
    if (!count) return false;
    emulator.chance = emulator.chance * 6364136223846793005ull + 1442695040888963407ull;
    emulator.current = ready[(emulator.chance >> 33) % count];
    swapcontext(&emulator.back, &emulator.lanes[emulator.current].context);
    return true;
}

// Lets all lanes of a block go on if they wait for each other. Whether they do.
static bool release_block() {
    for (const Lane &lane : emulator.lanes)
        if (lane.ended || lane.meeting != SYNCTHREADS) return false;
    for (Lane &lane : emulator.lanes) lane.meeting = NOWHERE;
    return true;
}

// Lets a lane go on, and those that it waits for, if all of them wait at the same place for the same lanes. Whether they do.
static bool release(int first) {
    const Lane &asked = emulator.lanes[first];
    if (asked.ended || asked.meeting == NOWHERE || asked.meeting == SYNCTHREADS) return false;
    const int begin = first / WARP * WARP;
    const Meeting meeting = asked.meeting;
    const unsigned others = asked.others;
    for (int i = 0; i < WARP; i++) {
        const Lane &lane = emulator.lanes[begin + i];
        if (!(others >> i & 1)) continue;
        if (lane.ended || lane.meeting == NOWHERE || lane.meeting == SYNCTHREADS) return false;
        if (lane.others == others && lane.meeting != meeting) fail("lanes of a warp wait at different places");
        if (lane.others != others) return false;
    }
    for (int i = 0; i < WARP; i++) {
        if (!(others >> i & 1)) continue;
        emulator.told[begin + i] = emulator.lanes[begin + i].value;
        emulator.lanes[begin + i].meeting = NOWHERE;
    }
    return true;
}

// Runs a kernel.
static void run_block(std::function<void()> work) {
    emulator.work = std::move(work);
    begin_lanes();
    while (true) {
        while (run_one()) {}
        bool any = release_block(), all_ended = true;
        for (int lane = 0; lane < BLOCK; lane++) any |= release(lane);
        for (const Lane &lane : emulator.lanes) all_ended &= lane.ended;
        if (all_ended) return;
        if (!any) fail("lanes wait for each other at different places");
    }
}

static const Dimension blockIdx{0}, blockDim{BLOCK}, gridDim{1};

static inline Dimension this_thread() { return Dimension{unsigned(emulator.current)}; }
#define threadIdx (this_thread())

static inline void __syncthreads() { meet(SYNCTHREADS, 0); }
static inline void __syncwarp() { meet(SYNCWARP, 0); }
static inline void __threadfence() {}
static inline unsigned long long now() {
    static unsigned long long time = 0;
    return ++time;
}

// What a lane of the same warp has told.
static inline unsigned long long told(int lane) { return emulator.told[emulator.current / WARP * WARP + lane]; }

template <typename Value>
static inline unsigned long long as_word(Value value) {
    unsigned long long word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
}

static inline unsigned alike(unsigned mask, unsigned long long word) {
    unsigned found = 0;
    for (int i = 0; i < WARP; i++) found |= (mask >> i & 1) && told(i) == word ? 1u << i : 0;
    return found;
}

static inline unsigned __ballot_sync(unsigned mask, bool holds) {
    meet(BALLOT, holds, mask);
    return alike(mask, 1);
}

template <typename Value>
static inline unsigned __match_any_sync(unsigned mask, Value value) {
    meet(MATCH, as_word(value), mask);
    return alike(mask, as_word(value));
}

static inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
    meet(REDUCE, value, mask);
    unsigned sum = 0;
    for (int i = 0; i < WARP; i++) sum += mask >> i & 1 ? unsigned(told(i)) : 0;
    return sum;
}

template <typename Value>
static inline Value __shfl_sync(unsigned mask, Value value, int lane) {
    meet(SHUFFLE, as_word(value), mask);
    const unsigned long long word = told(lane % WARP);
    std::memcpy(&value, &word, sizeof value);
    return value;
}

template <typename Value>
static inline Value __shfl_up_sync(unsigned mask, Value value, int step) {
    const int lane = emulator.current % WARP;
    return __shfl_sync(mask, value, lane < step ? lane : lane - step);
}

template <typename Value>
static inline Value __shfl_down_sync(unsigned mask, Value value, int step) {
    const int lane = emulator.current % WARP;
    return __shfl_sync(mask, value, lane + step < WARP ? lane + step : lane);
}

template <typename Value>
static inline Value __shfl_xor_sync(unsigned mask, Value value, int step) {
    return __shfl_sync(mask, value, (emulator.current % WARP) ^ step);
}
