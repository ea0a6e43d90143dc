import type { Fields } from '#resources/words/fields.ts';
import { fieldsAt, listAt, textAt } from '../fields-at.ts';
import { closed, type Remark } from '../remark.ts';

/** A Filter that a policy becomes, or why it cannot. */
export type FilterPart = { readonly spec?: Fields; readonly remarks: readonly Remark[] };

const AT = ['spec', 'jwt'] as const;

const FIELDS: readonly string[] = ['optional', 'providers'];
const PROVIDER: readonly string[] = [
  'audiences',
  'claimToHeaders',
  'extractFrom',
  'issuer',
  'localJWKS',
  'name',
  'recomputeRoute',
  'remoteJWKS',
];

/** Returns the Filter that checks the tokens of one provider. */
export function jwtFilter(policy: Fields): FilterPart {
  const jwt = fieldsAt(policy, 'spec', 'jwt');
  const providers = listAt(jwt, 'providers');
  const [provider] = providers;
  const path = [...AT, 'providers', 0];
  const uri = textAt(fieldsAt(provider, 'remoteJWKS'), 'uri');
  const audiences = listAt(provider, 'audiences');
  const unknown = unknownField(jwt, FIELDS) ?? unknownField(fieldsAt(provider), PROVIDER);
  const whyNot =
    unknown !== undefined
      ? `\`${unknown}\` is not known here, and may decide which tokens count`
      : providers.length !== 1
        ? 'a Filter has the keys of one provider. Write a Filter for each, and a FilterPolicy with `onDeny: continue`'
        : uri === undefined
          ? 'keys come from a URL alone. Serve them, and name the URL in `jwksURI`'
          : audiences.length > 1
            ? 'a Filter takes one audience. Write a Filter for each, and a FilterPolicy with `onDeny: continue`'
            : whyNotHeader(provider);
  const headers = listAt(provider, 'claimToHeaders').map(claimHeader);
  if (whyNot !== undefined || headers.includes(undefined)) {
    const message = whyNot ?? 'a header has a claim of the first level alone';
    return { remarks: [closed(path, message)] };
  }
  const issuer = textAt(provider, 'issuer');
  const spec = {
    JWT: {
      jwksURI: uri,
      ...(issuer === undefined ? {} : { issuer, requireIssuer: true }),
      ...(audiences.length === 0 ? {} : { audience: audiences[0], requireAudience: true }),
      ...(headers.length === 0 ? {} : { injectRequestHeaders: headers }),
    },
  };
  return { spec, remarks: [] };
}

function unknownField(fields: Fields, known: readonly string[]): string | undefined {
  return Object.keys(fields).find(field => !known.includes(field));
}

/** Here a token is in `Authorization` alone. */
function whyNotHeader(provider: unknown): string | undefined {
  const from = fieldsAt(provider, 'extractFrom');
  if (Object.keys(from).length === 0) return undefined;
  const headers = listAt(from, 'headers');
  const [header] = headers;
  const isUsual =
    headers.length === 1 &&
    textAt(header, 'name')?.toLowerCase() === 'authorization' &&
    textAt(header, 'valuePrefix') === 'Bearer ';
  if (isUsual && listAt(from, 'cookies').length + listAt(from, 'params').length === 0)
    return undefined;
  return 'tokens come in the header `Authorization: Bearer` alone';
}

function claimHeader(written: unknown): Fields | undefined {
  const claim = textAt(written, 'claim') ?? '';
  if (!/^[A-Za-z_]\w*$/.test(claim)) return undefined;
  const value = `{{ if hasKey .token.Claims "${claim}" }}{{ .token.Claims.${claim} }}{{ else }}{{ doNotSet }}{{ end }}`;
  return { name: textAt(written, 'header'), value };
}
