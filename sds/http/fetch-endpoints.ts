import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import type { Instance, Instances } from '../instances/instance.ts';
import { instancesNamed, NO_SUCH_PORT } from '../instances/instances-named.ts';
import { loadAssignment } from '../instances/load-assignment.ts';

export type FetchAnswer =
  | { readonly status: 200; readonly body: JsonObject }
  /** The client already has what it asks for. */
  | { readonly status: 304 }
  | { readonly status: 400; readonly body: { readonly error: string } };

/**
 * Endpoints in an answer to names. Each service has a name for each number of a port, so a short
 * request could ask for the same ones 100,000 times.
 */
const MOST_ENDPOINTS = 100_000;

/**
 * Answers a DiscoveryRequest in proto3 JSON for endpoints with a DiscoveryResponse. Every requested
 * name is answered, an unknown one with no endpoints. No names means all services. The version is a
 * hash of what the answer holds. A client that names it gets 304.
 * See Envoy's "xDS REST and gRPC protocol", REST-JSON polling subscriptions.
 */
export function fetchEndpoints(request: unknown, instances: Instances): FetchAnswer {
  if (!isJsonObject(request)) return refuse('want a DiscoveryRequest, a JSON object');
  const typeUrl = request.type_url ?? request.typeUrl ?? CLUSTER_LOAD_ASSIGNMENT;
  if (typeUrl !== CLUSTER_LOAD_ASSIGNMENT)
    return refuse(`type_url: only ${CLUSTER_LOAD_ASSIGNMENT} is served here`);
  const names = request.resource_names ?? request.resourceNames ?? [];
  if (!isStrings(names)) return refuse('resource_names: want an array of strings');
  const asked = names.length > 0 ? new Set(names) : servicesOf(instances);
  const found = [...asked]
    .sort()
    .map(name => [name, instancesNamed(instances, name) ?? []] as const);
  if (names.length > 0 && countOf(found) > MOST_ENDPOINTS)
    return refuse(`resource_names: they have more than ${MOST_ENDPOINTS} endpoints. Ask for fewer`);
  const resources = found.map(([name, members]) => loadAssignment(name, members));
  const version = createHash('sha256').update(JSON.stringify(resources)).digest('hex').slice(0, 16);
  if ((request.version_info ?? request.versionInfo) === version) return { status: 304 };
  return {
    status: 200,
    body: { version_info: version, type_url: CLUSTER_LOAD_ASSIGNMENT, resources },
  };
}

function countOf(
  found: readonly (readonly [name: string, members: readonly Instance[]])[],
): number {
  return found.reduce((sum, [, members]) => sum + members.length, 0);
}

function servicesOf(instances: Instances): readonly string[] {
  return [...instances].flatMap(([name, members]) => (members === NO_SUCH_PORT ? [] : [name]));
}

function refuse(error: string): FetchAnswer {
  return { status: 400, body: { error } };
}

function isStrings(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string');
}
