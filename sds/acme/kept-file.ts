import { join } from 'node:path';
import { fileAuthorityStore } from '#certificates/authority/file-authority-store.ts';
import type { KeptSecret } from '../secrets/kept-secret.ts';
import type { KeptIn } from './acme-settings.ts';

const NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

/**
 * Keeps texts in a file below `folder`, as one JSON object. Only its owner may read it. Reading and
 * writing reject when the place has names that could lead elsewhere.
 */
export function keptFile(folder: string, { name, namespace }: KeptIn): KeptSecret {
  const store = fileAuthorityStore(join(folder, namespace), `${name}.json`);
  const wrong = [namespace, name].find(part => !NAME.test(part));
  const check = () => {
    if (wrong !== undefined) throw new Error(`"${wrong}" cannot be the name of a file`);
  };
  return {
    place: store.place,
    async read() {
      check();
      const stored = await store.read();
      return stored && { texts: textsIn(stored.text), mark: stored.mark, owners: [] };
    },
    async write(texts, mark) {
      check();
      return await store.write(`${JSON.stringify(texts, null, 2)}\n`, mark);
    },
  };
}

function textsIn(text: string): Readonly<Record<string, string>> {
  try {
    const entries = Object.entries(Object(JSON.parse(text)));
    return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
  } catch {
    return {};
  }
}
