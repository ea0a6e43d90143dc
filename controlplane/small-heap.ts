import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** In bytes. A few thousand Mappings take as much. */
const SMALL = 96 * 1024 * 1024;

/** What V8 lets a heap grow by before it collects garbage, in percent. 0: it decides by itself. */
const GROWTH = { small: 40, large: 0 };

/**
 * Keeps the memory of this process low while its heap is small. V8 would let it more than double
 * before it collects garbage. A large heap may, because each collection costs time for all of it.
 */
export function keepHeapSmall(): void {
  let growth: number | undefined;
  const set = () => {
    const fits = getHeapStatistics().used_heap_size < SMALL ? GROWTH.small : GROWTH.large;
    if (fits !== growth) setFlagsFromString(`--heap-growing-percent=${fits}`);
    growth = fits;
  };
  set();
  new PerformanceObserver(set).observe({ type: 'gc' });
}
