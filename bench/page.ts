import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';

/** The first words of a page of results. Called before anything is measured, it tells how busy others keep the machine. */
export function circumstances(): string {
  const date = new Date().toISOString().slice(0, 10);
  const [load = 0] = loadavg();
  const noise = load < 0.3 ? 'nothing else ran' : `other work ran, load average ${load.toFixed(1)}`;
  return `${date}, ${availableParallelism()} cores, Node ${process.versions.node}; when it began, ${noise}.`;
}

/** Writes a page into `bench/results/`. */
export function writePage(name: string, text: string): void {
  writeFileSync(join(import.meta.dirname, 'results', `${name}.md`), text);
}
