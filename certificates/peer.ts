import { parseSpiffeId } from './identity.ts';

/**
 * One entry of what Node tells of alternative names; a value that holds anything odd is quoted as
 * in JSON.
 */
const ENTRY = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/gy;

/**
 * The node group that a TLS peer speaks for: that of the one URI among the alternative names of its
 * certificate, when it is a SPIFFE id of the trust domain. Undefined: nobody of ours. `names` is
 * node's `X509Certificate.subjectAltName`, or `subjectaltname` of the older form. Whether the
 * certificate is verified is the caller's to see (`socket.authorized`). Source: X.509-SVID, section
 * 2 (exactly one URI).
 */
export function groupOfPeer(names: string | undefined, trustDomain: string): string | undefined {
  const [uri, ...others] = urisOf(names ?? '');
  if (uri === undefined || others.length > 0) return undefined;
  const identity = parseSpiffeId(uri);
  return identity?.trustDomain === trustDomain ? identity.group : undefined;
}

/**
 * For node's `checkServerIdentity`: an Error where the server is not of one of the groups. Its
 * address is not looked at: the SPIFFE id alone says who it is.
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
    const who = group ?? `nobody of ${trustDomain}`;
    return new Error(
      `the server's certificate says that it is ${who}: want ${groups.join(' or ')}`,
    );
  };
}

/** None where the text is not understood whole, so that nothing in it is believed. */
function urisOf(names: string): readonly string[] {
  const entries = [...names.matchAll(ENTRY)];
  const understood = entries.reduce((length, [entry]) => length + entry.length, 0);
  if (understood !== names.length) return [];
  return entries.flatMap(([, kind, value = '']) => (kind === 'URI' ? [value] : []));
}
