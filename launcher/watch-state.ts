import { existsSync } from 'node:fs';
import { makeStateFolder, type StateFolder } from './state-folder.ts';

export type WatchStateOptions = {
  readonly state: StateFolder;
  /** Writes again what the gateway itself needs in the folder, which was just created. */
  restore(): void | Promise<void>;
  /** One line for the operator. */
  say(line: string): void;
  /** Calls back each time that `ms` have passed, until the returned function is called. */
  every(ms: number, callback: () => void): () => void;
};

const LOOK_MS = 2_000;

/**
 * Creates the state folder again when somebody deletes it, or a part of it, while the gateway runs.
 * Else no proxy that ends could be started again, and nobody could scale. Returns a function that
 * ends it.
 */
export function watchState({ every, restore, say, state }: WatchStateOptions): () => void {
  const { path, lock, logs, bootstrap, resources, sockets } = state;
  let failed: string | undefined;
  let isBusy = false;
  const look = async () => {
    const isThere = [lock, logs, bootstrap, resources, sockets].every(part => existsSync(part));
    if (isThere || isBusy) return;
    isBusy = true;
    try {
      makeStateFolder(path);
      await restore();
      say(`the state folder ${path} was deleted and is created again. ${LOST}`);
      failed = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== failed)
        say(`the state folder ${path} was deleted, and cannot be created again: ${reason}`);
      failed = reason;
    }
    isBusy = false;
  };
  return every(LOOK_MS, () => void look());
}

const LOST = 'Users, sessions and keys that services kept there are lost when these restart';
