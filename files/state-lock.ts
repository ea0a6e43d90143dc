import { join } from 'node:path';
import { acquireLock } from '#files/lock.cjs';

/**
 * Keeps a state folder for this process until it ends, as the one `service` there. What a process
 * that is gone has left is taken over. Processes of other containers are not seen.
 * @throws an Error that says what to do when another process has it
 */
export function lockState(folder: string, service: string): void {
  const lock = attempt(() => acquireLock(join(folder, `${service.replaceAll(' ', '')}.lock`)));
  if (lock?.holder === undefined)
    return void process.once('exit', () => attempt(() => lock?.release()));
  // The first process of a container has the same id each time.
  if (lock.holder === process.pid) return;
  throw new Error(
    `another ${service} already runs on the folder ${folder} (pid ${lock.holder}): stop it, or give this one a folder of its own`,
  );
}

/** A disk that is full, or that has no links, must not keep a process from its start or its end. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
