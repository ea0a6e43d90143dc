import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collect } from '#resources/parse/collect.ts';
import { createParser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { Rejected, Resource, ResourcesById } from '#resources/resource.ts';
import { documentOf } from '#resources/testing/problem-lines.ts';
import { candidates } from './candidates.ts';
import { describeProblem } from './problems.ts';

const at = (id: string, hash: string, file = 'a.yaml') =>
  ({ id, hash, source: { file, line: 1 } }) as Resource;
const byId = <T extends { id: string }>(...items: T[]) =>
  new Map(items.map(item => [item.id, item]));
const rejected = (id: string) => ({ id, source: { file: 'a.yaml', line: 1 } }) as Rejected;
const versions = (resources: ResourcesById) =>
  Object.fromEntries([...resources].map(([id, { hash }]) => [id, hash]));

/** Returns what is read of files `0.yaml`, `1.yaml` and so on. */
const read = (...texts: readonly string[]) =>
  collect(
    createParser(DEFAULT_PARSE_OPTIONS)(
      new Map(texts.map((text, index) => [`${index}.yaml`, { text }])),
    ),
  );
const protect = (path: string, more: object = {}) => ({ path, filters: [{ name: 'f', ...more }] });
const policy = (...rules: readonly object[]) => documentOf('FilterPolicy', { rules });
const targeting = (...targetRefs: readonly object[]) =>
  documentOf('FilterPolicy', { targetRefs, filters: [{ name: 'f' }] });
const route = (prefix: string, more: object = {}) =>
  documentOf('Mapping', { prefix, service: 'http://x', ...more });
const TYPO = { onDeny: 'brake' };
const WRONG = { timeout_ms: 'abc' };

describe('candidates', () => {
  test('are what is written, when all of it is good', () => {
    const written = {
      resources: byId(at('a', '2')),
      rejected: byId<Rejected>(),
      unreadable: new Set<string>(),
      anonymous: new Set<string>(),
    };
    const found = candidates(written, byId(at('a', '1'), at('gone', '1')));
    assert.deepEqual(versions(found.resources), { a: '2' });
    assert.deepEqual(found.closed, []);
  });

  test('a file without a byte keeps what it had, and one that had nothing holds nothing up', () => {
    const kept = at('a', '1', '0.yaml');
    const { problems, resources, unknown } = candidates(
      read('', '', '# nothing'),
      byId(kept, at('b', '1', '2.yaml')),
    );
    assert.deepEqual(versions(resources), { a: '1' });
    assert.deepEqual(unknown, []);
    assert.deepEqual(
      problems.map(({ file, severity }) => [file, severity]),
      [['0.yaml', 'warning']],
    );
  });

  test('a rejected resource keeps its last good version, one without is closed', () => {
    const written = {
      resources: byId<Resource>(),
      rejected: byId(rejected('a'), rejected('b')),
      unreadable: new Set<string>(),
      anonymous: new Set<string>(),
    };
    const found = candidates(written, byId(at('a', '1')));
    assert.deepEqual(versions(found.resources), { a: '1' });
    assert.deepEqual([...found.kept], ['a']);
    assert.deepEqual(
      found.closed.map(({ id }) => id),
      ['b'],
    );
  });

  test('what is right of limits counts until all of it was, and its last good version goes before it', () => {
    const limits = (...rates: readonly unknown[]) => {
      const each = rates.map(rate => ({ pattern: [{ a: '' }], rate, unit: 'day' }));
      return read(documentOf('RateLimit', { domain: 'd', limits: each }));
    };
    const ratesOf = ({ resources }: { readonly resources: ResourcesById }) =>
      [...resources.values()].flatMap(({ kind, spec }) =>
        kind === 'RateLimit' ? spec.limits.map(({ rate }) => rate) : [],
      );
    const part = candidates(limits(1, 'x'), new Map());
    assert.deepEqual([ratesOf(part), part.closed, part.kept.size], [[1], [], 0]);
    const edited = candidates(limits(2, 'x'), part.resources);
    assert.deepEqual([ratesOf(edited), edited.kept.size], [[2], 0], 'an earlier part is no good');
    const whole = candidates(limits(1, 5), edited.resources);
    const kept = candidates(limits(2, 'x'), whole.resources);
    assert.deepEqual([ratesOf(kept), kept.kept.size], [[1, 5], 1]);
  });

  test('what a broken file may have held stays in force, what moved to another file is the new one', () => {
    const written = {
      resources: byId(at('moved', '2', 'b.yaml')),
      rejected: byId<Rejected>(),
      unreadable: new Set(['a.yaml']),
      anonymous: new Set<string>(),
    };
    const found = candidates(
      written,
      byId(at('moved', '1'), at('lost', '1'), at('elsewhere', '1', 'c.yaml')),
    );
    assert.deepEqual(versions(found.resources), { moved: '2', lost: '1' });
    assert.deepEqual(found.unknown, []);
  });

  test('a broken file from which nothing is in force is unknown', () => {
    const written = {
      resources: byId(at('b', '1', 'b.yaml')),
      rejected: byId<Rejected>(),
      unreadable: new Set(['a.yaml']),
      anonymous: new Set<string>(),
    };
    assert.deepEqual(candidates(written, new Map()).unknown, ['a.yaml']);
  });

  test('what lost its name stays in force, and is not closed under no name', () => {
    const nameless = { kind: 'Mapping', name: '', id: 'Mapping/default/@a.yaml:1' };
    const written = {
      resources: byId<Resource>(),
      rejected: byId({ ...rejected(nameless.id), ...nameless }),
      unreadable: new Set<string>(),
      anonymous: new Set(['a.yaml']),
    };
    const good = { ...at('a', '1'), kind: 'Mapping' } as Resource;
    const found = candidates(written, byId(good, at('elsewhere', '1', 'c.yaml')));
    assert.deepEqual(versions(found.resources), { a: '1' });
    assert.deepEqual(found.closed, []);
    assert.deepEqual(found.unknown, []);
    assert.deepEqual(candidates(written, new Map()).closed, [...written.rejected.values()]);
  });
});

describe('of a kind of which there is one', () => {
  const limiter = (name: string, more: object = {}) =>
    documentOf('RateLimitService', { service: 'limits', ...more }, name);
  const broken = limiter('aa', WRONG);

  test('the good one is in force while another is broken', () => {
    const { closed, resources } = candidates(read(broken, limiter('bb')), new Map());
    assert.deepEqual([...resources.keys()], ['RateLimitService/default/bb']);
    assert.deepEqual(
      closed.map(({ id }) => id),
      ['RateLimitService/default/aa'],
    );
  });

  test('the last good version of a broken one keeps the others out', () => {
    const good = read(limiter('aa'));
    for (const first of [broken, '{'])
      for (const texts of [
        [first, limiter('bb')],
        [first, limiter('bb'), limiter('cc')],
      ]) {
        const found = candidates(read(...texts), good.resources);
        assert.deepEqual(found.resources, good.resources);
        assert.deepEqual(found.problems.map(describeProblem), [
          'error: RateLimitService default/bb (1.yaml:1, metadata.name): there is one RateLimitService for a gateway, and the last good version of default/aa is in force. Remove one',
        ]);
      }
  });
});

test('the last good version of a broken Module loses no restriction of the one that it keeps out', () => {
  const module = (name: string, config: object) => documentOf('Module', { config }, name);
  const good = read(module('ambassador', {}));
  const found = candidates(
    read(
      module('ambassador', { xff_num_trusted_hops: 'x' }),
      module('gateway', { ip_deny: ['a'] }),
    ),
    good.resources,
  );
  assert.deepEqual(found.resources, good.resources);
  assert.deepEqual(
    found.closed.map(({ id, unserved = [] }) => [id, ...unserved.map(({ name }) => name)]),
    [['Module/default/gateway', 'ip_deny']],
  );
});

describe('a rejected FilterPolicy with a last good version', () => {
  const CASES: readonly [
    what: string,
    before: readonly object[],
    after: readonly object[],
    closed: readonly string[],
  ][] = [
    ['a new path', [protect('/o/*')], [protect('/o/*', TYPO), protect('/p/*')], ['* /p/*']],
    ['no path of its own', [protect('/o/*')], [protect('/o/*', TYPO)], []],
    ['a wider path', [protect('/o/*')], [protect('/*', TYPO)], ['* /*']],
    ['a narrower path', [protect('/o/*')], [protect('/o/a', TYPO)], []],
    [
      'another host',
      [{ host: 'a.test', ...protect('/o/*') }],
      [{ host: '*.test', ...protect('/o/*', TYPO) }],
      ['*.test /o/*'],
    ],
    [
      'a path that a rule without Filters opens now',
      [{ path: '/o/*' }, protect('*')],
      [protect('/o/a', TYPO), { path: '/o/*' }, protect('*')],
      ['* /o/a'],
    ],
    ['a path that cannot be read', [protect('/o/*')], [protect('p'), protect('/o/*')], []],
    ['a host that cannot be read', [protect('/o/*')], [{ host: 'a:1', ...protect('/p') }], []],
  ];
  for (const [what, before, after, closed] of CASES)
    test(`closes what it covers beyond that: ${what}`, () => {
      const good = read(policy(...before));
      const found = candidates(read(policy(...after)), good.resources);
      assert.deepEqual(
        found.closed.flatMap(({ rules = [] }) => rules.map(({ host, path }) => `${host} ${path}`)),
        closed,
      );
      assert.deepEqual(found.resources, good.resources);
      assert.deepEqual([...found.kept], [...good.resources.keys()]);
    });

  test('closes what it covers beyond that when it lost its name, too', () => {
    const nameless = (...rules: readonly object[]) => policy(...rules).replace('"name":', '"nam":');
    const good = read(
      `${policy(protect('/o/*'))}\n---\n${policy(protect('/q/*')).replace('"x"', '"y"')}`,
    );
    const next = read(nameless(protect('/o/*'), protect('/p/*'), protect('/q/a')));
    assert.deepEqual(
      candidates(next, good.resources).closed.map(({ rules = [] }) =>
        rules.map(({ path }) => path),
      ),
      [['/p/*']],
    );
  });

  test('closes the targets that it has beyond that', () => {
    const [all, one] = [
      { kind: 'Gateway', name: 'g' },
      { kind: 'HTTPRoute', name: 'r' },
    ];
    const section = { ...all, sectionName: 'a' };
    const more = targeting(section, one).replace('"f"', '""');
    const closed = candidates(read(more), read(targeting(all)).resources).closed;
    assert.deepEqual(
      closed.map(({ rules, targets = [] }) => [rules, targets.map(({ name }) => name)]),
      [[[], ['r']]],
    );
    assert.deepEqual(candidates(read(more), read(targeting(one, section)).resources).closed, []);
    const unreadable = read(targeting(all, { kind: 'HTTPRoute' }));
    assert.deepEqual(candidates(unreadable, read(targeting(all)).resources).closed, []);
  });

  test('with 10,000 rules is compared in a moment', () => {
    const rules = (from: number, more: object = {}) =>
      Array.from({ length: 10_000 }, (_, index) => protect(`/${from + index}/*`, more));
    const good = read(policy(...rules(0)));
    const next = read(policy(...rules(100, TYPO)));
    const started = process.cpuUsage();
    assert.equal(candidates(next, good.resources).closed[0]?.rules?.length, 100);
    assert.ok(process.cpuUsage(started).user < 2_000_000);
  });
});

describe('a rejected Mapping', () => {
  /** Returns the paths of Mappings in force, and those that are closed. */
  function after(before: readonly string[], ...next: readonly string[]) {
    const { closed, kept, problems, resources } = candidates(
      read(...next),
      read(...before).resources,
    );
    const mappings = [...resources.values()].filter(({ kind }) => kind === 'Mapping');
    return {
      inForce: mappings.flatMap(each => (each.kind === 'Mapping' ? each.spec.prefix : [])),
      closed: closed.flatMap(({ match }) => match?.prefix ?? []),
      kept: [...kept],
      problems: problems.map(describeProblem),
    };
  }

  test('does not stay where its rule has gone away', () => {
    const it = after(
      [route('/a/'), policy(protect('/a/*'))],
      route('/b/', WRONG),
      policy(protect('/b/*')),
    );
    assert.deepEqual(it, {
      inForce: [],
      closed: ['/b/'],
      kept: [],
      problems: [
        'error: Mapping default/x (0.yaml:1, spec): its last good version does not stay in force, because the rule for path /a/* of host * in FilterPolicy default/x that it was under does not. What can be read of the Mapping answers 500',
      ],
    });
  });

  const WITHOUT_RULE: readonly [what: string, mapping: object, rule: object][] = [
    ['an expression', { prefix: '/x.*', prefix_regex: true }, protect('/a/*')],
    [
      'a host of an expression',
      { host: '.*', host_regex: true },
      { host: 'a.test', ...protect('*') },
    ],
    ['any letter case', { prefix: '/A/', case_sensitive: false }, protect('/a/*')],
    ['another spelling', { prefix: '/%61/' }, protect('/a/*')],
    ['a wildcard', { host: '*.test' }, { host: 'a.test', ...protect('*') }],
  ];
  for (const [what, mapping, rule] of WITHOUT_RULE)
    test(`does not stay where its rule may have gone away: ${what}`, () => {
      const it = after([route('/a/', mapping), policy(rule)], route('/b/', WRONG), policy());
      assert.deepEqual([it.inForce, it.closed], [[], ['/b/']]);
    });

  test('does not stay where its rule has other Filters, or another namespace', () => {
    const good = [route('/a/'), policy(protect('/a/*'))];
    const wrong = route('/b/', WRONG);
    assert.deepEqual(after(good, wrong, policy(protect('/a/*', { onAllow: 'break' }))).inForce, []);
    const moved = policy(protect('/a/*')).replace('"name":"x"', '"name":"x","namespace":"other"');
    assert.deepEqual(after(good, wrong, moved).inForce, []);
  });

  test('of a broken file does not stay, and its paths are closed', () => {
    const it = after([route('/a/'), policy(protect('/a/*'))], '{', policy());
    assert.deepEqual([it.inForce, it.closed, it.problems.length], [[], ['/a/'], 1]);
  });

  const KEPT: readonly [what: string, mapping: object, before: string, after: string][] = [
    ['no policy has changed', {}, policy(protect('*')), policy(protect('*'))],
    [
      'its rule has a new neighbour',
      {},
      policy(protect('/a/*')),
      policy(protect('/c'), protect('/a/*')),
    ],
    [
      'its rule is now in another policy',
      {},
      policy(protect('/a/*')),
      policy(protect('/a/*')).replace('"x"', '"y"'),
    ],
    ['its rule is kept as last good', {}, policy(protect('/a/*')), policy(protect('/a/*', TYPO))],
    ['the rule of other paths has gone', {}, policy(protect('/c/*')), policy()],
    [
      'the rule of another host has gone',
      { host: 'b.test' },
      policy({ host: 'a.test', ...protect('*') }),
      policy(),
    ],
    ['a rule without Filters has gone', {}, policy({ path: '/a/*' }), policy()],
    ['no Filter decides about it', { bypass_auth: true }, policy(protect('*')), policy()],
  ];
  for (const [what, mapping, before, next] of KEPT)
    test(`keeps its last good version where ${what}`, () => {
      const it = after([route('/a/', mapping), before], route('/b/', WRONG), next);
      assert.deepEqual([it.inForce, it.closed, it.problems], [['/a/'], [], []]);
    });
});

describe('the last good version of a Host', () => {
  const CERTIFICATES = { secret: 'crt', ca_secret: 'ca', cert_required: true };
  const host = (action: string) =>
    documentOf('Host', {
      ...{ hostname: 'a.test', tlsSecret: { name: 'crt' } },
      requestPolicy: { insecure: { action } },
    });
  const context = (spec: object, name = 'c') => documentOf('TLSContext', spec, name);
  const demanding = context({ hosts: ['a.test'], ...CERTIFICATES });
  const after = (before: string, ...texts: readonly string[]) => {
    const { closed, problems, resources } = candidates(
      read(host('Rout'), ...texts),
      read(host('Route'), before).resources,
    );
    return {
      isKept: resources.has('Host/default/x'),
      closed: closed.flatMap(({ hosts = [] }) => hosts),
      problems: problems.map(describeProblem),
    };
  };

  test('does not stay without the client certificates that a TLSContext demanded', () => {
    const moved = context(CERTIFICATES, 'other');
    assert.deepEqual(after(demanding, moved), {
      isKept: false,
      closed: ['a.test'],
      problems: [
        'error: Host default/x (0.yaml:1, spec): its last good version does not stay in force, because the demand for client certificates by the Secret default/ca in TLSContext default/c that it was under does not. What can be read of the Host answers 500',
      ],
    });
  });

  test('does not stay where the TLSContext no longer has it redirect, or lets clients without a certificate in', () => {
    const redirecting = context({ hosts: ['a.test'], redirect_cleartext_from: 8080 });
    for (const [before, ...texts] of [
      [demanding, context({ hosts: ['a.test'], ...CERTIFICATES, cert_required: false })],
      [demanding, context({ hosts: ['b.test'], ...CERTIFICATES })],
      [redirecting],
    ] as const) {
      const { closed, isKept } = after(before, ...texts);
      assert.deepEqual([isKept, closed], [false, ['a.test']]);
    }
  });

  test('stays with another TLSContext that demands the same, or one that demanded nothing', () => {
    const other = context({ hosts: ['a.test'], ...CERTIFICATES }, 'other');
    const harmless = context({ hosts: ['a.test'], min_tls_version: 'v1.2' });
    for (const [before, ...texts] of [
      [demanding, other],
      [demanding, demanding],
      [harmless],
    ] as const)
      assert.deepEqual(after(before, ...texts), { isKept: true, closed: [], problems: [] });
  });
});
