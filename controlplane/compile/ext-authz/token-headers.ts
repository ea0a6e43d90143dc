import type { JwtSpec } from '#resources/kinds/filter/filter-jwt.ts';

/**
 * A header of a Filter that proxies can set too: a claim that is a text, or a text that is fixed.
 */
export type TokenHeader = { readonly name: string } & (
  | { readonly claim: string }
  | { readonly text: string }
);

const CLAIM = /^\{\{ *\.token\.Claims\.([A-Za-z_][A-Za-z0-9_]{0,60}) *\}\}$/;
/** Without what a template, CEL or a formatter of Envoy would read, and without space around it. */
const TEXT = /^[\w:/.~@+=,;!$&*-](?:[\w:/.~@+=,;!$&* -]{0,200}[\w:/.~@+=,;!$&*-])?$/;
const MOST = 8;
/** Longer claims go to the service, which knows what Envoy takes. */
const LONGEST_CLAIM = 512;

/**
 * Returns the headers that a Filter sets.
 * @returns undefined when proxies might set something else
 */
export function tokenHeaders({
  injectRequestHeaders,
}: Pick<JwtSpec, 'injectRequestHeaders'>): readonly TokenHeader[] | undefined {
  const names = new Set(injectRequestHeaders.map(({ name }) => name.toLowerCase()));
  const isPlain = [...names].every(name => /^[a-z0-9-]+$/.test(name) && name !== 'authorization');
  if (!isPlain || names.size !== injectRequestHeaders.length || names.size > MOST) return undefined;
  const found = injectRequestHeaders.flatMap(({ name, value }) => toHeader(name, value) ?? []);
  return found.length === injectRequestHeaders.length ? found : undefined;
}

function toHeader(name: string, value: string): TokenHeader | undefined {
  const [, claim] = CLAIM.exec(value) ?? [];
  if (claim !== undefined) return { name: name.toLowerCase(), claim };
  return TEXT.test(value) ? { name: name.toLowerCase(), text: value } : undefined;
}

/**
 * Returns what claims must be so that proxies set the same headers, in CEL: texts of visible ASCII
 * without space around them. The request must be well within Envoy's limits.
 */
export function headerConditions(
  claims: string,
  headers: readonly TokenHeader[],
): readonly string[] {
  if (headers.length === 0) return [];
  const texts = headers.flatMap(header => {
    if (!('claim' in header)) return [];
    const claim = claimIn(claims, header.claim);
    return [
      `'${header.claim}' in ${claims} && type(${claim}) == string && size(${claim}) <= ${LONGEST_CLAIM}`,
      `${claim}.matches('^[!-~]([ -~]*[!-~])?$')`,
    ];
  });
  return [...texts, 'size(request.headers) < 80', 'request.total_size < 49152'];
}

/** Returns where a claim stands, in CEL. Its name may be a word of CEL, such as `namespace`. */
function claimIn(claims: string, name: string): string {
  return `${claims}['${name}']`;
}
