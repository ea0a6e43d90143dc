import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { replaceFile } from './write-durably.ts';

/** An instance that no proxy gets. */
export type Drained = { readonly address: string; readonly port: number };

/** Keeps what is drained, so that a restart brings no instance back. */
export type DrainedStore = {
  read(): readonly Drained[];
  /** Throws the system's error. */
  write(drained: readonly Drained[]): void;
};

/**
 * Keeps what is drained in a file. A file that cannot be read is logged, and nothing is drained
 * until an operator says so again.
 */
export function fileDrainedStore(
  path: string,
  log: { error(facts: object, message: string): void },
): DrainedStore {
  return {
    read: () => {
      try {
        return parse(readFileSync(path, 'utf8'));
      } catch (err) {
        if ((err as NodeJS.ErrnoException).code === 'ENOENT') return [];
        log.error({ err, path }, 'cannot read which instances are drained, so none is');
        return [];
      }
    },
    write: drained => replaceFile(path, JSON.stringify(drained)),
  };
}

function parse(text: string): readonly Drained[] {
  const all: unknown = JSON.parse(text);
  if (!Array.isArray(all) || !all.every(isDrained)) throw new Error('not a list of instances');
  return all.map(({ address, port }) => ({ address, port }));
}

const MOST_PORT = 65_535;

/** Returns whether a value of JSON is an instance. */
export function isDrained(value: unknown): value is Drained {
  if (typeof value !== 'object' || value === null) return false;
  const { address, port } = value as Partial<Drained>;
  if (typeof address !== 'string' || isIP(address) === 0) return false;
  return typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= MOST_PORT;
}
