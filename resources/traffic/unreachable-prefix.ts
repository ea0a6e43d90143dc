const RESOLVED = /\/\/|\/\.\.?\//;
/**
 * What Envoy's path normalisation escapes, and what it writes plainly (RFC 3986, 2.3: unreserved)
 * [measured on 1.40].
 */
const CHANGED = /["<>^`{|}\\]|%(?:2[DEde]|3\d|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|7[Ee])/;

/**
 * Returns why no request can have a path that begins with `prefix`. Envoy changes paths before it
 * compares them.
 * @returns undefined when a request can
 */
export function whyUnreachable(prefix: string): string | undefined {
  if (RESOLVED.test(prefix))
    return 'it matches nothing: "//", "/./" and "/../" are resolved before paths are compared';
  const [written] = CHANGED.exec(prefix) ?? [];
  if (written === undefined) return undefined;
  return `it matches nothing: ${JSON.stringify(written)} arrives as "${arriving(written)}". Write that`;
}

/** An expression that begins with a plain character, which stands at least once. */
const PLAIN_START = /^\^?(?:\(\?[a-z]+\))?\^?[\w~%-](?![?*{])/i;

/**
 * Returns why no path matches an expression for whole paths.
 * @returns undefined when one may match
 */
export function whyUnreachableByRegex(expression: string): string | undefined {
  if (expression.includes('|') || !PLAIN_START.test(expression)) return undefined;
  return 'it matches nothing: a path begins with "/", and the expression is for the whole path';
}

function arriving(written: string): string {
  if (written === '\\') return '/';
  return written.length === 3 ? decodeURIComponent(written) : encodeURIComponent(written);
}
