import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import type { UpstreamFigures } from '#controlplane/figures/figures.ts';
import type { ServiceInstances } from '#controlplane/knowledge/knowledge.ts';
import type { Drained } from '#files/drained-store.ts';
import { doubtOfDrain } from './drain-doubt.ts';

const MAPPING = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: m }
spec: { prefix: /, service: users, resolver: sds }
`;
const [ONE, TWO, THREE] = [1, 2, 3].map(port => ({ address: '::1', port })) as [
  Drained,
  Drained,
  Drained,
];

function service(
  ...all: readonly (Drained & { readonly healthy?: boolean; readonly drained?: boolean })[]
): ServiceInstances {
  const instances = all.map(each => ({ healthy: true, drained: false, ...each }));
  return { service: 'users', instances, more: false };
}

function upstream(healthy: number, members: number): UpstreamFigures {
  const origins = ['Mapping/default/m'];
  return { origins, healthy, members } as Partial<UpstreamFigures> as UpstreamFigures;
}

type Case = {
  readonly known?: readonly ServiceInstances[];
  readonly drained?: readonly Drained[];
  readonly seen?: readonly UpstreamFigures[];
};

function doubt({ drained = [], known = [], seen = [] }: Case): Promise<string | undefined> {
  return doubtOfDrain(ONE, {
    knowledge: { instances: async () => known },
    figures: { upstreams: () => seen },
    resources: () => resourceSetOf(MAPPING).resources,
    drained: () => drained,
  });
}

test('a drain is not doubted while another instance stays in rotation', async () => {
  assert.equal(await doubt({ known: [service(ONE, TWO)] }), undefined);
  assert.equal(await doubt({ known: [service(ONE, TWO)], seen: [upstream(2, 2)] }), undefined);
  assert.equal(await doubt({ known: [{ ...service(ONE), more: true }] }), undefined);
});

const LAST = /No instance of users would stay in rotation.* 503/;

test('the last one in rotation is not drained without a further confirmation', async () => {
  for (const alone of [
    { known: [service(ONE)] },
    { known: [service(ONE, TWO)], drained: [TWO] },
    { known: [service(ONE, { ...TWO, healthy: false }, THREE)], drained: [THREE] },
    { known: [service(ONE, { ...TWO, drained: true })] },
    { known: [service(ONE, TWO), service(ONE)] },
  ])
    assert.match((await doubt(alone)) ?? '', LAST);
  const one = { known: [service(ONE, TWO)], seen: [upstream(1, 2)] };
  assert.match((await doubt(one)) ?? '', /see 1 healthy instance of users/);
});

test('what is drained already is not doubted, and what nobody knows is not drained', async () => {
  assert.equal(await doubt({ known: [service(ONE)], drained: [ONE] }), undefined);
  await assert.rejects(doubt({}), /knows no instance at \[::1\]:1/);
});

test('what stays is doubted when discovery cannot be asked', async () => {
  const instances = () => Promise.reject(new Error('it does not answer in time'));
  const facts = {
    ...{ knowledge: { instances }, figures: { upstreams: () => [] }, drained: () => [] },
    resources: () => resourceSetOf(MAPPING).resources,
  };
  assert.match((await doubtOfDrain(ONE, facts)) ?? '', /unknown .*does not answer in time/);
});
