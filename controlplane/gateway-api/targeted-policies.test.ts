import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Memo } from '#controlplane/compile/memo.ts';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import type { GatewayApi, ServedRule } from './served-gateway.ts';
import { servedGateways } from './served-gateways.ts';
import { CLASS, gateway, object, service } from './testing/documents.ts';
import { OPTIONS } from './testing/served.ts';
import { statusLines } from './testing/told.ts';

const FILTER = { JWT: { jwksURI: 'https://a.test/k', validAlgorithms: ['RS256'] } };

const SITE = [
  CLASS,
  filter('f'),
  service('web'),
  gateway(
    'site',
    'listeners: [{name: a, port: 80, protocol: HTTP}, {name: b, port: 81, protocol: HTTP}, {name: bytes, port: 83, protocol: TCP}], allowedListeners: {namespaces: {from: Same}}',
  ),
  object(
    'ListenerSet',
    'more',
    'parentRef: {name: site}, listeners: [{name: c, port: 82, protocol: HTTP}]',
  ),
  object(
    'HTTPRoute',
    'web',
    'parentRefs: [{name: site}, {kind: ListenerSet, name: more}], rules: [{name: one, backendRefs: [{name: web, port: 80}]}, {matches: [{path: {value: /two}}], backendRefs: [{name: web, port: 80}]}]',
  ),
].join('');

type Target = { readonly kind: string; readonly name: string; readonly sectionName?: string };

function filter(name: string, namespace = 'infra'): string {
  return ours('Filter', name, FILTER, { namespace });
}

function ours(
  kind: string,
  name: string,
  spec: object,
  { created = 0, namespace = 'infra' } = {},
): string {
  return `${JSON.stringify({
    apiVersion: 'gateway.internal/v2',
    kind,
    metadata: {
      name,
      namespace,
      ...(created === 0 ? {} : { creationTimestamp: `2026-01-01T00:00:0${created}Z` }),
    },
    spec,
  })}\n---\n`;
}

const policy = (name: string, targetRefs: readonly Target[], more = {}) =>
  ours('FilterPolicy', name, { targetRefs, filters: [{ name: 'f' }] }, more);

const limits = (name: string, targetRefs: readonly Target[]) =>
  ours('RateLimit', name, { targetRefs, limits: [{ rate: 1, unit: 'minute' }] });

function api(text: string): GatewayApi {
  const { resources, rejected } = parseFile('in.yaml', text, DEFAULT_PARSE_OPTIONS);
  const set = { ...toResourceSet(resources, rejected), knowsServices: true };
  return servedGateways(set, OPTIONS, new Memo());
}

/** Returns what holds for each rule: `<listener>/<rule> <policy> <limits>`. */
function inForce({ gateways }: GatewayApi): readonly string[] {
  const listeners = gateways.flatMap(({ listeners }) => listeners);
  return listeners.flatMap(({ name, routes }) =>
    routes.flatMap(({ rules }) => {
      const all: readonly ServedRule<unknown>[] = rules;
      return all.map(({ broken, index, limits, policy }) => {
        const state = broken === undefined ? (policy?.policy.name ?? 'none') : 'closed';
        return `${name}/${index} ${state} ${limits.map(({ name }) => name).sort()}`.trim();
      });
    }),
  );
}

const problemsOf = ({ problems }: GatewayApi) =>
  problems.map(({ field, message, name, severity }) => `${severity} ${name} ${field}: ${message}`);

const GATEWAY = { kind: 'Gateway', name: 'site' };
const ROUTE = { kind: 'HTTPRoute', name: 'web' };

test('the narrowest target counts for FilterPolicies, and every target for RateLimits', () => {
  const targets: readonly (readonly [string, Target])[] = [
    ['gateway', GATEWAY],
    ['set', { kind: 'ListenerSet', name: 'more' }],
    ['listener', { ...GATEWAY, sectionName: 'b' }],
    ['rule', { ...ROUTE, sectionName: 'one' }],
  ];
  const found = api(
    SITE + targets.map(([name, to]) => policy(name, [to]) + limits(name, [to])).join(''),
  );
  assert.deepEqual(problemsOf(found), []);
  assert.deepEqual(inForce(found), [
    'a/0 rule gateway,rule',
    'a/1 gateway gateway',
    'b/0 rule gateway,listener,rule',
    'b/1 listener gateway,listener',
    'c/0 rule gateway,rule,set',
    'c/1 set gateway,set',
  ]);
});

