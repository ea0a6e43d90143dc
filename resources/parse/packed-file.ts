import { type SecretPlace, SecretValue } from '#resources/words/secret-value.ts';
import type { ParsedFile } from './parsed-file.ts';

/**
 * A ParsedFile on its way to another thread, as JSON and beside it what JSON cannot hold. JSON is
 * several times faster than a structured clone of as many objects.
 */
export type PackedFile = { readonly json: string; readonly odd: readonly Odd[] };

/** What stands at a place: a secret's bytes, or a value that can be cloned. */
type Odd = { readonly path: Path } & (
  | { readonly secret: Uint8Array; readonly place: SecretPlace | undefined }
  | { readonly value: unknown }
);
type Path = readonly (string | number)[];

/** @throws RangeError when it is nested too deeply */
export function packFile(parsed: ParsedFile): PackedFile {
  const odd: Odd[] = [];
  collectOdd(parsed, [], odd);
  return { json: JSON.stringify(parsed), odd };
}

/** Returns what was packed. */
export function unpackFile({ json, odd }: PackedFile): ParsedFile {
  const parsed = JSON.parse(json) as ParsedFile;
  for (const each of odd)
    putAt(
      parsed,
      each.path,
      'secret' in each ? new SecretValue(each.secret, each.place) : each.value,
    );
  return parsed;
}

function collectOdd(value: unknown, path: (string | number)[], odd: Odd[]): void {
  if (value instanceof SecretValue)
    odd.push({ path: [...path], secret: Uint8Array.from(value.reveal()), place: value.place });
  else if (isOdd(value)) odd.push({ path: [...path], value });
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) collectBelow(index, item, path, odd);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) collectBelow(key, item, path, odd);
}

function collectBelow(
  key: string | number,
  item: unknown,
  path: (string | number)[],
  odd: Odd[],
): void {
  path.push(key);
  collectOdd(item, path, odd);
  path.pop();
}

/** YAML has infinity, and by tags (`!!set`) more than JSON. */
function isOdd(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value) || Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return value === undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null;
}

function putAt(root: object, path: Path, value: unknown): void {
  const [last = '', ...above] = path.toReversed();
  const holder = above.reduceRight((at: unknown, key) => Reflect.get(Object(at), key), root);
  // A key may be `__proto__`.
  Object.defineProperty(holder, last, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}
