import { getHeapStatistics } from 'node:v8';

/** The most bytes that the peers of a server may make it keep for one reason. */
export function thirdOfHeap(): number {
  return getHeapStatistics().heap_size_limit / 3;
}
