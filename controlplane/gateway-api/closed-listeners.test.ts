import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Memo } from '#controlplane/compile/memo.ts';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { servedGateways } from './served-gateways.ts';
import { CLASS, gateway, object } from './testing/documents.ts';
import { OPTIONS } from './testing/served.ts';

const WIDE = '{name: wide, port: 80, protocol: HTTP}';
const NARROW = '{name: narrow, port: 80, protocol: HTTP, hostname: a.test}';
/** A field that no schema takes makes the whole resource wrong. */
const WRONG = '{name: wrong, port: 0, protocol: HTTP}';
const SAME = 'allowedListeners: {namespaces: {from: Same}}';
const set = (listeners: string, parent = 'name: g') =>
  object('ListenerSet', 's', `parentRef: {${parent}}, listeners: [${listeners}]`);

type Case = readonly [what: string, text: string, closed: readonly string[], shared?: boolean];
const CASES: readonly Case[] = [
  ['of a listener that is served is open', gateway('g', `listeners: [${WIDE}, ${NARROW}]`), []],
  [
    'of a protocol that is not served is closed',
    gateway('g', `listeners: [${WIDE}, ${NARROW.replace('HTTP', 'https')}]`),
    ['Gateway/infra/g a.test:80'],
  ],
  [
    'of a datagram is open',
    gateway('g', `listeners: [${WIDE}, ${NARROW.replace('HTTP', 'UDP')}]`),
    [],
  ],
  [
    'of a rejected ListenerSet is closed',
    gateway('g', `listeners: [${WIDE}], ${SAME}`) + set(`${NARROW}, ${WRONG}`),
    ['ListenerSet/infra/s a.test:80'],
  ],
  [
    'of a rejected ListenerSet that the Gateway does not allow is open',
    gateway('g', `listeners: [${WIDE}]`) + set(`${NARROW}, ${WRONG}`),
    [],
  ],
  [
    'of a rejected ListenerSet of another Gateway is open',
    gateway('g', `listeners: [${WIDE}], ${SAME}`) + set(`${NARROW}, ${WRONG}`, 'name: other'),
    [],
  ],
  [
    'of a ListenerSet whose Gateway is not named is open',
    gateway('g', `listeners: [${WIDE}], ${SAME}`) + set(NARROW, ''),
    [],
  ],
  [
    'of a rejected Gateway is closed on the edge that it shares',
    gateway('g', `listeners: [${WIDE}]`) + gateway('h', `listeners: [${NARROW}, ${WRONG}]`),
    ['Gateway/infra/h a.test:80'],
    true,
  ],
  [
    'of a rejected Gateway is its own where it has proxies of its own',
    gateway('g', `listeners: [${WIDE}]`) + gateway('h', `listeners: [${NARROW}, ${WRONG}]`),
    [],
  ],
  [
    'of a Gateway that is not accepted is closed on the edge that it shares',
    gateway('g', `listeners: [${WIDE}]`) +
      gateway('h', `listeners: [${NARROW}], addresses: [{routability: Cluster}]`),
    ['Gateway/infra/h a.test:80'],
    true,
  ],
];

for (const [what, text, closed, sharedEdge = false] of CASES)
  test(`a host ${what}`, () => {
    const parsed = collect([parseFile('a.yaml', CLASS + text, DEFAULT_PARSE_OPTIONS)]);
    const resources = toResourceSet(parsed.resources.values(), parsed.rejected.values());
    const { gateways } = servedGateways(resources, { ...OPTIONS, sharedEdge }, new Memo());
    const found = gateways.flatMap(each => each.closed);
    assert.deepEqual(
      found.map(({ hostname, origin, port }) => `${origin} ${hostname}:${port}`),
      closed,
    );
  });
