import { isJsonObject, type JsonObject, parseJson } from '#ext-authz/provider/json-answer.ts';
import type { GoStruct } from '#resources/template/go-type.ts';
import { structType } from '#resources/template/go-type.ts';
import { fromJson, goMap, goStruct } from '#resources/template/go-value.ts';

/** A token as templates see it. See docs/reference/kinds/filter.md. */
const TOKEN = structType('gateway.Token', [
  { name: 'Raw' },
  { name: 'Header' },
  { name: 'Claims' },
  { name: 'Signature' },
]);

/** An absent token, with empty texts and empty maps. */
export const NO_TOKEN: GoStruct = goStruct(TOKEN, ['', goMap([]), goMap([]), '']);

/**
 * Returns `.token` or `.idToken` for templates. A JWT has Raw, Header, Claims and Signature. An
 * opaque token has Raw alone, and the others are empty. Nothing is verified here. See
 * docs/reference/kinds/filter.md.
 */
export function tokenData(raw: string): GoStruct {
  const parts = decodeJwt(raw);
  if (parts === undefined) return goStruct(TOKEN, [raw.toWellFormed(), goMap([]), goMap([]), '']);
  return jwtData({ raw, ...parts });
}

/** Returns the same data of a JWT that is parsed already. */
export function jwtData(jwt: {
  readonly raw: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
}): GoStruct {
  const { claims, header, raw } = jwt;
  return goStruct(TOKEN, [
    raw,
    fromJson(header),
    fromJson(claims),
    raw.slice(raw.lastIndexOf('.') + 1),
  ]);
}

/**
 * Decodes header and claims of a signed JWT (RFC 7519 section 7.2), unverified.
 * @returns undefined when it is not a signed JWT
 */
export function decodeJwt(
  raw: string,
): { readonly header: JsonObject; readonly claims: JsonObject } | undefined {
  const [header = '', claims = '', , ...rest] = raw.split('.', 4);
  if (rest.length > 0 || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(raw)) return undefined;
  const [head, payload] = [decodePart(header), decodePart(claims)];
  return head === undefined || payload === undefined
    ? undefined
    : { header: head, claims: payload };
}

function decodePart(part: string): JsonObject | undefined {
  const json = parseJson(Buffer.from(part, 'base64url').toString('utf8'));
  return isJsonObject(json) ? json : undefined;
}
