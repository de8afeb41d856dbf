// A set after the other: what is beside each, and the chunks of tasks that blocks take.

// Counts what the set of a walker is part of. Returns looks, or 0 where the tally lacks room: nothing was counted then.
INNER int64 count_beside(Walker &walker, Cache &cache, Counters *counters) {
    const Census &census = walker.census;
    Beside beside(walker, cache);
    beside.gather();
    int64 looks = beside.vertices() + WARP;
    if (walker.places() > 2 && walker.kept == Walker::UNKNOWN) looks += keep_edges(walker);
    const int64 most = beside.most() + (walker.kept > 0 ? walker.kept : 0);
    if (!walker.has_room(most)) {
        if (lane() == 0) atomicMax(&counters->wanted, most);
        beside.forget();
        return 0;
    }
    const int64 vertices = beside.vertices();
    looks += beside.met * beside.met + (walker.kept >= 0 ? count_kept_edges(beside) : count_edges(beside));
    beside.both();
    beside.behind();
    beside.forget();
    for (int step = 1; step < WARP; step *= 2) beside.fresh += __shfl_xor_sync(ALL, beside.fresh, step);
    walker.room -= beside.fresh;
    walker.bound += double(vertices) * vertices + double(2 * census.links);
    return looks;
}

// What the warps of a block do together: a chunk of the tasks of a graph.
struct Work {
    int64 chunk;
    uint64 begun;
};

struct Paths {
    Path of[WARPS];
};

// Goes on with a chunk for about so many looks at neighbours. Whether it found no room in the tally.
INNER bool go_on(Walker &walker, Work &work, Cache &cache, Counters *counters, int64 &budget) {
    const Census &census = walker.census;
    while (budget > 0) {
        if (walker.depth == walker.places()) {
            int64 looks = count_beside(walker, cache, counters);
            if (!looks) return true;
            budget -= looks + walker.leave();
        } else if (walker.depth > 1) {
            budget -= walker.step();
            if (walker.depth < walker.places()) walker.kept = Walker::UNKNOWN;
        } else if (walker.depth == 1) {
            budget -= walker.leave();
        } else {
            uint64 begun = 0;
            if (lane() == 0) begun = atomicAdd(&work.begun, uint64(1));
            int64 task = work.chunk % census.chunks + int64(__shfl_sync(ALL, begun, 0)) * census.chunks;
            if (task >= census.tasks) return false;
            budget -= walker.begin(int(task));
            walker.kept = Walker::UNKNOWN;
        }
    }
    return false;
}

// Takes the next chunk, which the whole block waits for.
INNER void take_chunk(const Census &census, Work &work, Counters *counters) {
    if (threadIdx.x == 0) {
        int64 next = int64(atomicAdd(&counters->next, uint64(1)));
        work.chunk = next < census.graphs * census.chunks ? next : -1;
        work.begun = 0;
    }
    __syncthreads();
}

// Goes on with the chunks of all graphs, each warp for about so many looks. Tasks of vertices with many neighbours, which
// take long, are the first of a chunk.
KERNEL count_sets(__grid_constant__ const Census census, Counters *counters, int64 budget) {
    Cache &cache = at_hand<Cache>();
    Work &work = at_hand<Work>();
    int64 *at_work = census.at_work + 2 * blockIdx.x, *kept = census.paths + warp() * PATH;
    if (threadIdx.x == 0) work.chunk = at_work[0], work.begun = uint64(at_work[1]);
    clear(cache);
    Walker walker{census, census.layout, at_hand<Paths>().of[threadIdx.x / WARP],
                  reinterpret_cast<int *>(census.scratch + warp() * census.scratch_size), 0, 0, 0, 0, Walker::UNKNOWN};
    walker.clear();
    bool idle = work.chunk < 0;
    __syncthreads();  // all have seen it
    if (idle) take_chunk(census, work, counters);
    if (work.chunk >= 0) walker.graph = work.chunk / census.chunks;
    walker.resume(kept);
    bool full = false;
    while (work.chunk >= 0) {
        full = go_on(walker, work, cache, counters, budget);
        walker.settle();
        flush(cache, tally_of(census, walker.graph), census.room + walker.graph);
        if (sum_of_block(full || budget <= 0 || walker.depth)) break;
        take_chunk(census, work, counters);
        if (work.chunk >= 0) walker.graph = work.chunk / census.chunks;
    }
    walker.save(kept);
    if (lane() == 0 && full) atomicAdd(&counters->full, uint64(1));
    if (threadIdx.x == 0) {
        at_work[0] = work.chunk, at_work[1] = int64(work.begun);
        if (work.chunk >= 0) atomicAdd(&counters->undone, uint64(1));
    }
}
