"""Standing patterns measured: streams beside a published matcher, single edges and a tenth on a graph of LiveJournal's
size."""
