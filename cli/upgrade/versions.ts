const FORM = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]{1,100})?$/;

/**
 * Compares two versions as Semantic Versioning 2.0.0 (section 11) orders them. Two candidates of
 * one release count as equal.
 * @returns a negative number when `a` is older, 0 when they are equal, a positive one when `b` is
 * @throws an Error that names a text that is no version
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

/** A candidate comes before its release. */
function partsOf(text: string): readonly number[] {
  const [, major, minor, patch, candidate] = FORM.exec(text) ?? [];
  if (major === undefined)
    throw new Error(`"${text.slice(0, 100)}" is no version: write one such as 0.1.0`);
  return [Number(major), Number(minor), Number(patch), candidate === undefined ? 1 : 0];
}
