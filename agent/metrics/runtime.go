package metrics

import (
	"runtime"
	"runtime/debug"
	"time"
)

// runtime writes what Go reports of this process, under the names that Prometheus' client for Go has made usual.
func (p *page) runtime() {
	p.family("go_info", "Information about the Go environment.", gauge).
		sample("", 1, label{"version", runtime.Version()})
	p.family("go_goroutines", "Number of goroutines that currently exist.", gauge).
		sample("", float64(runtime.NumGoroutine()))
	p.family("go_sched_gomaxprocs_threads", "Number of threads that may run Go code at once.", gauge).
		sample("", float64(runtime.GOMAXPROCS(0)))

	gc := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&gc)
	pauses := p.family("go_gc_duration_seconds",
		"A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles.", summary)
	for i, quantile := range []string{"0", "0.25", "0.5", "0.75", "1"} {
		pauses.sample("", gc.PauseQuantiles[i].Seconds(), label{"quantile", quantile})
	}
	pauses.sample("_sum", gc.PauseTotal.Seconds())
	pauses.sample("_count", float64(gc.NumGC))

	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for _, v := range []struct {
		name, help string
		kind       kind
		value      uint64
	}{
		{"alloc_bytes", "Number of bytes allocated in heap and currently in use.", gauge, m.Alloc},
		{
			"alloc_bytes_total", "Total number of bytes allocated in heap until now, even if released already.",
			counter,
			m.TotalAlloc,
		},
		{"buck_hash_sys_bytes", "Number of bytes used by the profiling bucket hash table.", gauge, m.BuckHashSys},
		{"frees_total", "Total number of heap objects frees.", counter, m.Frees},
		{"gc_sys_bytes", "Number of bytes used for garbage collection system metadata.", gauge, m.GCSys},
		{"heap_alloc_bytes", "Number of heap bytes allocated and currently in use.", gauge, m.HeapAlloc},
		{"heap_idle_bytes", "Number of heap bytes waiting to be used.", gauge, m.HeapIdle},
		{"heap_inuse_bytes", "Number of heap bytes that are in use.", gauge, m.HeapInuse},
		{"heap_objects", "Number of currently allocated objects.", gauge, m.HeapObjects},
		{"heap_released_bytes", "Number of heap bytes released to OS.", gauge, m.HeapReleased},
		{"heap_sys_bytes", "Number of heap bytes obtained from system.", gauge, m.HeapSys},
		{"mallocs_total", "Total number of heap objects allocated, both live and gc-ed.", counter, m.Mallocs},
		{"mcache_inuse_bytes", "Number of bytes in use by mcache structures.", gauge, m.MCacheInuse},
		{"mcache_sys_bytes", "Number of bytes used for mcache structures obtained from system.", gauge, m.MCacheSys},
		{"mspan_inuse_bytes", "Number of bytes in use by mspan structures.", gauge, m.MSpanInuse},
		{"mspan_sys_bytes", "Number of bytes used for mspan structures obtained from system.", gauge, m.MSpanSys},
		{"next_gc_bytes", "Number of heap bytes when next garbage collection will take place.", gauge, m.NextGC},
		{"other_sys_bytes", "Number of bytes used for other system allocations.", gauge, m.OtherSys},
		{
			"stack_inuse_bytes", "Number of bytes obtained from system for stack allocator in non-CGO environments.",
			gauge, m.StackInuse,
		},
		{"stack_sys_bytes", "Number of bytes obtained from system for stack allocator.", gauge, m.StackSys},
		{"sys_bytes", "Number of bytes obtained from system.", gauge, m.Sys},
	} {
		p.family("go_memstats_"+v.name, v.help, v.kind).sample("", float64(v.value))
	}
	p.family("go_memstats_last_gc_time_seconds", "Number of seconds since 1970 of last garbage collection.", gauge).
		sample("", float64(m.LastGC)/1e9)
}
