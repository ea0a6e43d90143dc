import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The state word of a listening socket in /proc/net/tcp. */
const LISTENING = '0A';

/**
 * Returns which process listens on the TCP port, as `name (pid 12)`. Source: proc(5).
 * @returns undefined where that cannot be known
 */
export function portHolder(port: number): string | undefined {
  const sockets = [...listeners('/proc/net/tcp', port), ...listeners('/proc/net/tcp6', port)];
  const pid = list('/proc').find(entry => /^\d+$/.test(entry) && opens(entry, sockets));
  return pid === undefined ? undefined : `${read(`/proc/${pid}/comm`).trim()} (pid ${pid})`;
}

/** Returns the descriptor links of the sockets that listen on the port. */
function listeners(table: string, port: number): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return read(table)
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) && state === LISTENING)
    .map(fields => `socket:[${fields[9]}]`);
}

function opens(pid: string, sockets: readonly string[]): boolean {
  return list(`/proc/${pid}/fd`).some(descriptor =>
    sockets.includes(readLink(`/proc/${pid}/fd/${descriptor}`)),
  );
}

// Lists a folder, or nothing when it cannot be read. Processes come and go, and some are not ours
// to look into.
function list(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder), []);
}

function read(file: string): string {
  return attempt(() => readFileSync(file, 'utf8'), '');
}

function readLink(path: string): string {
  return attempt(() => readlinkSync(path), '');
}

function attempt<T>(get: () => T, otherwise: T): T {
  try {
    return get();
  } catch {
    return otherwise;
  }
}
