import { renameSync, writeFileSync } from 'node:fs';

/** Replaces the file in one step, as editors and Kubernetes do. No reader sees a part of it. */
export function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
