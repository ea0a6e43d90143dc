import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { type Authority, openAuthority } from '#certificates/authority/authority.ts';
import { fileAuthorityStore } from '#certificates/authority/file-authority-store.ts';
import { makeFolder } from '#files/make-folder.ts';
import { markState } from '#files/state-mark.ts';
import { replaceFile } from '#files/write-durably.ts';
import { type Cluster, connectCluster } from '#kubernetes/cluster.ts';
import type { KeptIn } from '../acme/acme-settings.ts';
import { keptFile } from '../acme/kept-file.ts';
import { openAcme } from '../acme/open-acme.ts';
import type { Clock } from './clock.ts';
import { followEdgeAccounts } from './follow-edge-accounts.ts';
import { identityFolder } from './identity-folder.ts';
import { identitySecret } from './identity-secret.ts';
import type { IdentityTarget } from './identity-target.ts';
import { keepIdentity } from './keep-identity.ts';
import { type KeptSecret, keptSecret } from './kept-secret.ts';
import type { EdgesConfig, SecretsConfig } from './read-secrets-config.ts';
import { secretAuthorityStore } from './secret-authority-store.ts';
import type { SecretMetrics } from './secret-metrics.ts';
import { openSecrets, type Secrets } from './secrets.ts';

export type StartSecretsOptions = {
  readonly config: SecretsConfig;
  readonly clock: Clock;
  readonly metrics: SecretMetrics;
  readonly log: Logger;
};

/**
 * Opens the authority, writes the identities that are to be written, and returns the secrets that
 * are served from then on.
 * @throws an Error in one sentence when the authority's roots, or the folder of an identity, cannot
 *   be had
 */
export async function startSecrets(options: StartSecretsOptions): Promise<Secrets> {
  const { config, clock, metrics, log } = options;
  const { trustDomain } = config;
  const needsCluster =
    config.authoritySecret !== undefined ||
    config.identitySecrets.length > 0 ||
    config.edges !== undefined;
  const cluster = needsCluster
    ? await connectCluster({ kubeconfig: config.kubeconfig })
    : undefined;
  for (const folder of config.identityFolders.values()) makeIdentityFolder(folder);
  const authority = await startAuthority(options, cluster);
  const keepers = await Promise.all(
    targetsOf(config, cluster).map(([group, target]) => keep(options, authority, group, target)),
  );
  const edges = config.edges && cluster && followEdges(options, config.edges, authority, cluster);
  const acme = openAcme({
    clock,
    log,
    open: (place, of) => keptOf(place, of, config, cluster),
  });
  const secrets = openSecrets({
    authority,
    acme,
    trustDomain,
    versionKey: randomBytes(32),
    certificateFolders: config.certificateFolders,
    written: () =>
      keepers.flatMap(({ facts, group }) => {
        const known = facts();
        return known === undefined ? [] : [[group, known] as const];
      }),
    clock,
    metrics,
    log,
  });
  return {
    ...secrets,
    close() {
      secrets.close();
      for (const keeper of keepers) keeper.close();
      edges?.close();
      authority.close();
      cluster?.close();
    },
  };
}

/** Certificates of ACME authorities are kept where the roots of the built-in one are. */
function keptOf(
  place: KeptIn,
  of: 'certificate' | 'account',
  { acmeFolder, authoritySecret }: SecretsConfig,
  cluster: Cluster | undefined,
): KeptSecret {
  if (authoritySecret === undefined || cluster === undefined) return keptFile(acmeFolder, place);
  const type = of === 'certificate' ? 'kubernetes.io/tls' : 'Opaque';
  return keptSecret(cluster, place.name, type, { namespace: place.namespace });
}

async function startAuthority(
  { config, clock, log }: StartSecretsOptions,
  cluster: Cluster | undefined,
): Promise<Authority> {
  const { authoritySecret, authorityFolder } = config;
  const store =
    authoritySecret !== undefined && cluster !== undefined
      ? secretAuthorityStore(cluster, authoritySecret)
      : fileAuthorityStore(authorityFolder);
  const onTrouble = (reason: string) =>
    log.error(
      { reason },
      'the roots of the authority cannot be stored, so those read last stay in force',
    );
  if (authoritySecret === undefined) markOwnState(dirname(authorityFolder));
  const authority = await openAuthority({ ...config, ...clock, store, onTrouble }).catch(
    (error: Error) => {
      throw authoritySecret === undefined ? new Error(`STATE: ${error.message}`) : error;
    },
  );
  if (authoritySecret === undefined) writeRoots(authorityFolder, authority);
  authority.onRoots(() => {
    log.info('the roots of the authority have changed');
    try {
      if (authoritySecret === undefined) writeRoots(authorityFolder, authority);
    } catch (error) {
      onTrouble((error as Error).message);
    }
  });
  return authority;
}

function markOwnState(folder: string): void {
  try {
    markState(folder);
  } catch (error) {
    throw new Error(`STATE: ${(error as Error).message}`);
  }
}

/** For users of `curl --cacert`. */
function writeRoots(folder: string, authority: Authority): void {
  makeFolder(folder);
  replaceFile(join(folder, 'roots.pem'), authority.roots());
}

/** A service that waits for an identity there would wait in vain. */
function makeIdentityFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw new Error(
      `IDENTITY_FOLDER: cannot make the folder ${folder}: ${(error as Error).message}`,
    );
  }
}

function targetsOf(
  { identityFolders, identitySecrets }: SecretsConfig,
  cluster: Cluster | undefined,
): readonly (readonly [group: string, target: IdentityTarget])[] {
  const folders = [...identityFolders].map(
    ([group, folder]) => [group, identityFolder(folder)] as const,
  );
  if (cluster === undefined) return folders;
  return [
    ...folders,
    ...identitySecrets.map(group => [group, identitySecret(cluster, group)] as const),
  ];
}

function keep(
  { config, clock, log, metrics }: StartSecretsOptions,
  authority: Authority,
  group: string,
  target: IdentityTarget,
) {
  return keepIdentity({
    group,
    target,
    authority,
    trustDomain: config.trustDomain,
    leafMs: config.leafMs,
    clock,
    onWritten(place) {
      metrics.issued();
      log.info({ group, place }, 'identity written');
    },
    onTrouble: (place, reason) =>
      log.error({ group, place, reason }, 'identity not written, the earlier one stays in force'),
  });
}

function followEdges(
  { config, clock, log, metrics }: StartSecretsOptions,
  edges: EdgesConfig,
  authority: Authority,
  cluster: Cluster,
) {
  return followEdgeAccounts({
    ...config,
    ...edges,
    cluster,
    authority,
    clock,
    onWritten(group, place) {
      metrics.issued();
      log.info({ group, place }, 'identity written');
    },
    onTrouble: (place, reason) =>
      log.error({ place, reason }, 'identities of Gateways not written'),
    onUnread: reason => log.error({ reason }, 'the accounts of Gateways cannot be read'),
  });
}
