import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { validate } from '#envoy/e2e/validate.ts';
import { missingReferences } from '#xds/testing/references.ts';
import { discoveryClusters } from '../clusters/discovery-cluster.ts';
import { BOOTSTRAP_CLUSTERS } from '../clusters/reserved-clusters.ts';
import { compile } from '../compile.ts';
import { EDGE, SERVICE_GROUPS } from '../node-groups.ts';
import { damaged } from '../testing/damaged.ts';
import { randomDocuments } from '../testing/random-documents.ts';
import { randomFilters } from '../testing/random-filters.ts';
import { randomHosts } from '../testing/random-hosts.ts';
import { randomPolicies } from '../testing/random-policies.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { type Chances, chancesOf } from '../testing/seeded-pick.ts';
import { staticTestBootstrap } from '../testing/static-test-bootstrap.ts';
import { FUZZ_OPTIONS, written } from '../testing/written.ts';

/** Returns documents of all kinds, with mistakes that operators make. */
function allKinds(seed: number, chances: Chances): readonly unknown[] {
  const filters = randomFilters(chances).map(({ name, namespace, spec }) =>
    written('Filter', namespace, name, spec),
  );
  const policies = randomPolicies(12, chances).map(({ name, namespace, spec }) =>
    written('FilterPolicy', namespace, name, spec),
  );
  return [
    ...randomDocuments(seed, 130),
    ...filters,
    ...policies,
    ...randomHosts(chances).documents,
  ];
}

function textOf(documents: readonly unknown[]): string {
  return documents.map(document => stringify(document)).join('---\n');
}

function shuffled(documents: readonly unknown[], { random }: Chances): readonly unknown[] {
  return documents
    .map(document => ({ document, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ document }) => document);
}

/** Returns the bytes of everything that proxies and services get. */
function bytesOf(text: string): readonly (readonly string[])[] {
  const { resources } = resourceSetOf(text);
  return [EDGE, ...SERVICE_GROUPS].map(group => {
    const snapshot = snapshotEncoder(Buffer.alloc(32))(compile(resources, group, FUZZ_OPTIONS));
    if (group === EDGE) assert.deepEqual(missingReferences(snapshot, BOOTSTRAP_CLUSTERS), []);
    return [...snapshot.values()].flatMap(all =>
      [...all.values()].map(
        ({ any, name }) => `${any.type_url} ${name} ${Buffer.from(any.value).toString('hex')}`,
      ),
    );
  });
}

/** Each batch is one configuration for Envoy. A failure names its seed. */
for (const seed of [1, 2, 3, 4, 5]) {
  test(`what the parser accepts of 180 random resources, Envoy accepts (seed ${seed})`, async () => {
    const { resources } = resourceSetOf(textOf(allKinds(seed, chancesOf(seed))));
    const { filterPolicies, filters, mappings, rateLimits } = resources;
    assert.ok(mappings.length > 20, `only ${mappings.length} Mappings: this shows little`);
    assert.ok(rateLimits.length > 2, `only ${rateLimits.length} RateLimits`);
    assert.ok(
      Math.min(filters.length, filterPolicies.length) > 3,
      `${filters.length}, ${filterPolicies.length}`,
    );
    assert.ok(resources.closed.length > 0, 'nothing is closed');
    const compiled = compile(resources, EDGE, FUZZ_OPTIONS);
    const discovery = discoveryClusters(resources, EDGE, FUZZ_OPTIONS.sds);
    assert.equal(await validate(staticTestBootstrap(compiled, discovery)), undefined);
  });
}

test('equal documents, in whatever order they are written, give equal bytes to all', () => {
  for (const seed of [11, 12]) {
    const chances = chancesOf(seed);
    const documents = allKinds(seed, chances);
    const first = bytesOf(textOf(documents));
    assert.ok(first.flat().length > 40, `seed ${seed}: only ${first.flat().length} messages`);
    assert.deepEqual(bytesOf(textOf(documents)), first, `seed ${seed}`);
    assert.deepEqual(
      bytesOf(textOf(shuffled(documents, chances))),
      first,
      `seed ${seed}, in another order`,
    );
  }
});

test('damaged documents of all kinds are compiled or refused, and what is compiled can be sent', async () => {
  const seen = { refused: 0, compiled: 0 };
  for (let seed = 25; seed < 31; seed += 1) {
    const chances = chancesOf(seed);
    const documents = allKinds(seed, chances).map(document =>
      damaged(document, chances.random, 0.02),
    );
    const text = textOf(documents);
    const { resources } = resourceSetOf(text);
    bytesOf(text);
    seen.refused += resources.closed.length;
    seen.compiled += resources.mappings.length + resources.filters.length + resources.hosts.length;
    if (seed % 10 > 0) continue;
    const compiled = compile(resources, EDGE, FUZZ_OPTIONS);
    const discovery = discoveryClusters(resources, EDGE, FUZZ_OPTIONS.sds);
    assert.equal(
      await validate(staticTestBootstrap(compiled, discovery)),
      undefined,
      `seed ${seed}`,
    );
  }
  assert.ok(Math.min(seen.refused, seen.compiled) > 50, JSON.stringify(seen));
});
