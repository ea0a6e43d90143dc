import { sentForm } from '#resources/words/host.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { canonicalGlob } from './canonical-path.ts';

const LONGEST = 1024;
const LONGEST_SHOWN = 80;

/**
 * Parses a glob for hosts, in lower case and without trailing dot, as `comparedHost` returns hosts.
 */
export function parseHostGlob(text: string): Parsed<string> {
  const glob = text.toLowerCase().replace(/\.$/, '');
  if (text.length > LONGEST)
    return fail('host', text, `it has ${text.length} characters, ${LONGEST} are allowed`);
  if (glob === '') return fail('host', text, 'it is empty. `*` is every host');
  if (/^\[[0-9a-f:.*]+\]$/.test(glob)) return { value: glob };
  if (glob.includes(':'))
    return fail('host', text, 'it may not have a scheme or a port. Hosts are compared without');
  if (/^[a-z0-9._*-]+$/.test(glob) && !glob.includes('..')) return { value: glob };
  const reason = 'no host matches it: letters, digits, "-", "_", "." and "*" only';
  return fail('host', text, `${reason}${sentForm(glob)}`);
}

/** Parses a glob for paths in their canonical spelling, without query. */
export function parsePathGlob(text: string): Parsed<string> {
  if (text.length > LONGEST)
    return fail('path', text, `it has ${text.length} characters, ${LONGEST} are allowed`);
  if (!/^[/*]/.test(text)) return fail('path', text, 'it must begin with "/" or "*"');
  if (/[?#]/.test(text))
    return fail('path', text, 'no path matches it: queries and fragments are not compared');
  const odd = /[^\x21-\x7e]/u.exec(text)?.[0];
  if (odd !== undefined)
    return fail(
      'path',
      text,
      `${JSON.stringify(odd)} is never part of a path. Write it percent-encoded`,
    );
  const glob = canonicalGlob(text);
  if (/\/\/|\/\.\.?(?:\/|$)/.test(glob))
    return fail(
      'path',
      text,
      'no path matches it: "//", "/./" and "/../" are resolved before paths are compared',
    );
  return { value: glob };
}

/**
 * Returns the host of `:authority` as every part of the gateway compares it. It is in lower case
 * and without trailing dot. What stands behind the last colon is cut, because Envoy takes it for
 * the port.
 */
export function comparedHost(authority: string): string {
  return authority
    .replace(/:[^:\]]*$/, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

function fail(what: 'host' | 'path', text: string, reason: string): Parsed<never> {
  return {
    error: `Cannot parse ${what} ${JSON.stringify(text.slice(0, LONGEST_SHOWN))}: ${reason}`,
  };
}
