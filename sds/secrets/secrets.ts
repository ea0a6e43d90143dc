import type { Logger } from 'pino';
import type { Authority } from '#certificates/authority/authority.ts';
import type { Report } from '#process/reporter.ts';
import type { Update } from '#xds/client-subscription.ts';
import type { Node } from '#xds/discovery.ts';
import type { Peer } from '#xds/peer.ts';
import type { Snapshot } from '#xds/snapshot.ts';
import type { Acme } from '../acme/open-acme.ts';
import type { Clock } from './clock.ts';
import { GroupSecrets } from './group-secrets.ts';
import { type GroupFacts, type KnownCertificate, knownCertificates } from './known-certificates.ts';
import type { SecretMetrics } from './secret-metrics.ts';
import { secretsStatus } from './secrets-status.ts';
import { ServedSecrets } from './served-secrets.ts';
import { slotFindings } from './slot-findings.ts';
import { secretsGroup } from './who-may-have.ts';

export type SecretsOptions = {
  readonly authority: Authority;
  readonly acme: Acme;
  readonly trustDomain: string;
  /** 32 random bytes of this process. */
  readonly versionKey: Uint8Array;
  /** Absolute paths of the folders whose files may be served. */
  readonly certificateFolders: readonly string[];
  /**
   * The most node groups that are served. Each group costs a key, certificates and memory, and any
   * client on the loopback may claim one. Default: 500.
   */
  readonly mostGroups?: number;
  /** Returns the certificates that are written for those who need one before they can ask. */
  written(): GroupFacts;
  readonly clock: Clock;
  readonly metrics: SecretMetrics;
  readonly log: Logger;
};

/**
 * Receives what a group's proxies are to have. Undefined means that the group has none any more.
 */
export type OnSecrets = (group: string, secrets: Snapshot | undefined) => void;

export type Secrets = {
  /** Returns the group whose secrets a client may have, or why it may have none. */
  groupOf(node: Node, peer: Peer): { readonly group: string } | { readonly error: string };
  /** Notes that a client of that group has a stream. */
  connected(group: string): void;
  disconnected(group: string): void;
  onChange(listener: OnSecrets): void;
  /**
   * Receives a function that reports what is wrong with what the control plane wants served. It is
   * called whenever that may have changed.
   */
  onFindings(report: Report): void;
  /** Takes a change of what the control plane wants served. */
  update(update: Update): void;
  status(): object;
  /** Returns all certificates, the one that ends first at the beginning. */
  certificates(): readonly KnownCertificate[];
  /** Answers an ACME authority that asks a host for a token, or undefined. */
  readonly answer: Acme['answer'];
  /** Has a certificate of an ACME authority replaced at once. */
  readonly renew: Acme['renew'];
  close(): void;
};

const MOST_GROUPS = 500;

/** Opens the secrets of all node groups: which group may have which, as they are now. */
export function openSecrets(options: SecretsOptions): Secrets {
  const {
    acme,
    authority,
    trustDomain,
    clock,
    versionKey,
    metrics,
    log,
    mostGroups = MOST_GROUPS,
  } = options;
  const listeners: OnSecrets[] = [];
  let report: Report = () => {};
  const find = () => slotFindings(served.slots());
  const tell: OnSecrets = (group, secrets) => {
    for (const listener of listeners) listener(group, secrets);
  };
  const served = new ServedSecrets({
    authority,
    acme,
    certificateFolders: options.certificateFolders,
    clock,
    versionKey,
    onChange: changed => {
      for (const group of changed) if (groups.has(group)) groups.changed(group);
    },
    onRejected(rejected) {
      metrics.rejected();
      log.error(rejected, 'secret rejected, the earlier one stays in force');
    },
    onOver: over =>
      log.error(over, 'the secret in force is no longer valid and stays until another one arrives'),
    connectedSince: wanted => groups.since(wanted),
    onFindings: () => report(find),
  });
  const groups = new GroupSecrets({
    authority,
    clock,
    versionKey,
    servedTo: group => served.resourcesOf(group),
    publish: tell,
    forget: group => tell(group, undefined),
    onIssued: group => {
      metrics.issued();
      log.debug({ group }, 'identity issued');
    },
    onTrouble: (group, reason) =>
      log.error({ group, reason }, 'identity not issued, the earlier one stays in force'),
  });
  const state = () => ({
    served: served.slots(),
    identities: groups.identities(),
    written: options.written(),
    roots: authority.roots(),
  });
  metrics.observe(state);
  return {
    groupOf(node, peer) {
      const found = secretsGroup(node, peer, trustDomain);
      if ('error' in found || groups.has(found.group) || groups.size < mostGroups) return found;
      return { error: `there are ${mostGroups} node groups already` };
    },
    connected: group => groups.connected(group),
    disconnected: group => groups.disconnected(group),
    onChange: listener => void listeners.push(listener),
    onFindings(listener) {
      report = listener;
      report(find);
    },
    update(update) {
      const wrong = served.update(update.changed, update.removed);
      if (wrong === undefined) update.ack();
      else update.nack(wrong);
    },
    status: () => secretsStatus(state()),
    certificates: () => knownCertificates(state()),
    answer: acme.answer,
    renew: acme.renew,
    close() {
      groups.close();
      served.close();
    },
  };
}
