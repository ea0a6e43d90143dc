import {
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  LISTENER,
  ROUTE_CONFIGURATION,
  SECRET,
  VIRTUAL_HOST,
} from '#protos/type-url.ts';
import { text } from '#protos/wire-fields.ts';
import { WireWriter } from '#protos/wire-writer.ts';
import { type XdsResource, xdsResource } from './snapshot.ts';

/**
 * How the resource types differ on the wire.
 * See Envoy's "xDS REST and gRPC protocol". Some rules follow what Envoy itself waits for.
 */
export type TypeRules = {
  /** A state-of-the-world response carries every resource of the type. What it lacks is deleted. */
  readonly fullState: boolean;
  /** `*`, or a first request without names, means every resource. */
  readonly wildcard: boolean;
  /**
   * The answer for a name that does not exist. Undefined means a removal (delta) or nothing (state
   * of the world).
   */
  readonly unknown: ((name: string) => XdsResource) | 'silence' | undefined;
  /** A request that repeats names is answered although nothing changed. */
  readonly answersRepeats: boolean;
  /** `initial_resource_versions` are believed. */
  readonly resumes: boolean;
  /**
   * The type whose resources these are parts of, `<name>/…`. A part is sent to clients that have
   * ACKed what it is a part of, and others would drop it. All changes go in one response of any
   * size. When no part is left, no removal is reported: a client that still uses the whole needs
   * them.
   */
  readonly partsOf: string | undefined;
};

const BASE: TypeRules = {
  fullState: false,
  wildcard: true,
  unknown: undefined,
  answersRepeats: false,
  resumes: true,
  partsOf: undefined,
};

/**
 * Envoy holds back a cluster, and every later one, until its endpoints are answered. So they always
 * are.
 */
const ENDPOINTS: TypeRules = { ...BASE, unknown: emptyAssignment, answersRepeats: true };

/**
 * A listener waits for its secret and rejects a removal. Only secrets that a client names are sent.
 * A reconnecting Envoy is sent its secrets again.
 */
const SECRETS: TypeRules = { ...BASE, wildcard: false, unknown: 'silence', resumes: false };

/**
 * A listener that begins to use a table of routes waits for its first response with virtual hosts
 * alone. Envoy subscribes to those of all tables once. [measured on Envoy 1.40]
 */
const VIRTUAL_HOSTS: TypeRules = { ...BASE, partsOf: ROUTE_CONFIGURATION };

/** Returns the rules of a resource type. Types that are not Envoy's follow the general ones. */
export function rulesOf(typeUrl: string): TypeRules {
  if (typeUrl === LISTENER || typeUrl === CLUSTER) return { ...BASE, fullState: true };
  if (typeUrl === CLUSTER_LOAD_ASSIGNMENT) return ENDPOINTS;
  if (typeUrl === SECRET) return SECRETS;
  if (typeUrl === VIRTUAL_HOST) return VIRTUAL_HOSTS;
  return BASE;
}

/** See envoy/config/endpoint/v3/endpoint.proto, ClusterLoadAssignment.cluster_name. */
const CLUSTER_NAME = 1;

/**
 * Returns a ClusterLoadAssignment without endpoints, which says that the cluster exists but has no
 * endpoints now. A peer may ask for very many unknown names. So this costs little and never throws.
 */
export function emptyAssignment(name: string): XdsResource {
  const writer = new WireWriter(name.length + 8);
  text(writer, CLUSTER_NAME, name);
  return xdsResource(name, { type_url: CLUSTER_LOAD_ASSIGNMENT, value: writer.copy(0) });
}
