import type { JsonObject } from '#protos/json.ts';
import type { Problem } from '#resources/problem.ts';
import type { TokenProvider } from './ext-authz/token-way.ts';

/**
 * One message for Envoy, as proto3 JSON with `@type`, and the ids of the operator's resources that
 * it comes from.
 */
export type CompiledResource = {
  readonly name: string;
  readonly json: JsonObject;
  readonly origins: readonly string[];
};

/** The configuration of one node group. */
export type Compiled = {
  /** By type URL, ordered by name. */
  readonly resources: ReadonlyMap<string, readonly CompiledResource[]>;
  readonly problems: readonly Problem[];
  /** Whose tokens its proxies may verify. Absent: none. */
  readonly tokens?: readonly TokenProvider[];
};
