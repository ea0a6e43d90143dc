import { globSync } from 'node:fs';

/**
 * Returns whether a folder of resources, or a folder in it, has YAML files. It looks no deeper,
 * because the sources of a checkout are in a folder `resources` too, with files of tests below.
 */
export function hasYaml(folder: string): boolean {
  return globSync('{*,*/*}.{yaml,yml}', { cwd: folder }).length > 0;
}