test('the older of two FilterPolicies for one target is in force, and the status tells', () => {
  const found = api(
    SITE + policy('a', [ROUTE], { created: 2 }) + policy('b', [ROUTE], { created: 1 }),
  );
  assert.ok(inForce(found).every(line => line.endsWith(' b')));
  assert.deepEqual(statusLines(found, 'FilterPolicy/infra/a'), ['site: Accepted=False:Conflicted']);
  assert.deepEqual(statusLines(found, 'FilterPolicy/infra/b'), ['site: Accepted']);
  assert.deepEqual(problemsOf(found), [
    'error a spec.targetRefs[0]: the FilterPolicy b, which is older or first by name, has precedence for the same target',
  ]);
});

const WRONG: readonly (Target & { group?: string })[] = [
  { kind: 'HttpRoute', name: 'web' },
  { ...ROUTE, group: 'gateway.internal' },
  { kind: 'Service', name: 'web', group: '' },
];

for (const target of WRONG) {
  test(`a target ${JSON.stringify(target)} closes what can be meant, without a last good version`, () => {
    const closed = [0, 1].flatMap(rule => ['a', 'b', 'c'].map(each => `${each}/${rule} closed`));
    assert.deepEqual(inForce(api(SITE + policy('p', [target]))).toSorted(), closed.toSorted());
    const one = policy('p', [{ ...target, sectionName: 'one' }]);
    assert.deepEqual(
      inForce(api(SITE + one)).filter(line => line.endsWith('closed')),
      ['a/0 closed', 'b/0 closed', 'c/0 closed'],
    );
    const limited = inForce(api(SITE + limits('p', [target])));
    assert.ok(limited.every(line => line.endsWith(' none')));
  });
}

test('a target of no kind closes nothing beside a last good version', () => {
  const good = parseFile('in.yaml', SITE + policy('p', [ROUTE]), DEFAULT_PARSE_OPTIONS);
  const bad = parseFile('in.yaml', policy('p', WRONG), DEFAULT_PARSE_OPTIONS);
  const set = toResourceSet(good.resources, bad.rejected);
  assert.equal(bad.rejected.length, 1);
  const found = inForce(servedGateways(set, OPTIONS, new Memo()));
  assert.ok(
    found.every(line => line.endsWith(' p')),
    found.join(),
  );
});

const UNMET: readonly (readonly [Target, reason: string, message: RegExp])[] = [
  [{ kind: 'HTTPRoute', name: 'gone' }, 'TargetNotFound', /there is no HTTPRoute infra\/gone/],
  [{ kind: 'Gateway', name: 'gone' }, 'TargetNotFound', /takes effect when there is one/],
  [{ ...GATEWAY, sectionName: 'z' }, 'TargetNotFound', /has no listener z/],
  [{ ...ROUTE, sectionName: 'z' }, 'TargetNotFound', /has no rule z/],
  [{ ...GATEWAY, sectionName: 'bytes' }, 'Invalid', /bytes of the Gateway infra\/site passes/],
];

for (const [target, reason, message] of UNMET) {
  test(`a target ${JSON.stringify(target)} is a Problem and closes nothing`, () => {
    for (const write of [policy, limits]) {
      const found = api(SITE + write('p', [target]));
      assert.ok(inForce(found).every(line => line.endsWith(' none')));
      const [problem = '', ...others] = problemsOf(found);
      assert.match(problem, /^error p spec\.targetRefs\[0\]: /);
      assert.match(problem, message);
      assert.deepEqual(others, []);
      const kind = write === policy ? 'FilterPolicy' : 'RateLimit';
      const [line = ''] = statusLines(found, `${kind}/infra/p`);
      assert.match(line, new RegExp(`Accepted=False:${reason}$`));
    }
  });
}

