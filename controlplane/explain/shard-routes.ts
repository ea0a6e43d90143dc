import type { CutHosts } from '#controlplane/compile/routes/with-shards.ts';
import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import { withoutPort } from './request-host.ts';
import type { Route, VirtualHost } from './route-configuration.ts';
import { findVirtualHost } from './virtual-host.ts';

type Shard = VirtualHost & { readonly matcher?: JsonObject };

/** Returns the routes that Envoy tries for a request, from the shard that it chooses. */
export function shardRoutes(cut: CutHosts, { headers, path }: EnvoyRequest): readonly Route[] {
  const host = withoutPort(headers.get(':authority')?.[0] ?? '');
  // The compiler wrote them.
  const shards = cut.hosts as unknown as readonly Shard[];
  const shard = findVirtualHost(shards, cut.keyFor({ host, path, headers })) as Shard | undefined;
  if (shard?.matcher === undefined) return (shard?.routes ?? []) as readonly Route[];
  return listOf(shard.matcher, headers) as unknown as readonly Route[];
}

/** Evaluates what by-header.ts makes. Source: Envoy's page of `Matcher`. */
function listOf(matcher: JsonObject, headers: EnvoyRequest['headers']): readonly JsonObject[] {
  const { matcher_tree } = matcher;
  const name = String(at(matcher_tree, 'input', 'typed_config', 'header_name'));
  const value = headers.get(name)?.join();
  const exact = value === undefined ? undefined : at(matcher_tree, 'exact_match_map', 'map', value);
  const others = at(matcher, 'on_no_match', 'matcher');
  const [several] = objectsIn(at(others, 'matcher_list', 'matchers'));
  const otherwise = value?.includes(',') ? several?.on_match : at(others, 'on_no_match');
  return objectsIn(at(exact ?? otherwise, 'action', 'typed_config', 'routes'));
}

function at(json: Json | undefined, ...keys: readonly string[]): Json | undefined {
  return keys.reduce((of, key) => (isJsonObject(of) ? of[key] : undefined), json);
}
