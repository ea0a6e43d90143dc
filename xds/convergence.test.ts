import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { CLUSTER, CLUSTER_LOAD_ASSIGNMENT, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { DeltaSubscription } from './delta-subscription.ts';
import type { DeltaDiscoveryResponse, DiscoveryResponse } from './discovery.ts';
import type { Resources } from './snapshot.ts';
import { SotwSubscription } from './sotw-subscription.ts';
import { brought, deltaRequest } from './testing/delta-driver.ts';
import { Random } from './testing/random.ts';
import { resources } from './testing/resources.ts';
import { sotwRequest } from './testing/sotw-driver.ts';
import { rulesOf } from './type-rules.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const ROUNDS = cases({ all: 300, quick: 75 });
const STEPS = 60;

/** Random contents. The clients below reject a content that ends in 'bad'. */
function randomResources(random: Random, typeUrl: string, mayBeBad: boolean): Resources {
  const bad = mayBeBad && random.chance(0.2);
  const names = random.some(NAMES, 0.6);
  return resources(Object.fromEntries(names.map(name => [name, content(random, bad)])), typeUrl);
}

function content(random: Random, mayBeBad: boolean): string {
  return mayBeBad && random.chance(0.3) ? `${random.below(3)} bad` : String(random.below(3));
}

function isBad(any: { readonly value: Uint8Array }): boolean {
  return Buffer.from(any.value).toString().endsWith('bad');
}

function show(map: ReadonlyMap<string, string>): string {
  return [...map].sort().join(' ');
}

/** What a client that is told everything ends with. */
function wanted(all: Resources, names: ReadonlySet<string>, wildcard: boolean): string {
  const mine = [...all].filter(([name]) => wildcard || names.has(name));
  return show(new Map(mine.map(([name, { any }]) => [name, Buffer.from(any.value).toString()])));
}

/**
 * A delta client: holds what it is sent and applies a part of what it refuses, as Envoy does with
 * clusters. It may come back with what it held before.
 */
function deltaClient(random: Random, typeUrl: string, wildcard: boolean) {
  const subscription = new DeltaSubscription(typeUrl, rulesOf(typeUrl));
  const names = new Set(random.some(NAMES));
  const brings = random.chance(0.5) ? [...randomResources(random, typeUrl, false).values()] : [];
  const holds = new Map(
    brings.map(({ name, any }) => [name, Buffer.from(any.value).toString()] as const),
  );
  let pending: DeltaDiscoveryResponse | undefined;
  let nonce = 0;
  subscription.request(
    deltaRequest({
      resource_names_subscribe: wildcard ? ['*', ...names] : ['none', ...names],
      initial_resource_versions: brought(
        Object.fromEntries(brings.map(({ name, version }) => [name, version])),
      ),
    }),
  );
  const apply = ({ resources: sent, removed_resources }: DeltaDiscoveryResponse) => {
    for (const { name, resource } of sent) {
      if (!isBad(resource)) holds.set(name, Buffer.from(resource.value).toString());
    }
    for (const name of removed_resources) holds.delete(name);
  };
  const answer = () => {
    if (pending === undefined) return;
    const refuse = pending.resources.some(({ resource }) => isBad(resource));
    if (!refuse || random.chance(0.5)) apply(pending);
    const error_detail = refuse ? { code: 3, message: 'bad' } : null;
    subscription.request(deltaRequest({ response_nonce: pending.nonce, error_detail }));
    pending = undefined;
  };
  return {
    offer(all: Resources) {
      const response = subscription.respond(all, { nonce: String(++nonce), keep: false });
      if (response === undefined) return false;
      assert.equal(pending, undefined, 'two responses in flight');
      pending = response;
      return true;
    },
    answer,
    change() {
      const [name = 'a'] = random.some(NAMES, 0.3);
      const has = names.has(name);
      if (has) names.delete(name);
      else names.add(name);
      if (has && !wildcard) holds.delete(name);
      const what = has
        ? { resource_names_unsubscribe: [name] }
        : { resource_names_subscribe: [name] };
      subscription.request(deltaRequest(what));
    },
    holds: () => show(new Map([...holds].filter(([name]) => wildcard || names.has(name)))),
    wants: (all: Resources) => wanted(all, names, wildcard),
    standing: (all: Resources) => subscription.standing(all),
  };
}

/** A client of the state of the world, of clusters: what is missing in a response is deleted. */
function sotwClient(random: Random, typeUrl: string, wildcard: boolean) {
  const subscription = new SotwSubscription(typeUrl, rulesOf(typeUrl));
  const fullState = rulesOf(typeUrl).fullState;
  const names = new Set(wildcard ? [] : ['a', ...random.some(NAMES)]);
  const holds = new Map<string, string>();
  let pending: DiscoveryResponse | undefined;
  let last = '';
  let nonce = 0;
  const request = (fields: object) =>
    subscription.request(
      sotwRequest({ resource_names: [...names], response_nonce: last, ...fields }),
    );
  request({});
  const apply = (response: DiscoveryResponse) => {
    if (fullState) holds.clear();
    for (const any of response.resources) {
      const text = Buffer.from(any.value).toString();
      const name = text.slice(0, text.indexOf('='));
      if (!isBad(any) && (wildcard || names.has(name))) holds.set(name, text);
    }
  };
  return {
    offer(all: Resources) {
      const response = subscription.respond(all, { nonce: String(++nonce), keep: false });
      if (response === undefined) return false;
      assert.equal(pending, undefined, 'two responses in flight');
      pending = response;
      return true;
    },
    answer() {
      if (pending === undefined) return;
      const refuse = pending.resources.some(isBad);
      if (!refuse || random.chance(0.5)) apply(pending);
      last = pending.nonce;
      pending = undefined;
      request({ error_detail: refuse ? { code: 3, message: 'bad' } : null });
    },
    change() {
      if (wildcard) return;
      const [name = 'b'] = random.some(NAMES.slice(1), 0.3);
      if (!names.delete(name)) names.add(name);
      else holds.delete(name);
      request({});
    },
    /** Of other types than clusters nothing is ever reported as gone. */
    holds: (all: Resources) =>
      show(new Map([...holds].filter(([name]) => fullState || all.has(name)))),
    wants: (all: Resources) => wanted(all, names, wildcard),
    standing: (all: Resources) => subscription.standing(all),
  };
}

const CASES = [
  { what: 'a delta client of everything', client: deltaClient, typeUrl: CLUSTER, wildcard: true },
  {
    what: 'a delta client of names',
    client: deltaClient,
    typeUrl: ROUTE_CONFIGURATION,
    wildcard: false,
  },
  {
    what: 'a state-of-the-world client of everything',
    client: sotwClient,
    typeUrl: CLUSTER,
    wildcard: true,
  },
  {
    what: 'a state-of-the-world client of names',
    client: sotwClient,
    typeUrl: ROUTE_CONFIGURATION,
    wildcard: false,
  },
] as const;

for (const { what, client: begin, typeUrl, wildcard } of CASES) {
  test(`${what} ends with what it subscribes to, whatever it rejected on the way`, () => {
    for (let seed = 1; seed <= ROUNDS; seed += 1) {
      const random = new Random(seed);
      const client = begin(random, typeUrl, wildcard);
      let all = randomResources(random, typeUrl, true);
      for (let step = 0; step < STEPS; step += 1) {
        if (random.chance(0.3)) all = randomResources(random, typeUrl, true);
        if (random.chance(0.2)) client.change();
        if (random.chance(0.7)) client.offer(all);
        if (random.chance(0.6)) client.answer();
      }
      all = randomResources(random, typeUrl, false);
      client.answer();
      let rounds = 0;
      while (client.offer(all)) {
        client.answer();
        rounds += 1;
        assert.ok(rounds < 5, `seed ${seed}: it does not come to rest`);
      }
      assert.equal(client.holds(all), client.wants(all), `seed ${seed}`);
      assert.equal(client.standing(all), 'settled', `seed ${seed}`);
    }
  });
}

test('a client that refuses everything is not asked in a loop', () => {
  for (const typeUrl of [CLUSTER, CLUSTER_LOAD_ASSIGNMENT]) {
    for (const begin of [deltaClient, sotwClient]) {
      const random = new Random(7);
      const client = begin(random, typeUrl, false);
      const all = resources({ a: '1 bad', b: '1 bad', c: '1 bad' }, typeUrl);
      let rounds = 0;
      while (client.offer(all)) {
        client.answer();
        rounds += 1;
        assert.ok(rounds < 4);
      }
    }
  }
});