test('a whole Gateway or ListenerSet that only passes bytes on has nothing for a policy', () => {
  const bytes = '{name: t, port: 90, protocol: TCP}, {name: u, port: 90, protocol: UDP}';
  const all = 'allowedListeners: {namespaces: {from: Same}}';
  const set = (name: string, port: number, protocol: string) =>
    object(
      'ListenerSet',
      name,
      `parentRef: {name: ${name}}, listeners: [{name: l, port: ${port}, protocol: ${protocol}}]`,
    );
  const found = api(
    [
      ...[SITE, gateway('bytes', `listeners: [${bytes}], ${all}`), set('bytes', 91, 'TCP')],
      ...[gateway('mixed', `listeners: [${bytes}], ${all}`), set('mixed', 92, 'HTTP')],
      policy('p', [{ kind: 'Gateway', name: 'bytes' }]),
      limits('r', [{ kind: 'ListenerSet', name: 'bytes' }]),
      policy('q', [{ kind: 'Gateway', name: 'mixed' }]),
    ].join(''),
  );
  const lines = ['FilterPolicy/infra/p', 'RateLimit/infra/r', 'FilterPolicy/infra/q'].map(id =>
    statusLines(found, id).join(),
  );
  assert.deepEqual(lines, [
    'bytes: Accepted=False:Invalid',
    'bytes: Accepted=False:Invalid',
    'mixed: Accepted',
  ]);
});

test('a limit for what only redirects counts nothing, and a Filter decides there', () => {
  const redirect = 'filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]';
  const rules = `{name: away, ${redirect}}, {name: shown, matches: [{path: {value: /s}}], backendRefs: [{name: web, port: 80}]}`;
  const route = (name: string, all: string) =>
    object(
      'HTTPRoute',
      name,
      `parentRefs: [{name: site}], hostnames: [${name}.test], rules: [${all}]`,
    );
  const to = (name: string, sectionName?: string) => [
    { kind: 'HTTPRoute', name, ...(sectionName === undefined ? {} : { sectionName }) },
  ];
  const found = api(
    [
      ...[SITE, route('mixed', rules), route('moved', `{${redirect}}`)],
      ...[limits('moved', to('moved')), limits('part', to('mixed', 'away'))],
      ...[limits('shown', to('mixed', 'shown')), limits('mixed', to('mixed'))],
      ...[limits('site', [GATEWAY]), policy('login', to('moved'))],
    ].join(''),
  );
  assert.deepEqual(problemsOf(found), [
    'error moved spec.targetRefs[0]: each rule of the HTTPRoute infra/moved only redirects, which no limit counts. Name one with a backend',
    'error part spec.targetRefs[0]: the rule away of the HTTPRoute infra/mixed only redirects, which no limit counts. Name one with a backend',
  ]);
  const states = ['moved', 'part', 'shown', 'mixed', 'site'].map(name => `RateLimit/infra/${name}`);
  assert.deepEqual(
    [...states, 'FilterPolicy/infra/login'].map(id => statusLines(found, id).join()),
    [
      ...['site: Accepted=False:Invalid', 'site: Accepted=False:Invalid'],
      ...['site: Accepted', 'site: Accepted', 'site: Accepted', 'site: Accepted'],
    ],
  );
});

test('a policy of more ancestors than its status lists has a Problem that says so', () => {
  const names = Array.from({ length: 17 }, (_, at) => `g${at}`);
  const warnings = (count: number) =>
    api(
      [
        ...[CLASS, filter('f'), service('web')],
        ...names.map(name => gateway(name, 'listeners: [{name: a, port: 80, protocol: HTTP}]')),
        object('HTTPRoute', 'web', routeOf(names.slice(0, count))),
        policy('p', [{ kind: 'HTTPRoute', name: 'web' }]),
      ].join(''),
    ).problems.map(({ severity, name, field, message }) => [severity, name, field, message]);
  assert.deepEqual(warnings(16), []);
  assert.deepEqual(warnings(17), [
    [
      'warning',
      'p',
      'spec.targetRefs',
      'its status has room for 16 ancestors, and it has 17. What it does for the others is not told there',
    ],
  ]);
});

function routeOf(gateways: readonly string[]): string {
  const parents = gateways.map(name => `{name: ${name}}`);
  return `parentRefs: [${parents}], rules: [{backendRefs: [{name: web, port: 80}]}]`;
}

test('a policy whose Filter is missing is not accepted, since what it targets answers 500', () => {
  const filters = [{ name: 'x', arguments: { insteadOfRedirect: { filters: [{ name: 'y' }] } } }];
  const made = ours('FilterPolicy', 'p', { targetRefs: [ROUTE], filters });
  const stated = (more: string) => statusLines(api(SITE + made + more), 'FilterPolicy/infra/p');
  for (const lacking of ['', filter('x'), filter('x') + filter('y', 'other')])
    assert.deepEqual(stated(lacking), ['site: Accepted=False:Invalid']);
  assert.deepEqual(stated(filter('x') + filter('y')), ['site: Accepted']);
});

