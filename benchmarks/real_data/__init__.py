"""The parts of the benchmark on real data: data sets, plan, expected time, scores, page. `benchmarks.real` runs it."""
