import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeFolder } from '#files/make-folder.ts';

/** Where a system keeps its state. */
export type StateFolder = {
  readonly path: string;
  readonly lock: string;
  readonly logs: string;
  readonly bootstrap: string;
  /** The resources that the launcher itself writes, one file per instance. */
  readonly resources: string;
  /** The demo's resources, when their ports differ from those in the checkout. */
  readonly demo: string;
  readonly instancesFile: string;
  readonly databaseFile: string;
  /** A folder for unix sockets, whose paths must be short. */
  readonly sockets: string;
};

/**
 * A unix socket's path has at most 103 (macOS) or 107 bytes (Linux). The longest name in `sockets`
 * has 28.
 */
const MAX_SOCKETS_PATH = 74;

/**
 * Creates the folder and its missing parts. Throws an Error that names what cannot be made and why.
 */
export function makeStateFolder(path: string): StateFolder {
  const folder = describe(resolve(path));
  try {
    for (const part of [folder.path, folder.logs, folder.bootstrap, folder.resources]) {
      makeFolder(part);
    }
    return { ...folder, sockets: makeSockets(folder.sockets) };
  } catch (error) {
    throw unusable(folder.path, error);
  }
}

/** Returns the error for an operator whose state folder cannot be used. */
export function unusable(path: string, error: unknown): Error {
  return new Error(
    `Cannot use the state folder ${path}: ${messageOf(error)}. Choose another with --state`,
  );
}

/** Returns the unix socket on which a running system answers, as a client finds it. */
export function controlSocket(path: string): string {
  return join(socketsOf(join(resolve(path), 'sockets')), 'up.sock');
}

function describe(path: string): StateFolder {
  return {
    path,
    lock: join(path, 'up.lock'),
    logs: join(path, 'logs'),
    bootstrap: join(path, 'bootstrap'),
    resources: join(path, 'resources'),
    demo: join(path, 'demo'),
    instancesFile: join(path, 'instances.yaml'),
    databaseFile: join(path, 'users.sqlite'),
    sockets: join(path, 'sockets'),
  };
}

/**
 * Creates a folder. Where its path would be too long, it is a link to one of the system's temporary
 * folders, which is ours alone.
 */
function makeSockets(path: string): string {
  if (Buffer.byteLength(path) <= MAX_SOCKETS_PATH) {
    makeFolder(path);
    return path;
  }
  const short = join(
    tmpdir(),
    `gateway-${createHash('sha256').update(path).digest('hex').slice(0, 16)}`,
  );
  makeFolder(short);
  refuseForeign(short);
  rmSync(path, { recursive: true, force: true });
  symlinkSync(short, path);
  return short;
}

/**
 * Rejects a folder of another user. Anybody may create one with our name in the temporary folder.
 */
function refuseForeign(path: string): void {
  const { uid, mode } = lstatSync(path);
  if (uid === process.getuid?.() && (mode & 0o077) === 0) return;
  throw new Error(`${path} belongs to another user`);
}

function socketsOf(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : path;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
