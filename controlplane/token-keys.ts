import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Logger } from 'pino';
import {
  KNOWN_TOKENS,
  TOKEN_MEMORY,
  TOKENS,
  tokenVerifier,
} from '#controlplane/compile/ext-authz/token-filters.ts';
import type { TokenProvider } from '#controlplane/compile/ext-authz/token-way.ts';
import { problemOf } from '#controlplane/compile/problem-of.ts';
import type { FilterKeySet } from '#controlplane/knowledge/knowledge.ts';
import { failureLog } from '#process/refusal-log.ts';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { EXTENSION_CONFIG } from '#protos/type-url.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { DiscoveryService, type DiscoveryServiceOptions } from '#xds/discovery-service.ts';
import { type Snapshot, snapshotOf, type XdsResource, xdsResource } from '#xds/snapshot.ts';
import { SnapshotCache } from '#xds/snapshot-cache.ts';
import { KeysInForce } from './keys-in-force.ts';
import { RejectedKeys } from './rejected-keys.ts';

export type TokenKeysParts = Required<Pick<DiscoveryServiceOptions, 'refuse' | 'now' | 'after'>> & {
  readonly log: Logger;
  /** Asks ext-authz for the keys. Without it there are none. */
  keySets?(): Promise<readonly FilterKeySet[]>;
  /** Is called when the Problems are others. */
  changed?(): void;
};

export type TokenKeys = {
  /** The discovery service of the filter that verifies. */
  readonly services: Readonly<Record<string, UntypedServiceImplementation>>;
  /** Takes whose tokens the proxies of a group verify. */
  compiled(group: string, providers: readonly TokenProvider[]): void;
  /** Returns the Problems of Filters whose keys proxies reject. `served` are resources by id. */
  problems(served: ReadonlyMap<string, Resource>): readonly Problem[];
  close(): void;
};

/** How often ext-authz is asked, in ms. */
const ASK_MS = 2_000;
/**
 * A proxy that is told nothing for so long, in ms, verifies no more tokens, and asks ext-authz
 * about each. Together with MOST_AGE_MS, and with how long a proxy remembers, that is 10 s.
 */
const TTL_MS = 5_000;

/**
 * Serves proxies the filter that verifies tokens, with the keys that count in ext-authz now. What
 * has no fresh keys is left out, and its tokens go to ext-authz. So do those of keys that a proxy
 * has rejected. A stream of its own carries it, so keys are no part of a change.
 */
export function openTokenKeys(parts: TokenKeysParts): TokenKeys {
  const { after, keySets, log, now } = parts;
  const cache = new SnapshotCache();
  const groups = new Map<string, readonly TokenProvider[]>();
  const inForce = new KeysInForce(now);
  const rejected = new RejectedKeys();
  const sent = new WeakMap<Snapshot, ReadonlyMap<string, readonly string[]>>();
  const logFailure = failureLog(log, now);
  const service = new DiscoveryService({
    ...{ cache, now, after, independent: true },
    refuse: parts.refuse,
    observer: {
      failed: (stream, err) => logFailure({ err, node: stream?.node }, STREAM_FAILED),
      nacked: ({ node }, { message, target }) => {
        log.error({ node, message }, REJECTED);
        rejected.reject(sent.get(target) ?? new Map(), message);
        publishAll();
        parts.changed?.();
      },
    },
  });
  let turn = 0;
  const publish = (group: string, providers: readonly TokenProvider[]) => {
    const keys = rejected.without(inForce.of(providers));
    const own = keys.size === 0 ? [] : [verifier(providers, keys, turn)];
    const snapshot = snapshotOf([MEMORY, ...own]);
    sent.set(snapshot, keys);
    cache.set(group, snapshot);
  };
  const publishAll = () => {
    for (const [group, providers] of groups) publish(group, providers);
  };
  /** Why keys are rejected, by the name of the Filter. */
  const reasons = () =>
    [...groups.values()].flatMap(providers => {
      const found = rejected.reasons(inForce.of(providers));
      return providers.flatMap(({ filter, name }) => {
        const reason = found.get(name);
        return reason === undefined ? [] : [[filter, reason] as const];
      });
    });
  let lastTold = '[]';
  let cancel = () => {};
  /** The asking that goes on. An earlier one may still wait for its answer. */
  let asking: object | undefined;
  const ask = async (own: object) => {
    const asked = now();
    try {
      inForce.take((await keySets?.()) ?? [], asked);
    } catch (error) {
      log.debug({ reason: error instanceof Error ? error.message : '' }, UNKNOWN);
    }
    turn += 1;
    publishAll();
    const told = JSON.stringify(reasons());
    if (told !== lastTold) parts.changed?.();
    lastTold = told;
    if (asking === own) cancel = after(ASK_MS, () => void ask(own));
  };
  const begin = () => {
    if (keySets === undefined || asking !== undefined) return;
    asking = {};
    void ask(asking);
  };
  const end = () => {
    cancel();
    asking = undefined;
  };
  return {
    services: withoutAggregated(service.implementations([EXTENSION_CONFIG])),
    compiled: (group, providers) => {
      if (providers.length === 0 && !groups.has(group)) return;
      groups.set(group, providers);
      publish(group, providers);
      if ([...groups.values()].some(({ length }) => length > 0)) begin();
      else end();
    },
    problems: served => keyProblems(new Map(reasons()), served),
    close: () => {
      end();
      service.close();
    },
  };
}

const STREAM_FAILED = 'an internal error ended a stream of the filter that verifies tokens';
const REJECTED = 'a proxy rejected the filter that verifies tokens';
const UNKNOWN = 'the keys of JWT Filters are unknown, so ext-authz verifies all tokens';

function keyProblems(
  reasons: ReadonlyMap<string, string>,
  served: ReadonlyMap<string, Resource>,
): readonly Problem[] {
  return [...reasons].flatMap(([filter, reason]) => {
    const resource = served.get(`Filter/${filter}`);
    if (resource === undefined) return [];
    const message = `the proxies cannot read the keys of its provider, so ext-authz verifies its tokens: ${reason}`;
    return [problemOf(resource, 'warning', 'spec.JWT.jwksURI', message)];
  });
}

/** Equal content with another version tells a proxy that it still counts, and changes nothing. */
function verifier(
  providers: readonly TokenProvider[],
  keys: ReadonlyMap<string, readonly string[]>,
  turn: number,
): XdsResource {
  const resource = extensionConfig(TOKENS, tokenVerifier(providers, keys));
  return { ...resource, version: `${resource.version}.${turn}`, ttlMs: TTL_MS };
}

function extensionConfig(name: string, typed_config: JsonObject): XdsResource {
  return xdsResource(name, encodeAny({ '@type': EXTENSION_CONFIG, name, typed_config }));
}

const MEMORY = extensionConfig(KNOWN_TOKENS, TOKEN_MEMORY);

function withoutAggregated(
  services: TokenKeys['services'],
): Readonly<Record<string, UntypedServiceImplementation>> {
  return Object.fromEntries(
    Object.entries(services).filter(([name]) => name.includes('ExtensionConfig')),
  );
}
