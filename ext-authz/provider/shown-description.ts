import { escapeHtml } from '#process/escape-html.ts';

/** How much a log has of a description. */
const LONGEST = 300;
/** Parts of a token, a code or a hash. */
const LONG_RUN = /[\w~+/=-]{20,}/g;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Returns a provider's own words (`error_description`, RFC 6749 section 5.2) as a log may have
 * them. They are one line of at most 300 characters, without `secrets` and without what looks like
 * a token, because some providers quote what they were sent. UUIDs stay, because operators use them
 * to find a refusal at the provider.
 * @returns undefined when it says nothing
 */
export function shownDescription(text: unknown, secrets: readonly string[]): string | undefined {
  if (typeof text !== 'string') return undefined;
  const longestFirst = secrets.filter(secret => secret !== '').sort((a, b) => b.length - a.length);
  const without = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
  const plain = without.replace(LONG_RUN, run => (/\d/.test(run) && !UUID.test(run) ? '…' : run));
  const line = plain.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return line === '' ? undefined : [...line].slice(0, LONGEST).join('');
}

/** Parameters of a token request that open nothing. */
const OPEN: ReadonlySet<string> = new Set([
  ...['grant_type', 'scope', 'redirect_uri', 'client_id', 'client_assertion_type'],
]);

/**
 * Returns what must not be shown of a request, in each way that it may be quoted. That is all of
 * `Authorization` but the client ID, and parameters of a form.
 */
export function secretsOf(headers: Headers, form: string): readonly string[] {
  const parameters = [...new URLSearchParams(form)].flatMap(([name, value]) =>
    OPEN.has(name) ? [] : [value],
  );
  const meant = [...parameters, ...credentialsOf(headers.get('authorization') ?? '')];
  return meant.flatMap(spellings);
}

/**
 * Returns it as it is, percent-encoded with digits in either case, and as HTML and JSON quote it.
 */
function spellings(secret: string): readonly string[] {
  const encoded = [
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
  ];
  const inLowerCase = encoded.map(text => text.replace(/%../g, code => code.toLowerCase()));
  return [
    secret,
    ...encoded,
    ...inLowerCase,
    escapeHtml(secret),
    JSON.stringify(secret).slice(1, -1),
  ];
}

/**
 * Reads RFC 7617 section 2, with the form-encoding of RFC 6749 section 2.3.1, and RFC 6750 section
 * 2.1.
 */
function credentialsOf(authorization: string): readonly string[] {
  const [scheme = '', credentials = ''] = authorization.split(' ', 2);
  if (scheme.toLowerCase() !== 'basic') return [credentials];
  const decoded = Buffer.from(credentials, 'base64').toString();
  const password = decoded.slice(decoded.indexOf(':') + 1);
  return [credentials, password, new URLSearchParams(`=${password}`).get('') ?? ''];
}
