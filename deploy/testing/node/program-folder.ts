import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram } from '../../../release/build-package.ts';
import { OF_IMAGE } from '../../../release/bundle.ts';

let built: string | undefined;

/**
 * Returns the folder of what our image runs, which every user can read. It is built once for this
 * process, and removed when that ends. npm's packages are not in it.
 */
export function programFolder(): string {
  built ??= build();
  return built;
}

function build(): string {
  const parent = mkdtempSync(join(tmpdir(), 'program-'));
  process.once('exit', () => rmSync(parent, { recursive: true, force: true }));
  chmodSync(parent, 0o755);
  const folder = join(parent, 'gateway');
  buildProgram(folder, OF_IMAGE);
  return folder;
}
