import { MAX_INSTANCES } from './ports.ts';

/** Parses a number of instances. Throws an Error that says what it should be. */
export function parseInstanceCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count <= MAX_INSTANCES) return count;
  throw new Error(`Cannot run "${text}" instances: want a number from 0 to ${MAX_INSTANCES}`);
}
