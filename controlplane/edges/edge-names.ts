import { shortHash } from '#resources/words/gateway-group.ts';

const LONGEST = 63;
const LONGEST_CUT = 54;

/**
 * Returns the name of the objects that are made for a Gateway, `<gateway>-<class>`. The name of a
 * Service is a DNS label that begins with a letter (RFC 1035). Any other name is cut, and ends in a
 * hash. See GEP-1762.
 */
export function edgeName(gateway: string, className: string): string {
  const named = `${gateway}-${className}`;
  const isLabel = named.length <= LONGEST && /^[a-z][a-z0-9-]*$/.test(named);
  if (isLabel) return named;
  const letters = named.replaceAll('.', '-').replace(/^(?=[^a-z])/, 'gateway-');
  return cut(letters, named);
}

/** Returns the name of one more Service of a Gateway, which the name and this text tell apart. */
export function furtherName(name: string, which: string): string {
  return cut(name, `${name} ${which}`);
}

/** Returns a text as the value of a label, which has at most 63 characters. */
export function labelValue(text: string): string {
  return text.length <= LONGEST ? text : cut(text, text);
}

function cut(text: string, whole: string): string {
  return `${text.slice(0, LONGEST_CUT).replace(/[-._]+$/, '')}-${shortHash(whole)}`;
}
