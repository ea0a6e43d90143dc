import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';

/**
 * Returns the first words of a page of results. Called before any measurement, it says how busy
 * other programs keep the machine.
 */
export function circumstances(): string {
  const date = new Date().toISOString().slice(0, 10);
  const [load = 0] = loadavg();
  return `${date}, ${availableParallelism()} cores (load average when it began: ${load.toFixed(1)}), Node ${process.versions.node}.`;
}

/** Writes a page into `bench/results/`. */
export function writePage(name: string, text: string): void {
  writeFileSync(join(import.meta.dirname, 'results', `${name}.md`), text);
}
