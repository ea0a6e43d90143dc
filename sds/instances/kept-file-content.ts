import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markState } from '#files/state-mark.ts';
import { replaceFile } from '#files/write-durably.ts';
import { isJsonObject } from '#protos/json.ts';
import { canonicalAddress } from '#resources/words/ip-address.ts';
import type { Addresses } from './address-book.ts';
import { type DeclaredItem, isComplaints, isDnsName, parseDeclaredItem } from './declared-item.ts';
import type { Instance, Instances } from './instance.ts';
import type { Declarations } from './parse-instances-file.ts';

/** What an instances file said when it was last good, and the instances that it led to. */
export type FileContent = {
  readonly declared: Declarations;
  /** Of the DNS names in it. */
  readonly addresses: Addresses;
  readonly instances: Instances;
};

/**
 * Keeps what an instances file said, so that a restart takes no instance away while the file is
 * broken or DNS is silent.
 */
export type KeptContent = {
  /** @returns undefined when nothing can be read */
  read(): FileContent | undefined;
  write(content: FileContent): void;
};

type Log = { error(facts: object, message: string): void };

/**
 * Keeps the content of the instances file at `path` in a file of `folder`. Where that cannot be
 * written or read, it is logged, and a restart knows nothing of earlier instances. Of failed writes
 * in a row the first is logged.
 */
export function keptFileContent(folder: string, path: string, log: Log): KeptContent {
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 16);
  const kept = join(folder, `sds-instances-${hash}.json`);
  let isFailing = false;
  return {
    read() {
      try {
        return parse(readFileSync(kept, 'utf8'));
      } catch (err) {
        if ((err as NodeJS.ErrnoException).code !== 'ENOENT')
          log.error({ err, file: kept }, `cannot read what was kept of the instances file ${path}`);
        return undefined;
      }
    },
    write(content) {
      const lists = Object.entries(content).map(([key, map]) => [key, Object.fromEntries(map)]);
      try {
        markState(folder);
        replaceFile(kept, JSON.stringify({ path, ...Object.fromEntries(lists) }));
        isFailing = false;
      } catch (err) {
        if (isFailing) return;
        isFailing = true;
        log.error({ err, file: kept }, `cannot keep what the instances file ${path} says`);
      }
    },
  };
}

function parse(text: string): FileContent {
  const kept: unknown = JSON.parse(text);
  if (!isJsonObject(kept)) throw new Error('it is no JSON object');
  return {
    declared: listsIn(kept.declared, toItem),
    addresses: listsIn(kept.addresses, toAddress),
    instances: listsIn(kept.instances, toInstance),
  };
}

function listsIn<T>(value: unknown, read: (each: unknown) => T | undefined) {
  if (!isJsonObject(value)) throw new Error('a part of it is missing');
  const lists = Object.entries(value).map(([name, list]) => {
    const items = Array.isArray(list) ? list.map(read) : [undefined];
    const known = items.filter(item => item !== undefined);
    if (known.length < items.length) throw new Error(`"${name}" is wrong`);
    return [name, known] as const;
  });
  return new Map<string, readonly T[]>(lists);
}

function toItem(value: unknown): DeclaredItem | undefined {
  const item = parseDeclaredItem(value);
  return isComplaints(item) ? undefined : item;
}

function toInstance(value: unknown): Instance | undefined {
  const item = toItem(value);
  return item === undefined || isDnsName(item) ? undefined : item;
}

function toAddress(value: unknown): string | undefined {
  return typeof value === 'string' ? canonicalAddress(value) : undefined;
}