test('limits of a domain that the edge does not ask about are not accepted', () => {
  const inDomain = (domain: string) =>
    ours('RateLimit', domain, { domain, targetRefs: [ROUTE], limits: [{ rate: 1, unit: 'day' }] });
  const found = api(SITE + inDomain('gateway') + inDomain('ambassador') + inDomain('shop'));
  assert.deepEqual(
    ['gateway', 'ambassador', 'shop'].flatMap(name =>
      statusLines(found, `RateLimit/infra/${name}`),
    ),
    ['site: Accepted', 'site: Accepted', 'site: Accepted=False:Invalid'],
  );
  const module = ours('Module', 'gateway', { config: { default_label_domain: 'shop' } });
  const asked = api(SITE + module + inDomain('gateway') + inDomain('shop'));
  assert.deepEqual(
    ['gateway', 'shop'].flatMap(name => statusLines(asked, `RateLimit/infra/${name}`)),
    ['site: Accepted=False:Invalid', 'site: Accepted'],
  );
});

test('a target that exists counts beside one that does not', () => {
  const found = api(SITE + policy('p', [{ kind: 'HTTPRoute', name: 'gone' }, ROUTE]));
  assert.ok(inForce(found).every(line => line.endsWith(' p')));
  assert.deepEqual(statusLines(found, 'FilterPolicy/infra/p'), [
    'gone: Accepted=False:TargetNotFound',
    'site: Accepted',
  ]);
});

test('a policy of another namespace has no effect', () => {
  const found = api(SITE + policy('p', [ROUTE], { namespace: 'other' }));
  assert.ok(inForce(found).every(line => line.endsWith(' none')));
  assert.match(problemsOf(found).join(), /there is no HTTPRoute other\/web/);
});

test('without any Gateway a target is still missed', () => {
  assert.match(problemsOf(api(policy('p', [ROUTE]))).join(), /there is no HTTPRoute infra\/web/);
});

/** What makes a FilterPolicy for the route wrong. All but the last two say what it is for. */
const REJECTED: readonly (readonly [what: string, spec: object, closes: boolean])[] = [
  ['an unknown field', { targetRefs: [ROUTE], filters: [], odd: 1 }, true],
  ['no filters', { targetRefs: [ROUTE] }, true],
  [
    'a filter that may skip others',
    { targetRefs: [ROUTE], filters: [{ name: 'f', onAllow: 'break' }] },
    true,
  ],
  ['rules beside targets', { targetRefs: [ROUTE], filters: [], rules: [] }, true],
  ['a namespace of a target', { targetRefs: [{ ...ROUTE, namespace: 'x' }], filters: [] }, true],
  [
    'a section that is no name',
    { targetRefs: [{ ...ROUTE, sectionName: 'A b' }], filters: [] },
    true,
  ],
  ['a target twice', { targetRefs: [ROUTE, ROUTE], filters: [] }, true],
  [
    '10,000 targets',
    {
      targetRefs: Array.from({ length: 10_000 }, (_, at) => ({
        ...ROUTE,
        name: at === 9 ? 'web' : `r${at}`,
      })),
      filters: [],
    },
    true,
  ],
  ['another target', { targetRefs: [{ kind: 'HTTPRoute', name: 'gone' }], filters: 5 }, false],
  [
    'a kind that is no target',
    { targetRefs: [{ kind: 'Service', name: 'web' }], filters: 5 },
    true,
  ],
];

for (const [what, spec, closes] of REJECTED) {
  test(`a FilterPolicy with ${what} is rejected and closes ${closes ? 'the route' : 'nothing'}`, () => {
    const found = api(SITE + ours('FilterPolicy', 'p', spec) + policy('q', [GATEWAY]));
    const state = closes ? 'closed' : 'q';
    assert.ok(
      inForce(found).every(line => line.endsWith(` ${state}`)),
      inForce(found).join(),
    );
    assert.match(statusLines(found, 'FilterPolicy/infra/p').join(), /Accepted=False:Invalid/);
  });
}

for (const targetRefs of [{}, null, 5]) {
  test(`a rejected FilterPolicy for ${JSON.stringify(targetRefs)} may be for anything`, () => {
    const text = ours('FilterPolicy', 'p', { targetRefs, filters: [] });
    const { rejected } = parseFile('in.yaml', text, DEFAULT_PARSE_OPTIONS);
    assert.equal(rejected.length, 1);
    assert.deepEqual([rejected[0]?.targets, rejected[0]?.rules], [undefined, undefined]);
  });
}

