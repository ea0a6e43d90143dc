import { withoutBlanks } from '#ext-authz/http/header-text.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';

/** A pending cookie as a request brings it, perhaps in several parts. */
export type PendingField = {
  /** The name of its first part. */
  readonly name: string;
  readonly text: string;
  /** What the page's own script has kept. A stranger may have written it. */
  readonly fragment: string;
  /** The names of all its parts, and how many bytes they take of a `Cookie` field. */
  readonly names: readonly string[];
  readonly bytes: number;
};

/** Browsers keep 4,096 bytes of a cookie, its name included (RFC 6265bis section 5.6). */
const PART_LENGTH = 3_800;
const MOST_PARTS = 3;
/** The name of a tab, then the number of a further part, or `f`. Names of Filters have no `~`. */
const SUFFIX = /^(~[0-9a-f]{8})?(~[12f])?$/;

/**
 * Returns the cookies that hold a text. The first begins with their number.
 * @returns undefined when it is too long
 */
export function partsOf(
  name: string,
  text: string,
): readonly (readonly [string, string])[] | undefined {
  const count = Math.ceil(text.length / PART_LENGTH);
  if (count > MOST_PARTS) return undefined;
  const cut = (index: number) => text.slice(index * PART_LENGTH, (index + 1) * PART_LENGTH);
  const more = Array.from({ length: count - 1 }, (_, index) => index + 1);
  return [
    [name, `${count}${cut(0)}`],
    ...more.map(index => [partName(name, index), cut(index)] as const),
  ];
}

/** Returns the name of the cookie with the fragment of the link that this one is for. */
export function fragmentName(name: string): string {
  return `${name}~f`;
}

function partName(name: string, index: number): string {
  return index === 0 ? name : `${name}~${index}`;
}

/**
 * Returns the pending cookies of a request whose names begin with `prefix`, in the order of the
 * request. A name with different values does not count, because one of them may be planted.
 */
export function pendingFields(
  { headers }: Pick<HttpRequest, 'headers'>,
  prefix: string,
): readonly PendingField[] {
  const values = new Map<string, Set<string>>();
  for (const field of headers.get('cookie') ?? []) collect(field, prefix, values);
  const firsts = [...values.keys()].filter(name => !/~[12f]$/.test(name.slice(prefix.length)));
  return firsts.map(name => joined(name, values));
}

function joined(name: string, values: ReadonlyMap<string, ReadonlySet<string>>): PendingField {
  const names = Array.from({ length: MOST_PARTS }, (_, index) => partName(name, index));
  const there = [...names, fragmentName(name)].filter(part => values.has(part));
  const bytes = there.reduce((sum, part) => sum + sizeOf(part, values.get(part)), 0);
  const [first = ''] = only(values.get(name));
  const count = Number(first.slice(0, 1));
  const parts = names.slice(0, count).map(part => only(values.get(part)));
  const isWhole = count > 0 && parts.length === count && parts.every(part => part.length === 1);
  const [fragment = ''] = only(values.get(fragmentName(name)));
  return {
    name,
    names: there,
    bytes,
    fragment,
    text: isWhole ? parts.flat().join('').slice(1) : '',
  };
}

function only(values: ReadonlySet<string> | undefined): readonly string[] {
  return values?.size === 1 ? [...values] : [];
}

function sizeOf(name: string, values: Iterable<string> = []): number {
  return [...values].reduce((sum, value) => sum + name.length + value.length + '=; '.length, 0);
}

/**
 * Reads each field by itself (RFC 6265 section 5.4). A neighbour's page may set a cookie whose name
 * begins with other white space. It must not read like one with the prefix `__Host-`.
 */
function collect(field: string, prefix: string, values: Map<string, Set<string>>): void {
  if (!field.includes(prefix)) return;
  for (const pair of field.split(';')) {
    const begin = pair.indexOf('=');
    const name = withoutBlanks(pair.slice(0, Math.max(0, begin)));
    if (!name.startsWith(prefix) || !SUFFIX.test(name.slice(prefix.length))) continue;
    values.set(name, (values.get(name) ?? new Set()).add(withoutBlanks(pair.slice(begin + 1))));
  }
}
