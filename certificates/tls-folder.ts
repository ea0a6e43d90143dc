import { type FSWatcher, watch } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { checkKeyPair } from './check-pair.ts';
import { checkTrustedCa } from './check-trusted-ca.ts';
import { hasCrl } from './crl-problem.ts';
import { errorsOf } from './finding.ts';
import { readTlsFiles } from './tls-files.ts';
import type { TlsMaterial } from './tls-material.ts';

export type TlsFolderOptions = {
  /**
   * Called once for each reason when the changed files cannot be used. What was read last stays in
   * force. The message holds no key material.
   */
  onProblem(message: string): void;
  /** Returns why a change cannot be used by this process. Default: it can. */
  refuses?(material: TlsMaterial): string | undefined;
  /** Called at most once, when the first files are missing or unusable and are waited for. */
  onWait?(message: string): void;
  /** Milliseconds since the epoch. */
  now(): number;
  /** The first files may come within this time, in ms. By default they must be there. */
  readonly waitMs?: number;
};

export type TlsFolder = {
  current(): TlsMaterial;
  /** Calls back after each change. The result ends that. */
  onChange(listener: (material: TlsMaterial) => void): () => void;
  close(): void;
};

type Read = { readonly material: TlsMaterial } | { readonly error: string };

/** Time from the first event to the read. Files that are written one by one come together. */
const DEBOUNCE_MS = 20;
/** Finds changes without an event. */
const POLL_MS = 1_000;
/** A fault is reported after this many reads in a row, because a pair may be half written. */
const FAULTY_READS = 2;

/**
 * Follows the folder with `tls.crt`, `tls.key` and `ca.crt`, the form of a mounted Secret of type
 * kubernetes.io/tls. Every read is checked first. A change that cannot be used is reported, and
 * what was read before stays.
 * @throws an Error that names the file when there is nothing to begin with
 */
export async function openTlsFolder(path: string, options: TlsFolderOptions): Promise<TlsFolder> {
  let material = await firstMaterial(path, options);
  const listeners = new Set<(material: TlsMaterial) => void>();
  let faults = 0;
  let told: string | undefined;
  const reread = () => {
    const read = readChange(path, options, material);
    if ('error' in read) {
      faults += 1;
      if (faults < FAULTY_READS) follow.soon();
      else if (told !== read.error) options.onProblem(read.error);
      if (faults >= FAULTY_READS) told = read.error;
      return;
    }
    faults = 0;
    told = undefined;
    if (same(read.material, material)) return;
    material = read.material;
    for (const listener of [...listeners]) listener(material);
  };
  const follow = followFolder(path, reread);
  return {
    current: () => material,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      listeners.clear();
      follow.close();
    },
  };
}

async function firstMaterial(path: string, options: TlsFolderOptions): Promise<TlsMaterial> {
  const { now, onWait, waitMs = 0 } = options;
  const end = now() + waitMs;
  for (let waiting = false; ; waiting = true) {
    const read = readMaterial(path, now());
    if ('material' in read) return read.material;
    if (now() >= end) throw new Error(read.error);
    if (!waiting) onWait?.(read.error);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}

/**
 * Reads and checks what the folder holds now. `known` is in use already. `error` is one sentence
 * that names the file.
 */
function readMaterial(path: string, now: number, known?: TlsMaterial): Read {
  const files = readTlsFiles(path);
  if ('error' in files) return files;
  const { certificate, key, ca } = files.material;
  const pair = errorsOf(checkKeyPair(certificate, key, now));
  if (pair !== undefined) return { error: `${path}/tls.crt and tls.key: ${pair}` };
  const trusted = errorsOf(checkTrustedCa(ca, now));
  if (trusted !== undefined) return { error: `${path}/ca.crt: ${trusted}` };
  if (hasCrl(ca)) return { error: `${path}/ca.crt: revocation lists are not served here` };
  if (known !== undefined && same(files.material, known)) return files;
  const refused = refusalOf(files.material);
  return refused === undefined
    ? files
    : { error: `${path}: OpenSSL does not accept it: ${refused}` };
}

/** As `readMaterial`, where this is in use. */
function readChange(path: string, options: TlsFolderOptions, known: TlsMaterial): Read {
  const read = readMaterial(path, options.now(), known);
  const refused = 'error' in read ? undefined : options.refuses?.(read.material);
  return refused === undefined ? read : { error: `${path}/tls.crt ${refused}` };
}

/**
 * OpenSSL has limits beyond the checks, such as the size of an authority's key in the chain. A
 * server that is given what it does not accept throws, which would end the process.
 */
function refusalOf({ ca, certificate, key }: TlsMaterial): string | undefined {
  try {
    createSecureContext({ ca, cert: certificate, key });
    return undefined;
  } catch (error) {
    return String((error as { readonly reason?: unknown }).reason ?? 'it cannot be used');
  }
}

function same(one: TlsMaterial, other: TlsMaterial): boolean {
  return one.certificate === other.certificate && one.key === other.key && one.ca === other.ca;
}

/**
 * Calls `onEvent` soon after each event in the folder, and each second. The folder itself may be
 * replaced, and the poll then watches the new one.
 */
function followFolder(path: string, onEvent: () => void): { soon(): void; close(): void } {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      onEvent();
    }, DEBOUNCE_MS);
  };
  const watchAnew = () => {
    watcher?.close();
    watcher = watchFolder(path, soon);
  };
  const poll = setInterval(() => {
    onEvent();
    watchAnew();
  }, POLL_MS);
  poll.unref();
  watchAnew();
  return {
    soon,
    close() {
      clearTimeout(timer);
      clearInterval(poll);
      watcher?.close();
    },
  };
}

function watchFolder(path: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, onEvent);
    return watcher.on('error', () => watcher.close());
  } catch {
    // the folder is missing, or the system has no more watches, so the poll sees what happens there
    return undefined;
  }
}