/** Lists of targets that cannot be read, and the status of the targets that can. */
const UNREADABLE: readonly (readonly [targetRefs: readonly unknown[], told: readonly string[]])[] =
  [
    [[], []],
    [[5], []],
    [[{ kind: 'HTTPRoute' }], []],
    [[{ kind: 'HTTPRoute', name: '' }, ROUTE], ['web: Accepted=False:Invalid']],
  ];

for (const [targetRefs, told] of UNREADABLE) {
  test(`a rejected FilterPolicy for ${JSON.stringify(targetRefs)} closes its namespace alone`, () => {
    const closing = (namespace: string) =>
      api(SITE + ours('FilterPolicy', 'p', { targetRefs, filters: [] }, { namespace }));
    assert.ok(inForce(closing('infra')).every(line => line.endsWith(' closed')));
    const other = closing('other');
    assert.ok(inForce(other).every(line => line.endsWith(' none')));
    assert.deepEqual(statusLines(other, 'FilterPolicy/other/p'), told);
  });
}

test('a FilterPolicy beside one that may be for anything of its namespace tells of it', () => {
  const unreadable = ours('FilterPolicy', 'p', { targetRefs: [], filters: [] });
  const found = api(SITE + unreadable + policy('q', [ROUTE]));
  assert.ok(inForce(found).every(line => line.endsWith(' closed')));
  assert.deepEqual(statusLines(found, 'FilterPolicy/infra/q'), ['site: Accepted=False:Conflicted']);
});

const TARGETS: readonly Target[] = [
  GATEWAY,
  { ...GATEWAY, sectionName: 'a' },
  { ...GATEWAY, sectionName: 'b' },
  { kind: 'ListenerSet', name: 'more' },
  { kind: 'ListenerSet', name: 'more', sectionName: 'c' },
  ROUTE,
  { ...ROUTE, sectionName: 'one' },
  { kind: 'HTTPRoute', name: 'gone' },
];

/** For each rule on each listener its targets, the narrowest first, by their place above. */
const CHAINS: readonly (readonly [rule: string, targets: readonly number[]])[] = [
  ['a/0', [6, 5, 1, 0]],
  ['a/1', [5, 1, 0]],
  ['b/0', [6, 5, 2, 0]],
  ['b/1', [5, 2, 0]],
  ['c/0', [6, 5, 4, 3, 0]],
  ['c/1', [5, 4, 3, 0]],
];

const ROUNDS = cases({ all: 400, quick: 100 });

test(`${ROUNDS} random sets of policies have the precedence of a plain model`, () => {
  const random = seededRandom(17);
  const seen = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const made = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, at) => {
      const targets = TARGETS.filter(() => random() < 0.25);
      return {
        name: `p${Math.floor(random() * 10)}${at}`,
        created: Math.floor(random() * 3),
        targets: targets.length === 0 ? [pick(TARGETS, random)] : targets,
        valid: random() < 0.9,
        isLimit: random() < 0.3,
      };
    });
    const text = made.map(({ created, isLimit, name, targets, valid }) =>
      isLimit
        ? limits(name, targets)
        : ours(
            'FilterPolicy',
            name,
            { targetRefs: targets, ...(valid ? { filters: [] } : {}) },
            { created },
          ),
    );
    const filtering = made.filter(({ isLimit }) => !isLimit);
    const at = (target: number) =>
      filtering.filter(each => each.targets.includes(TARGETS[target] as Target));
    const expected = CHAINS.map(([rule, chain]) => {
      const level = chain.map(at).find(all => all.length > 0) ?? [];
      const ordered = level.toSorted((a, b) => a.created - b.created || (a.name < b.name ? -1 : 1));
      const state = level.some(({ valid }) => !valid) ? 'closed' : (ordered[0]?.name ?? 'none');
      const counting = made.filter(
        ({ isLimit, targets }) =>
          isLimit && chain.some(one => targets.includes(TARGETS[one] as Target)),
      );
      seen.set(state.slice(0, 1), (seen.get(state.slice(0, 1)) ?? 0) + 1);
      return `${rule} ${state} ${counting.map(({ name }) => name).sort()}`.trim();
    });
    assert.deepEqual(inForce(api(SITE + text.join(''))), expected, text.join(''));
  }
  assert.ok(
    [...seen.values()].every(count => count > ROUNDS / 4) && seen.size === 3,
    JSON.stringify([...seen]),
  );
});
