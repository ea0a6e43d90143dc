import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Chart, makeChart } from './chart.ts';
import { tar } from './tar.ts';

/** Writes the chart into `target` as Helm reads it, packed. Returns the path of the file. */
export function packChart(target: string, chart: Chart = makeChart()): string {
  const { name, version, files } = chart;
  const entries = [...files].map(([path, text]) => [join(name, path), text] as const);
  mkdirSync(target, { recursive: true });
  // The package for npm has the name that `helm package` would give.
  const file = join(target, `${name}-helm-${version}.tgz`);
  writeFileSync(file, gzipSync(tar(entries), { level: 9 }));
  return file;
}

/** Writes the files of the chart below `target`, which is its folder. */
export function writeChart(target: string, { files }: Chart = makeChart()): void {
  for (const [path, text] of files) {
    const file = join(target, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
