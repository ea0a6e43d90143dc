import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Cluster } from '#kubernetes/cluster.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { GATEWAY_API_GROUP, GATEWAY_API_VERSIONS } from '#resources/kinds/known-kinds.ts';
import { gatewayApiCrds } from '../../../conformance/gateway-api-crds.ts';
import { createDefinition, served } from './objects.ts';

const DOCUMENTS = join(import.meta.dirname, '../../kinds/gateway-api/testdata/valid.yaml');

const MANIFESTS = join(import.meta.dirname, '../../../deploy/kubernetes');

/**
 * Returns why there are no definitions of Gateway API for tests. They come with its suite.
 * @returns undefined when there are
 */
export function whyNoGatewayApi(): string | undefined {
  return findTool('gateway-conformance').skip || undefined;
}

/**
 * Applies the definitions of Gateway API's release, or those of these kinds, and waits until the
 * server serves them.
 */
export async function applyGatewayApi(
  cluster: Cluster,
  kinds: readonly string[] = Object.keys(GATEWAY_API_VERSIONS),
): Promise<void> {
  const folder = gatewayApiCrds();
  const files = readdirSync(folder).filter(name => name.startsWith(`${GATEWAY_API_GROUP}_`));
  const definitions = files
    .flatMap(name => parseAllDocuments(readFileSync(join(folder, name), 'utf8')))
    .map(document => document.toJS() as KubernetesObject)
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .filter(({ spec }) => kinds.includes((spec as { names: { kind: string } }).names.kind));
  for (const definition of definitions) await createDefinition(cluster, definition);
  for (const kind of kinds) {
    const plural = gatewayApiPlural(kind);
    await served(cluster, { group: GATEWAY_API_GROUP, version: 'v1', plural });
  }
}

/** Returns a kind of Gateway API as paths of the API name it. */
export function gatewayApiPlural(kind: string): string {
  const ending = /s$/.test(kind) ? 'es' : 's';
  return `${kind.toLowerCase().replace(/cy$/, 'cie')}${ending}`;
}

/** Returns the ClusterRoles of the control plane, as our manifests have them. */
export function gatewayApiRoles(): readonly KubernetesObject[] {
  const files = ['system/controlplane.yaml', 'gateway-api/roles.yaml'];
  return files
    .flatMap(file => parseAllDocuments(readFileSync(join(MANIFESTS, file), 'utf8')))
    .map(document => document.toJS() as KubernetesObject)
    .filter(({ kind }) => kind === 'ClusterRole');
}

/** Returns a right document or more of each kind, with all fields between them. */
export function gatewayApiDocuments(): readonly KubernetesObject[] {
  return parseAllDocuments(readFileSync(DOCUMENTS, 'utf8')).map(
    document => document.toJS() as KubernetesObject,
  );
}
