import { checkCertificateName } from '#certificates/check-name.ts';
import { checkKeyPair } from '#certificates/check-pair.ts';
import { checkTrustedCa } from '#certificates/check-trusted-ca.ts';
import type { Finding } from '#certificates/finding.ts';
import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import { listenerCertificates } from '#controlplane/gateway-api/listener-certificates.ts';
import { isElsewhere, secretValue } from '#resources/kinds/secret/secret.ts';
import type { Problem } from '#resources/problem.ts';
import {
  type Rejected,
  type Resource,
  type ResourcesById,
  resourceId,
} from '#resources/resource.ts';
import { type ResourceSet, toResourceSet } from '#resources/resource-set.ts';
import { keptFilter } from '../kept-lists.ts';
import { problemOf } from '../problem-of.ts';
import { contextOf } from './host-context.ts';
import { authoritiesIn, CERTIFICATE_KEY, PRIVATE_KEY_KEY } from './proxy-secret.ts';
import {
  authoritiesUse,
  certificateUse,
  contextAuthorities,
  contextCertificate,
  type SecretUse,
} from './secret-use.ts';
import { contextIdOf, serviceContexts } from './service-context.ts';

type Secret = Resource<'Secret'>;
/** What presents or trusts it. A TLSContext does so for connections to services. */
type User = Resource<'Host' | 'TLSContext' | 'Gateway' | 'ListenerSet'>;

/** The parts of a reading that count here. */
export type Checkable = {
  readonly resources: ResourcesById;
  readonly rejected: ReadonlyMap<string, Rejected>;
};

const KINDS: readonly string[] = [
  ...['Host', 'TLSContext', 'Secret'],
  ...['Gateway', 'GatewayClass', 'ListenerSet', 'ReferenceGrant'],
];

/**
 * Checks the Secrets that Hosts, Mappings and listeners of our Gateways use for TLS. Envoy must
 * accept their certificates, and others must trust them at `now` (milliseconds since the epoch).
 * Others count as rejected, so that their last good version stays in force. Where none is in force,
 * as after a start, the Secret stays as it is written. The discovery service rejects it too, and it
 * or the Envoys may still have the one before. `inForce` has what the proxies run: its Hosts may
 * use other Secrets than those that were read. Problems hold nothing of a key.
 */
export function checkTlsSecrets<Read extends Checkable>(
  read: Read,
  inForce: Iterable<Resource>,
  now: number,
  controller = DEFAULT_CONTROLLER,
): { readonly read: Read; readonly problems: readonly Problem[] } {
  const written = tlsResources(read.resources.values(), read.rejected.values());
  const known = [...inForce];
  const uses = [written, tlsResources(known, [])].flatMap(each => usesOf(each, controller));
  if (uses.length === 0) return { read, problems: [] };
  const hasLastGood = new Set(known.map(({ id }) => id));
  const resources = new Map(read.resources);
  const rejected = new Map(read.rejected);
  const problems = new Map<string, Problem>();
  for (const { findings, secret, user } of uses.flatMap(use => judge(use, read.resources, now))) {
    for (const { message, severity } of findings) {
      const problem =
        severity === 'error'
          ? secretFault(secret, message)
          : certificateWarning(secret, user, message);
      problems.set(JSON.stringify(problem), problem);
      if (severity === 'warning' || !hasLastGood.has(secret.id)) continue;
      resources.delete(secret.id);
      const { id, kind, name, namespace, source } = secret;
      rejected.set(id, { kind, namespace, name, id, source });
    }
  }
  return { read: { ...read, resources, rejected }, problems: [...problems.values()] };
}

/** The others, of which there may be many, do not matter. */
function tlsResources(resources: Iterable<Resource>, rejected: Iterable<Rejected>): ResourceSet {
  return toResourceSet(
    ofTls([...resources]),
    [...rejected].filter(({ kind }) => KINDS.includes(kind)),
  );
}

const ofTls = keptFilter((resource: Resource) =>
  resource.kind === 'Mapping' ? contextIdOf(resource) !== undefined : KINDS.includes(resource.kind),
);

type Use = {
  readonly user: User;
  readonly of: 'key pair' | 'authorities';
  readonly secret: string;
};

