import { CLUSTER, CLUSTER_LOAD_ASSIGNMENT, LISTENER, SECRET } from '#protos/type-url.ts';
import { text } from '#protos/wire-fields.ts';
import { WireWriter } from '#protos/wire-writer.ts';
import { type XdsResource, xdsResource } from './snapshot.ts';

/**
 * In what the resource types differ on the wire.
 * Source: Envoy's "xDS REST and gRPC protocol", and what Envoy itself waits for.
 */
export type TypeRules = {
  /**
   * A response of the state of the world carries every resource of the type: what is missing in it
   * is deleted.
   */
  readonly fullState: boolean;
  /** `*`, or a first request without names, means every resource. */
  readonly wildcard: boolean;
  /**
   * What a name that nobody serves is answered with; undefined: a removal (delta) or nothing (state
   * of the world).
   */
  readonly unknown: ((name: string) => XdsResource) | 'silence' | undefined;
  /** A request that repeats names is answered although nothing changed. */
  readonly answersRepeats: boolean;
  /** `initial_resource_versions` are believed. */
  readonly resumes: boolean;
};

const BASE: TypeRules = {
  fullState: false,
  wildcard: true,
  unknown: undefined,
  answersRepeats: false,
  resumes: true,
};

/**
 * Envoy holds a cluster, and with it every later cluster, until its endpoints are answered: so they
 * always are.
 */
const ENDPOINTS: TypeRules = { ...BASE, unknown: emptyAssignment, answersRepeats: true };

/**
 * A listener waits for its secret and refuses a removal; nobody gets a secret that he does not
 * name. A reconnecting Envoy is sent its secrets again.
 */
const SECRETS: TypeRules = { ...BASE, wildcard: false, unknown: 'silence', resumes: false };

/** The rules of a resource type; types that are not Envoy's follow the general ones. */
export function rulesOf(typeUrl: string): TypeRules {
  if (typeUrl === LISTENER || typeUrl === CLUSTER) return { ...BASE, fullState: true };
  if (typeUrl === CLUSTER_LOAD_ASSIGNMENT) return ENDPOINTS;
  if (typeUrl === SECRET) return SECRETS;
  return BASE;
}

/** Source: envoy/config/endpoint/v3/endpoint.proto, ClusterLoadAssignment.cluster_name. */
const CLUSTER_NAME = 1;

/**
 * A ClusterLoadAssignment without endpoints: "I know the cluster, nobody serves it now". A peer may
 * ask for very many names that nobody serves, so this costs little and never throws.
 */
export function emptyAssignment(name: string): XdsResource {
  const writer = new WireWriter(name.length + 8);
  text(writer, CLUSTER_NAME, name);
  return xdsResource(name, { type_url: CLUSTER_LOAD_ASSIGNMENT, value: writer.copy(0) });
}
