import { type Glob, matchGlob } from './glob.ts';

/**
 * Stands for any run of characters in a text that is matched as a whole. No host or path has it.
 */
const ANY = '\0';

/** Returns a text. Any glob that matches it also matches all that this glob matches. */
export function genericText({ prefix, inner, suffix }: Glob): string {
  return suffix === undefined ? prefix : [prefix, ...inner, suffix].join(ANY);
}

/** Returns whether `a` matches every text that `b` matches. */
export function globCovers(a: Glob, b: Glob): boolean {
  return matchGlob(a, genericText(b));
}

/** Returns a text that both match, if there is one. */
export function commonText(a: Glob, b: Glob): string | undefined {
  if (a.suffix === undefined) return matchGlob(b, a.prefix) ? a.prefix : undefined;
  if (b.suffix === undefined) return matchGlob(a, b.prefix) ? b.prefix : undefined;
  const prefix = longerOf(a.prefix, b.prefix, (longer, shorter) => longer.startsWith(shorter));
  const suffix = longerOf(a.suffix, b.suffix, (longer, shorter) => longer.endsWith(shorter));
  if (prefix === undefined || suffix === undefined) return undefined;
  return [prefix, ...a.inner, ...b.inner, suffix].join('');
}

function longerOf(
  a: string,
  b: string,
  fits: (longer: string, shorter: string) => boolean,
): string | undefined {
  const [longer, shorter] = a.length < b.length ? [b, a] : [a, b];
  return fits(longer, shorter) ? longer : undefined;
}
