import { parseSpiffeId } from './identity.ts';

/** One entry of Node's list of alternative names. An unusual value is quoted as in JSON. */
const ENTRY = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/gy;

/**
 * Returns the node group that a TLS peer speaks for. Its certificate must have exactly one URI
 * among its alternative names (X.509-SVID, section 2). The URI must be a SPIFFE id of the trust
 * domain. `names` is Node's `X509Certificate.subjectAltName`, or `subjectaltname` of the older
 * form. The caller checks that the certificate is verified (`socket.authorized`).
 * @returns undefined when the peer has no identity of the trust domain
 */
export function groupOfPeer(names: string | undefined, trustDomain: string): string | undefined {
  const [uri, ...others] = urisOf(names ?? '');
  if (uri === undefined || others.length > 0) return undefined;
  const identity = parseSpiffeId(uri);
  return identity?.trustDomain === trustDomain ? identity.group : undefined;
}

/**
 * Returns a `checkServerIdentity` for Node, which gives an Error when the server is not of one of
 * the groups. Its address is ignored, since the SPIFFE id alone proves the identity.
 */
export function expectGroups(
  groups: readonly string[],
  trustDomain: string,
): (
  hostname: string,
  certificate: { readonly subjectaltname?: string | undefined },
) => Error | undefined {
  return (_hostname, { subjectaltname }) => {
    const group = groupOfPeer(subjectaltname, trustDomain);
    if (group !== undefined && groups.includes(group)) return undefined;
    const who = group ?? `no group of ${trustDomain}`;
    return new Error(
      `the server's certificate says that it is ${who}: want ${groups.join(' or ')}`,
    );
  };
}

/** Returns none where a part of the text is unclear, so that no part of it is trusted. */
function urisOf(names: string): readonly string[] {
  const entries = [...names.matchAll(ENTRY)];
  const understood = entries.reduce((length, [entry]) => length + entry.length, 0);
  if (understood !== names.length) return [];
  return entries.flatMap(([, kind, value = '']) => (kind === 'URI' ? [value] : []));
}
