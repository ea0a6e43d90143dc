import { matchGlob, parseGlob } from '#resources/match/glob.ts';

/** Requests of some hosts and paths. Both are globs. */
export type Region = { readonly host: string; readonly path: string };

/** A run of characters that no resource names. */
export const ANY = 'x9-any-q7';

/**
 * Returns requests that stand for the region: those that its globs match with the fewest
 * characters, and with others that no resource names.
 */
export function samplesOf({ host, path }: Region): readonly Region[] {
  const hosts = textsOf(host).filter(text => /^[^./]/.test(text));
  const paths = textsOf(path).filter(text => text.startsWith('/'));
  return hosts.flatMap(host => paths.map(path => ({ host, path })));
}

function textsOf(glob: string): readonly string[] {
  if (!glob.includes('*')) return [glob];
  const parts = glob.split(/\*+/);
  const [first = '', ...rest] = parts;
  const full = parts.join(ANY);
  const rooted = first === '' ? [`/${full}`] : [];
  return [...new Set([parts.join(''), full, ...overlapped(first, rest), ...rooted])];
}

/** A beginning and an end that were written in two globs may share characters. */
function overlapped(start: string, [end = '', ...more]: readonly string[]): readonly string[] {
  if (more.length > 0) return [];
  const lengths = Array.from({ length: Math.min(start.length, end.length) }, (_, at) => at + 1);
  const shared = lengths.filter(length => start.endsWith(end.slice(0, length)));
  return shared.map(length => start + end.slice(length));
}

/**
 * Returns a region that lies in both.
 * @returns undefined when they have no request in common, as far as their beginnings and ends tell
 */
export function meet(a: Region, b: Region): Region | undefined {
  const host = meetGlobs(a.host, b.host);
  const path = meetGlobs(a.path, b.path);
  return host === undefined || path === undefined ? undefined : { host, path };
}

export function isInside(inner: Region, outer: Region): boolean {
  return (
    meetGlobs(inner.host, outer.host) === inner.host &&
    meetGlobs(inner.path, outer.path) === inner.path
  );
}

/** Whether some host matches both globs. */
export function shareHosts(a: string, b: string): boolean {
  return meetGlobs(a, b) !== undefined;
}

/** Whether the globs match this request. */
export function covers({ host, path }: Region, request: Region): boolean {
  return matchGlob(parseGlob(host), request.host) && matchGlob(parseGlob(path), request.path);
}

/** Tells of most globs without parsing them that they have nothing in common. */
function mayMeet(a: string, b: string): boolean {
  const length = Math.min(lengthOfStart(a), lengthOfStart(b));
  return a.startsWith(b.slice(0, length));
}

/** Returns how many characters stand before the first star. */
function lengthOfStart(glob: string): number {
  const star = glob.indexOf('*');
  return star === -1 ? glob.length : star;
}

function meetGlobs(a: string, b: string): string | undefined {
  if (a === b) return a;
  if (!mayMeet(a, b)) return undefined;
  const [first, second] = [parseGlob(a), parseGlob(b)];
  if (first.suffix === undefined) return matchGlob(second, a) ? a : undefined;
  if (second.suffix === undefined) return matchGlob(first, b) ? b : undefined;
  const prefix = longer(first.prefix, second.prefix, (long, short) => long.startsWith(short));
  const suffix = longer(first.suffix, second.suffix ?? '', (long, short) => long.endsWith(short));
  if (prefix === undefined || suffix === undefined) return undefined;
  return [prefix, ...first.inner, ...second.inner, suffix].join('*');
}

function longer(
  a: string,
  b: string,
  holds: (long: string, short: string) => boolean,
): string | undefined {
  const [long, short] = a.length >= b.length ? [a, b] : [b, a];
  return holds(long, short) ? long : undefined;
}
