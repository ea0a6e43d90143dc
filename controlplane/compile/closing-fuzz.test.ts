import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { stringify } from 'yaml';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { cases } from '#protos/testing/cases.ts';
import { compile } from './compile.ts';
import { EXT_AUTHZ } from './node-groups.ts';
import { edgeAnswers } from './testing/edge-answer.ts';
import { type Expected, expectedOf } from './testing/expected-filters.ts';
import { CLIENT_SECRETS, randomFilters, type WrittenFilter } from './testing/random-filters.ts';
import { randomHosts, type WrittenHost } from './testing/random-hosts.ts';
import { randomPolicies, type WrittenPolicy } from './testing/random-policies.ts';
import { resourceSetOf } from './testing/resource-set-of.ts';
import { chancesOf } from './testing/seeded-pick.ts';
import { FUZZ_OPTIONS, written } from './testing/written.ts';

const HOSTS = ['a.test', 'b.test', 'x.shop.test', 'cd.test', 'other.example', 'login3.test'];
const PATHS = [
  '/',
  '/a',
  '/a/',
  '/a/b/',
  '/b/x',
  '/admin',
  '/a/admin/1',
  '/bc',
  '/bxc',
  '/i.html',
  '/open/x',
  '/shut/a',
];
/** Other spellings of some of them, as Envoy leaves them. */
const ODD_PATHS = [
  '/a;x/b/',
  '/admin;y',
  '/x/..;z/admin',
  '/x/..%3Bz/admin',
  '/..;/a',
  '/b;c',
  '/a%3bx/b/',
  '/a/;/b/',
];

const MAPPINGS = [
  { prefix: '/', service: 'all' },
  { prefix: '/a/', host: 'a.test', service: 'a' },
  { prefix: '/', host: '*.test', service: 'wild' },
  { prefix: '/b/', host: '[ab].*', host_regex: true, service: 'expression' },
  {
    prefix: '/',
    method: 'G.*',
    method_regex: true,
    regex_headers: { ':authority': 'cd.*' },
    service: 'conditions',
  },
  { prefix: '/admin', case_sensitive: false, service: 'any-case' },
  { prefix: '/open/', service: 'open', bypass_auth: true },
  { prefix: '/shut/', service: 'shut', timeout_ms: 'long' },
].map((spec, index) => written('Mapping', 'default', `m${index}`, spec));

type World = {
  readonly filters: readonly WrittenFilter[];
  readonly policies: readonly WrittenPolicy[];
  readonly hosts: readonly WrittenHost[];
  readonly text: string;
};

function randomWorld(seed: number, withHosts: boolean): World {
  const chances = chancesOf(seed);
  const filters = randomFilters(chances);
  const policies = randomPolicies(chances.pick([1, 2, 4, 6]), chances);
  const { documents, hosts } = withHosts ? randomHosts(chances) : { documents: [], hosts: [] };
  const secrets = CLIENT_SECRETS.flatMap(({ data, name }) =>
    data === undefined
      ? []
      : [{ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: data }],
  );
  const all = [
    ...MAPPINGS,
    ...secrets,
    ...filters.map(({ name, namespace, spec }) => written('Filter', namespace, name, spec)),
    ...policies.map(({ name, namespace, spec }) => written('FilterPolicy', namespace, name, spec)),
    ...documents,
  ];
  const order = all
    .map(document => ({ document, at: chances.random() }))
    .sort((a, b) => a.at - b.at);
  return {
    filters,
    policies,
    hosts,
    text: order.map(({ document }) => stringify(document)).join('---\n'),
  };
}

function answersOf({ text }: World) {
  const { resources } = resourceSetOf(text);
  const edge = compile(resources, 'edge', FUZZ_OPTIONS);
  const decisions = snapshotEncoder(Buffer.alloc(32))(compile(resources, EXT_AUTHZ, FUZZ_OPTIONS));
  return edgeAnswers(edge, decisions);
}

/** Rules do not apply where `bypass_auth` is set, but what is closed stays closed. */
function expected({ filters, policies }: World, host: string, path: string): Expected {
  const inForce = path.startsWith('/open/')
    ? policies.filter(({ closes }) => closes !== undefined)
    : policies;
  return path.startsWith('/shut/') ? { closed: true } : expectedOf(filters, inForce, host, path);
}

