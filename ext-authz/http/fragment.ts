/**
 * How many characters of a fragment a cookie holds, percent-encoded. Browsers keep 4,096 bytes of
 * each cookie.
 */
export const LONGEST_FRAGMENT = 2_048;

/** What browsers leave unescaped in a fragment (URL Standard, "fragment percent-encode set"). */
const FRAGMENT = /^[!#-;=?-_a-~]+$/;

/**
 * Returns the URL with the fragment that a cookie holds. A stranger may have written that cookie,
 * so what is not a fragment as browsers spell it is ignored. A fragment that the URL has wins.
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
