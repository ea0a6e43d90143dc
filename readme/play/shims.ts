import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** Writes the two programs by which readers start what is ours, with the flags of a stage. */
export function writeShims(bin: string, offset: number): void {
  const state = `--state '${join(bin, '..', '.gateway')}'`;
  const cli = `exec '${process.execPath}' '${join(ROOT, 'cli', 'main.ts')}'`;
  const scripts = {
    npm: `[ "$1" = start ] && shift 2\n${cli} up ${state} --port-offset ${offset} "$@"`,
    npx: `command=$2; shift 2
case $command in
  status|explain|diff) ${cli} "$command" --port-offset ${offset} "$@" ;;
  scale) ${cli} "$command" ${state} "$@" ;;
  *) ${cli} "$command" "$@" ;;
esac`,
  };
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
}
