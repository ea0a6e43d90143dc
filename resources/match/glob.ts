/**
 * A pattern in which `*` stands for any run of characters, also `/`. `**` means the same. Without
 * `suffix` it is the text `prefix` itself.
 */
export type Glob = {
  readonly prefix: string;
  /** What must stand between prefix and suffix, in this order. */
  readonly inner: readonly string[];
  readonly suffix?: string;
};

/** Parses a glob. Every text is one, and only `*` has a meaning. Letter case counts. */
export function parseGlob(text: string): Glob {
  const [prefix = '', ...parts] = text.split(/\*+/);
  const suffix = parts.pop();
  return suffix === undefined ? { prefix, inner: [] } : { prefix, inner: parts, suffix };
}

/**
 * Whether the glob matches the whole text. The earliest place of each part is always right, so
 * there is no backtracking.
 */
export function matchGlob({ prefix, inner, suffix }: Glob, text: string): boolean {
  if (suffix === undefined) return text === prefix;
  const end = text.length - suffix.length;
  if (end < prefix.length || !text.startsWith(prefix) || !text.endsWith(suffix)) return false;
  let at = prefix.length;
  for (const part of inner) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end;
}
