import { delimiter, resolve } from 'node:path';
import type { HostPort } from '#grpc/host-port.ts';
import {
  parseList,
  parseServerAddress,
  type ReadVariable,
  readReportAddresses,
  readTrustDomain,
} from '#process/environment.ts';
import { edgesName } from '#resources/words/gateway-edges.ts';
import { readKubernetesNamespaces } from '../instances/kubernetes/read-kubernetes-namespaces.ts';
import { parseLifetime } from './parse-lifetime.ts';

export type SecretsConfig = {
  /** The control plane, which says which secrets are served to which group. */
  readonly xds: HostPort;
  /** See `readReportAddresses`. */
  readonly reportTo: readonly HostPort[];
  readonly trustDomain: string;
  readonly leafMs: number;
  readonly rootMs: number;
  /** Absolute path of the folder with the authority's roots, unless a Secret holds them. */
  readonly authorityFolder: string;
  /**
   * Absolute path of the folder with what ACME authorities issue, unless a Secret holds the roots.
   * Secrets hold it then.
   */
  readonly acmeFolder: string;
  /** Absolute path of the file with what is drained, unless a Secret holds the roots. */
  readonly drainedFile: string;
  /** Name of a Secret in the process's own namespace. */
  readonly authoritySecret: string | undefined;
  /**
   * Identities that are written for services that need one before they can ask. They are folders by
   * group, and groups whose Secret is kept.
   */
  readonly identityFolders: ReadonlyMap<string, string>;
  readonly identitySecrets: readonly string[];
  /** The Gateways whose proxies get identities. Undefined means none. */
  readonly edges: EdgesConfig | undefined;
  /**
   * Absolute paths of the folders whose files resources may name as certificates, keys and
   * authorities.
   */
  readonly certificateFolders: readonly string[];
  /**
   * Absolute path of a kubeconfig for those Secrets. Undefined means the service account of the
   * container.
   */
  readonly kubeconfig: string | undefined;
};

export type EdgesConfig = {
  /** The namespaces of Gateways. Undefined means all. */
  readonly namespaces: readonly string[] | undefined;
  /** The name of what is made for Gateways (`edgesName`). */
  readonly name: string;
};

const HOURS_MS = 3_600_000;
/** Certificates hold whole seconds. */
const LEAST_MS = 1_000;
const LONGEST_LEAF_MS = 30 * 24 * HOURS_MS;
const LONGEST_ROOT_MS = 100 * 8_766 * HOURS_MS;
/**
 * A root must outlive the notice of its successor and the last certificates that it issued, from
 * half of its life on.
 */
const LEAVES_PER_ROOT = 4;

/**
 * Reads the variables that concern secrets.
 * @throws an Error that names the variable and what it should be
 */
export function readSecretsConfig(text: ReadVariable): SecretsConfig {
  const leafMs = lifetime(
    'CERTIFICATE_LIFETIME',
    text('CERTIFICATE_LIFETIME', '24h'),
    LEAST_MS,
    LONGEST_LEAF_MS,
  );
  const leastRoot = LEAVES_PER_ROOT * leafMs;
  const rootMs = lifetime(
    'ROOT_LIFETIME',
    text('ROOT_LIFETIME', '43800h'),
    leastRoot,
    LONGEST_ROOT_MS,
  );
  const folder = text('IDENTITY_FOLDER', '');
  const kubeconfig = text('KUBECONFIG', '');
  const identities = groups('IDENTITIES', text('IDENTITIES', ''));
  if (folder === '' && identities.length > 0) {
    throw new Error('IDENTITY_FOLDER is not set: want the folder that IDENTITIES are written to');
  }
  if (folder !== '' && identities.length === 0) {
    throw new Error(
      'IDENTITIES is not set: want the node groups whose identities are written to IDENTITY_FOLDER',
    );
  }
  return {
    xds: parseServerAddress('XDS_ADDRESS', text('XDS_ADDRESS', '127.0.0.1:18000')),
    reportTo: readReportAddresses(text),
    trustDomain: readTrustDomain(text),
    leafMs,
    rootMs,
    authorityFolder: resolve(text('STATE', '.gateway'), 'authority'),
    acmeFolder: resolve(text('STATE', '.gateway'), 'acme'),
    drainedFile: resolve(text('STATE', '.gateway'), 'sds-drained.json'),
    authoritySecret: parseSecretName(text('AUTHORITY_SECRET', '')),
    identityFolders: new Map(identities.map(group => [group, resolve(folder, group)])),
    identitySecrets: groups('IDENTITY_SECRETS', text('IDENTITY_SECRETS', '')),
    edges: readEdges(text),
    certificateFolders: parseList(
      'CERTIFICATE_FILES',
      text('CERTIFICATE_FILES', '/etc/gateway'),
      delimiter,
    ).map(folder => resolve(folder)),
    kubeconfig: kubeconfig === '' ? undefined : resolve(kubeconfig),
  };
}

function readEdges(text: ReadVariable): EdgesConfig | undefined {
  const name = edgesName(text('GATEWAY_ID', 'default'));
  const found = readKubernetesNamespaces('EDGES_KUBERNETES', text('EDGES_KUBERNETES', ''));
  return found && { ...found, name };
}

function parseSecretName(text: string): string | undefined {
  if (text === '') return undefined;
  if (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(text)) return text;
  throw new Error(`AUTHORITY_SECRET is "${text}": want the name of a Secret`);
}

function groups(name: string, text: string): readonly string[] {
  const found = parseList(name, text, ',');
  const wrong = found.find(item => !/^[a-z0-9-]{1,63}$/.test(item));
  if (wrong === undefined) return [...new Set(found)];
  throw new Error(`${name} has "${wrong}": want names of node groups, separated by commas`);
}

function lifetime(name: string, text: string, least: number, most: number): number {
  const ms = parseLifetime(text) ?? 0;
  if (ms >= least && ms <= most) return ms;
  const hours = most / HOURS_MS;
  throw new Error(
    `${name} is "${text}": want a time such as 24h, 90m or 10s, from ${least / 1_000}s to ${hours}h`,
  );
}
