/**
 * Characters that a cookie holds of a fragment, percent-encoded. Browsers keep 4,096 bytes of each.
 */
export const LONGEST_FRAGMENT = 2_048;

/** What browsers leave unescaped in a fragment (URL Standard, "fragment percent-encode set"). */
const FRAGMENT = /^[!#-;=?-_a-~]+$/;

/**
 * Returns the URL with the fragment that a cookie holds. Anybody may have written that cookie: what
 * is no fragment as browsers spell it does not count, nor where the URL has one.
 */
export function withFragment(url: string, kept: string): string {
  if (kept === '' || kept.length > LONGEST_FRAGMENT || url.includes('#')) return url;
  const fragment = decoded(kept);
  return FRAGMENT.test(fragment) ? `${url}#${fragment}` : url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
