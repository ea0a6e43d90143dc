import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { makeFolder } from '#files/make-folder.ts';
import { replaceFile } from '#files/write-durably.ts';
import { isJsonObject } from '#protos/json.ts';
import type { Addresses } from './address-book.ts';
import { type DeclaredItem, isDnsName, parseDeclaredItem } from './declared-item.ts';
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
        makeFolder(folder);
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
    declared: listsIn(kept.declared, isItem),
    addresses: listsIn(kept.addresses, isAddress),
    instances: listsIn(kept.instances, isInstance),
  };
}

function listsIn<T>(value: unknown, isWanted: (each: unknown) => each is T) {
  if (!isJsonObject(value)) throw new Error('a part of it is missing');
  const lists = Object.entries(value).map(([name, list]) => {
    if (!Array.isArray(list) || !list.every(isWanted)) throw new Error(`"${name}" is wrong`);
    return [name, list] as const;
  });
  return new Map<string, readonly T[]>(lists);
}

function isItem(value: unknown): value is DeclaredItem {
  return !Array.isArray(parseDeclaredItem(value));
}

function isInstance(value: unknown): value is Instance {
  return isItem(value) && !isDnsName(value);
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && isIP(value) !== 0;
}
