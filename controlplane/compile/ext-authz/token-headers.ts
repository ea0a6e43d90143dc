import type { JwtSpec } from '#resources/kinds/filter/filter-jwt.ts';

/**
 * A header of a Filter that proxies can set too: a claim that is a text, or a text that is fixed.
 */
export type TokenHeader = { readonly name: string } & (
  | { readonly claim: string }
  | { readonly text: string }
);

const CLAIM = /^\{\{ *\.token\.Claims\.([A-Za-z_][A-Za-z0-9_]{0,60}) *\}\}$/;
/** Without what a template would read, and without space around it. */
const TEXT = /^(?!.*\{\{)[!-~](?:[ -~]{0,200}[!-~])?$/;
const MOST = 8;

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
