import { type AcmeOrder, acmeOrderOf } from '#resources/kinds/host/acme-order.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { DEFAULT_TLS_SETTINGS, type TlsSettings } from '#resources/traffic/tls-settings.ts';
import { compareText } from '#resources/words/order.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { problemOf } from '../problem-of.ts';
import { contextOf } from './host-context.ts';
import {
  authoritiesFile,
  authoritiesOf,
  issuedFor,
  keyPairFiles,
  keyPairOf,
  orderedFor,
  orderedSecret,
  type ProxySecret,
} from './proxy-secret.ts';
import { authoritiesUse, certificateUse, type SecretUse } from './secret-use.ts';

type Host = Resource<'Host'>;

/** The TLS of a Host. */
export type HostTls = {
  readonly settings: TlsSettings;
  readonly certificate: ProxySecret;
  /** The authorities of clients' certificates. Undefined: none is requested. */
  readonly authorities: ProxySecret | undefined;
  /** Whether an ACME authority issues the certificate, to which the edge proves the name. */
  readonly isOrdered: boolean;
};

/** `tls` is undefined when none is intended, and `broken` when it is intended and impossible. */
export type ResolvedTls = {
  readonly tls: HostTls | 'broken' | undefined;
  readonly context: Resource<'TLSContext'> | undefined;
  readonly problems: readonly Problem[];
};

/** Returns the TLS of a Host, by its own fields and its TLSContext. */
export function resolveTls(host: Host, resources: ResourceSet): ResolvedTls {
  const found = contextOf(host, resources);
  if ('error' in found)
    return broken(
      undefined,
      problemOf(host, 'error', 'spec.tlsContext', `${found.error}${UNSERVED}`),
    );
  const context = found.value;
  const { tls, tlsSecret } = host.spec;
  const isOrdered = acmeOrderOf(host.spec) !== undefined;
  if (context === undefined && tls === undefined && tlsSecret === undefined && !isOrdered)
    return { tls: undefined, context, problems: [] };
  const certificate = certificateOf(host, context, resources);
  const authorities = clientAuthorities(host, context, resources);
  const problems = [certificate, authorities].flatMap(part =>
    'problem' in part ? [part.problem] : [],
  );
  const doubled = doubledProblems(host, context);
  if ('problem' in certificate || 'problem' in authorities)
    return broken(context, ...problems, ...doubled);
  const settings = tls ?? context?.spec ?? DEFAULT_TLS_SETTINGS;
  return {
    tls: { settings, certificate: certificate.value, authorities: authorities.value, isOrdered },
    context,
    problems: doubled,
  };
}

const UNSERVED = ': the Host has no TLS until then, and nothing else answers for it';

function broken(context: ResolvedTls['context'], ...problems: readonly Problem[]): ResolvedTls {
  return { tls: 'broken', context, problems };
}

type Part<T> = { readonly value: T } | { readonly problem: Problem };

function certificateOf(
  host: Host,
  context: ResolvedTls['context'],
  { hosts, secrets }: ResourceSet,
): Part<ProxySecret> {
  const order = acmeOrderOf(host.spec);
  if (order !== undefined) return orderedPart(host, order, hosts);
  const secret = certificateUse(host, context);
  if (secret !== undefined) return served(secret, keyPairOf(secret.reference, secrets));
  const { tls } = host.spec;
  if (tls?.issuer !== undefined)
    return {
      value: issuedFor(host.spec.hostname, { resource: host.id, field: 'spec.tls.issuer' }),
    };
  const { cert_chain_file: chain, private_key_file: key } = tls ?? context?.spec ?? {};
  if (chain !== undefined && key !== undefined)
    return { value: keyPairFiles(context ?? host, chain, key) };
  const message = `it has no certificate: name one in \`tlsSecret\`, or in the TLSContext${UNSERVED}`;
  return { problem: problemOf(host, 'error', 'spec.tlsContext', message) };
}

/** Two Hosts that keep their certificates in one Secret would replace them by turns for ever. */
function orderedPart(host: Host, order: AcmeOrder, hosts: readonly Host[]): Part<ProxySecret> {
  const place = keptIn(host);
  const keeper = keepersOf(hosts).get(place);
  if (keeper === undefined || keeper.spec.hostname === host.spec.hostname)
    return { value: orderedFor(host, order) };
  const message = `${keeper.id} keeps its certificate in the Secret ${place}, which holds that of one Host${UNSERVED}`;
  return { problem: problemOf(host, 'error', 'spec.tlsSecret', message) };
}

function keptIn(host: Host): string {
  const { name, namespace } = orderedSecret(host);
  return `${namespace}/${name}`;
}

const KEEPERS = new WeakMap<readonly Host[], ReadonlyMap<string, Host>>();

/**
 * Returns the Host that keeps its certificate in a Secret: one that names none, else the first by
 * id.
 */
function keepersOf(hosts: readonly Host[]): ReadonlyMap<string, Host> {
  const known = KEEPERS.get(hosts);
  if (known !== undefined) return known;
  const keepers = new Map<string, Host>();
  for (const host of hosts) {
    if (acmeOrderOf(host.spec) === undefined) continue;
    const place = keptIn(host);
    const first = keepers.get(place);
    if (first === undefined || compareKeepers(host, first) < 0) keepers.set(place, host);
  }
  KEEPERS.set(hosts, keepers);
  return keepers;
}

function compareKeepers(a: Host, b: Host): number {
  const names = ({ spec }: Host) => Number(spec.tlsSecret !== undefined);
  return names(a) - names(b) || compareText(a.id, b.id);
}

function clientAuthorities(
  host: Host,
  context: ResolvedTls['context'],
  { secrets }: ResourceSet,
): Part<ProxySecret | undefined> {
  const secret = authoritiesUse(host, context);
  if (secret !== undefined) return served(secret, authoritiesOf(secret.reference, secrets));
  const file = (host.spec.tls ?? context?.spec)?.cacert_chain_file;
  return { value: file === undefined ? undefined : authoritiesFile(context ?? host, file) };
}

function served({ by, field }: SecretUse, parsed: Parsed<ProxySecret>): Part<ProxySecret> {
  if ('value' in parsed) return parsed;
  return { problem: problemOf(by, 'error', field, `${parsed.error}${UNSERVED}`) };
}

/** A Host has one certificate. Its own comes before that of its TLSContext. */
function doubledProblems(host: Host, context: ResolvedTls['context']): readonly Problem[] {
  const own = certificateUse(host, undefined);
  const other =
    context === undefined
      ? undefined
      : certificateUse({ ...host, spec: withoutSecret(host.spec) }, context);
  const isFile = context?.spec.cert_chain_file !== undefined;
  if (own === undefined || context === undefined || (other === undefined && !isFile)) return [];
  if (other !== undefined && sameReference(own, other)) return [];
  const message = `\`tlsSecret\` counts, and not the certificate of TLSContext ${context.namespace}/${context.name}. Keep one`;
  return [problemOf(host, 'warning', 'spec.tlsSecret', message)];
}

function withoutSecret({ tlsSecret: _, ...spec }: Host['spec']): Host['spec'] {
  return spec;
}

function sameReference({ reference: a }: SecretUse, { reference: b }: SecretUse): boolean {
  return a.namespace === b.namespace && a.name === b.name;
}
