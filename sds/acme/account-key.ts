import { parsePrivateKey } from '#certificates/private-key.ts';
import type { KeptSecret } from '../secrets/kept-secret.ts';

const KEY = 'tls.key';

/**
 * Returns the key of an account, as PEM. The first process to need it makes it. What is kept there
 * is never replaced.
 * @throws an Error when something else is kept there
 */
export async function accountKey(
  kept: KeptSecret,
  generate: () => Promise<string>,
): Promise<string> {
  const found = await keyIn(kept);
  if (found !== undefined) return found;
  const key = await generate();
  if (await kept.write({ [KEY]: key }, undefined)) return key;
  const other = await keyIn(kept);
  if (other === undefined) throw new Error(`${kept.place} was removed while it was read`);
  return other;
}

async function keyIn(kept: KeptSecret): Promise<string | undefined> {
  const found = await kept.read();
  if (found === undefined) return undefined;
  const key = found.texts[KEY] ?? '';
  const parsed = parsePrivateKey(key);
  if ('key' in parsed) return key;
  throw new Error(`${kept.place} is not the key of an account: in \`${KEY}\` ${parsed.error}`);
}