/** Returns what an upstream that cuts parameters may take it for. */
function plain(path: string): string {
  const cut = new URL(path.replaceAll(/(?:;|%3b)[^/]*/gi, ''), 'http://host').pathname;
  return cut.replaceAll(/\/+/g, '/');
}

const SETS = cases({ all: 80, quick: 20 });

type Asked = {
  readonly answer: ReturnType<typeof answersOf>;
  readonly host: string;
  readonly path: string;
  readonly url: string;
};

type Answering = { readonly world: World; readonly answer: Asked['answer'] };

function answeringWorlds(withHosts: boolean): readonly Answering[] {
  return Array.from({ length: SETS }, (_, seed) => {
    const world = randomWorld(seed, withHosts);
    return { world, answer: answersOf(world) };
  });
}

function everyRequest(
  worlds: readonly Answering[],
  paths: readonly string[],
  visit: (world: World, asked: Asked) => void,
): void {
  for (const [seed, { world, answer }] of worlds.entries())
    for (const host of HOSTS)
      for (const path of paths)
        visit(world, { answer, host, path, url: `seed ${seed}, ${host}${path}` });
}

/** Formats what explains a failure. */
function shown(world: World, url: string, actual: unknown, wanted: unknown): string {
  return `${url}: ${JSON.stringify(actual)}, not ${JSON.stringify(wanted)}\n${world.text}`;
}

/** Three tests ask the same worlds, and each world takes time to compile. */
let withoutHosts: readonly Answering[];
before(() => {
  withoutHosts = answeringWorlds(false);
});

test('each request meets exactly the Filters that its first rule names, or 500 where one of them cannot run', () => {
  const seen = { closed: 0, filtered: 0, free: 0 };
  everyRequest(withoutHosts, PATHS, (world, { answer, host, path, url }) => {
    const wanted = expected(world, host, path);
    const actual = answer(host, path);
    assert.deepEqual(
      actual,
      'closed' in wanted ? { status: 500 } : wanted,
      shown(world, url, actual, wanted),
    );
    seen['closed' in wanted ? 'closed' : wanted.ran.length > 0 ? 'filtered' : 'free'] += 1;
  });
  assert.ok(
    Math.min(seen.closed, seen.filtered, seen.free) > cases({ all: 400, quick: 100 }),
    JSON.stringify(seen),
  );
});

test('no other spelling of a path leads around a rule', () => {
  const seen = { held: 0 };
  everyRequest(withoutHosts, ODD_PATHS, (world, { answer, host, path, url }) => {
    const [wanted, actual] = [expected(world, host, plain(path)), answer(host, path)];
    if (!('ran' in actual)) return;
    assert.deepEqual(actual, wanted, shown(world, url, actual, wanted));
    seen.held += actual.ran.length > 0 ? 1 : 0;
  });
  assert.ok(seen.held > cases({ all: 50, quick: 12 }), JSON.stringify(seen));
});

test('no other letter case of a path leads around a rule, where a Mapping takes any', () => {
  const seen = { ran: 0, closed: 0 };
  everyRequest(withoutHosts, ['/ADMIN', '/Admin/1'], (world, { answer, host, path, url }) => {
    const [wanted, actual] = [expected(world, host, path.toLowerCase()), answer(host, path)];
    if ('ran' in actual) assert.deepEqual(actual, wanted, shown(world, url, actual, wanted));
    seen['ran' in actual ? 'ran' : 'closed'] += 1;
  });
  assert.ok(Math.min(seen.ran, seen.closed) > cases({ all: 20, quick: 5 }), JSON.stringify(seen));
});

test('Hosts and TLSContexts, right or wrong, let nothing past a rule, and what is wrong with them lets nothing in', () => {
  const seen = { shut: 0, passed: 0 };
  everyRequest(answeringWorlds(true), PATHS, (world, { answer, host, path, url }) => {
    const [wanted, actual] = [expected(world, host, path), answer(host, path)];
    const shut = world.hosts.some(one => one.shut && one.hostname === host);
    if ('ran' in actual)
      assert.deepEqual([actual, shut], [wanted, false], shown(world, url, actual, wanted));
    seen.shut += shut ? 1 : 0;
    seen.passed += 'ran' in actual ? 1 : 0;
  });
  assert.ok(
    Math.min(seen.shut, seen.passed) > cases({ all: 150, quick: 37 }),
    JSON.stringify(seen),
  );
});