function usesOf(resources: ResourceSet, controller: string): readonly Use[] {
  const ofHosts = resources.hosts.flatMap(host => {
    const found = contextOf(host, resources);
    if ('error' in found) return [];
    return usesBy(host, certificateUse(host, found.value), authoritiesUse(host, found.value));
  });
  const ofServices = serviceContexts(resources).flatMap(context =>
    usesBy(context, contextCertificate(context), contextAuthorities(context)),
  );
  const ofListeners = listenerCertificates(resources, controller).map(
    ({ origin: user, secret }) => ({ user, of: 'key pair', secret: idOf(secret) }) as const,
  );
  return [...ofHosts, ...ofServices, ...ofListeners];
}

function usesBy(
  user: User,
  pair: SecretUse | undefined,
  authorities: SecretUse | undefined,
): readonly Use[] {
  return [
    ...(pair === undefined
      ? []
      : [{ user, of: 'key pair', secret: idOf(pair.reference) } as const]),
    ...(authorities === undefined
      ? []
      : [{ user, of: 'authorities', secret: idOf(authorities.reference) } as const]),
  ];
}

function idOf({ name, namespace }: { readonly name: string; readonly namespace: string }): string {
  return resourceId('Secret', namespace, name);
}

type Judgement = {
  readonly secret: Secret;
  readonly user: User;
  readonly findings: readonly Finding[];
};

function judge(
  { of, secret: id, user }: Use,
  resources: ResourcesById,
  now: number,
): readonly Judgement[] {
  const secret = resources.get(id);
  if (secret?.kind !== 'Secret') return [];
  const findings =
    of === 'key pair' ? judgeKeyPair(secret, user, now) : judgeAuthorities(secret, now);
  return [{ secret, user, findings }];
}

function judgeKeyPair({ spec }: Secret, user: User, now: number): readonly Finding[] {
  const certificate = textOf(secretValue(spec, CERTIFICATE_KEY));
  const key = textOf(secretValue(spec, PRIVATE_KEY_KEY));
  if (certificate === undefined) return [missing(CERTIFICATE_KEY)];
  if (key === undefined) return [missing(PRIVATE_KEY_KEY)];
  if (isElsewhere(spec, CERTIFICATE_KEY) || isElsewhere(spec, PRIVATE_KEY_KEY)) return [];
  if (user.kind === 'TLSContext') return checkKeyPair(certificate, key, now, 'client');
  const findings = checkKeyPair(certificate, key, now, 'server');
  const isBroken = findings.some(({ severity }) => severity === 'error');
  // Of several certificates of a listener each may be for other names.
  return isBroken || user.kind !== 'Host'
    ? findings
    : [...findings, ...checkCertificateName(certificate, user.spec.hostname)];
}

function judgeAuthorities(secret: Secret, now: number): readonly Finding[] {
  const value = authoritiesIn(secret);
  if (value?.place !== undefined) return [];
  const ca = textOf(value);
  return ca === undefined ? [missing('ca.crt')] : checkTrustedCa(ca, now);
}

function missing(key: string): Finding {
  return { severity: 'error', message: `it has no key \`${key}\`` };
}

function textOf(value: { reveal(): Uint8Array } | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value.reveal()).toString('utf8');
}

function secretFault(secret: Secret, message: string): Problem {
  return {
    ...problemAt(secret, 'error'),
    message: `${message}. It is not used, and what was in force before stays`,
  };
}

function certificateWarning(secret: Secret, user: User, message: string): Problem {
  return { ...problemAt(secret, 'warning'), message: `${message} ${usedBy(user)}` };
}

/**
 * Returns whether a Problem of a Secret matters to this resource, which names it. Warnings are
 * about one user.
 */
export function concerns({ severity, message }: Problem, user: Pick<Resource, 'id'>): boolean {
  return severity === 'error' || message.endsWith(usedBy(user));
}

function usedBy({ id }: Pick<Resource, 'id'>): string {
  return `(used by ${id})`;
}

/** The mistake is in values that are never shown, so no field is named. */
function problemAt(secret: Secret, severity: Problem['severity']): Problem {
  const { field: _, ...problem } = problemOf(secret, severity, '', '');
  return problem;
}
