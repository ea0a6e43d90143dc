import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { CLUSTER, LISTENER, RATE_LIMIT, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { collect } from '#resources/parse/collect.ts';
import { createParser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { nodeGroups } from '../all-node-groups.ts';
import { compile } from '../compile.ts';
import type { Compiled } from '../compiled.ts';
import { Memo } from '../memo.ts';
import { RATELIMIT_SERVICE } from '../node-groups.ts';
import type { CompileOptions } from '../options.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';

const OPTIONS: CompileOptions = {
  edge: { host: '127.0.0.1', port: 8080 },
  sds: { host: '127.0.0.1', port: 18003 },
  rateLimit: { host: '127.0.0.1', port: 18002 },
  extAuthz: { host: '127.0.0.1', port: 18001 },
};

const document = (kind: string, name: string, spec: object) =>
  `---\n${stringify({ apiVersion: 'gateway.internal/v2', kind, metadata: { name }, spec })}`;

const limits = (name: string, ...limits: readonly object[]) =>
  document('RateLimit', name, {
    domain: 'gateway',
    limits: limits.map(limit => ({ pattern: [], rate: 1, unit: 'second', ...limit })),
  });

const labelled = (name: string, labels: object) =>
  document('Mapping', name, { prefix: `/${name}/`, service: 's', labels });

const compileText = (text: string, group = 'edge') =>
  compile(resourceSetOf(text).resources, group, OPTIONS);

const jsonOf = ({ resources }: Compiled, typeUrl: string) => JSON.stringify(resources.get(typeUrl));

test('the first label, and every later one, leaves the listeners as they are', () => {
  const bare = compileText(document('Mapping', 'm', { prefix: '/', service: 's' }));
  const first = compileText(labelled('m', { gateway: [{ g: ['x'] }] }));
  assert.equal(jsonOf(first, LISTENER), jsonOf(bare, LISTENER));
});

test('another label domain leaves the listeners as they are: connections from before ask for it, too', () => {
  const of = (domain: string) => {
    const module = document('Module', 'gateway', { config: { default_label_domain: domain } });
    return compileText(module + labelled('m', { [domain]: [{ g: ['x'] }] }));
  };
  assert.equal(jsonOf(of('other'), LISTENER), jsonOf(of('gateway'), LISTENER));
  assert.match(jsonOf(of('other'), ROUTE_CONFIGURATION) ?? '', /"domain":"other"/);
});

test('the edge holds the clusters that its filters ask, and only the edge has either', () => {
  const side = document('ProxyConfig', 'side', { node_group: 'side', listener: { port: 1 } });
  for (const [group, asks] of [
    ['edge', true],
    ['side', false],
  ] as const) {
    const compiled = compileText(side, group);
    assert.equal(jsonOf(compiled, LISTENER)?.includes('"cluster_name":"ratelimit-service"'), asks);
    assert.deepEqual(
      compiled.resources.get(CLUSTER)?.map(({ name }) => name),
      asks ? ['ext-authz', 'ratelimit-service'] : [],
    );
  }
});

test('another address of the rate limit service is another member of the same cluster', () => {
  const at = (service: string) =>
    compileText(document('RateLimitService', 'r', { service })).resources.get(CLUSTER);
  assert.equal(at('a:1')?.[1]?.name, at('b:2')?.[1]?.name);
  assert.notDeepEqual(at('a:1'), at('b:2'));
});

test('names that every object knows are domains like any other', () => {
  for (const domain of ['constructor', 'toString', '__proto__']) {
    const module = document('Module', 'gateway', { config: { default_label_domain: domain } });
    const compiled = compileText(module + labelled('m', { gateway: [{ g: ['x'] }] }));
    assert.doesNotMatch(jsonOf(compiled, ROUTE_CONFIGURATION), /rate_limits/, domain);
  }
});

test('an edit leaves the messages of the other RateLimits the very same objects', () => {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const memo = new Memo();
  const messagesOf = (text: string) => {
    const { resources } = collect(parse(new Map([['in.yaml', { text }]])));
    const compiled = compile(toResourceSet(resources.values(), []), RATELIMIT_SERVICE, {
      ...OPTIONS,
      memo,
    });
    return new Map(compiled.resources.get(RATE_LIMIT)?.map(({ name, json }) => [name, json]));
  };
  const before = messagesOf(limits('a') + limits('b', { rate: 1 }));
  const after = messagesOf(limits('b', { rate: 2 }) + limits('a'));
  assert.equal(after.get('default/a'), before.get('default/a'));
  assert.notDeepEqual(after.get('default/b'), before.get('default/b'));
});

test('a memo changes nothing of what is said and sent, whatever comes and goes', () => {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const header = { injectRequestHeaders: [{ name: 'x-user', value: 'v' }] };
  const log = { action: 'LogOnly', pattern: [{ generic_key: 'x' }] };
  const texts = [
    limits('a', header) + labelled('m', { gateway: [{ g: ['x'] }] }),
    limits('a', header) +
      labelled('m', { gateway: [{ g: ['x', { user: { header: 'X-User' } }] }] }),
    limits('a', header) + limits('b', log) + labelled('m', { gateway: [{ g: ['x'] }] }),
    limits('a', { name: 'n' }, header) +
      limits('b', log) +
      labelled('m', { gateway: [{ g: ['x'] }] }),
    limits('a', header) + limits('b', log),
    document('Module', 'gateway', {
      config: { default_labels: { gateway: { defaults: ['y'] } } },
    }) +
      limits('a', header) +
      labelled('m', { gateway: [{ g: ['x'] }] }),
    limits('a', header) + labelled('n', { gateway: [{ g: ['x'] }] }),
  ];
  const memos = { edge: new Memo(), [RATELIMIT_SERVICE]: new Memo() };
  for (const text of [...texts, ...texts.toReversed()]) {
    const { resources } = collect(parse(new Map([['in.yaml', { text }]])));
    const set = toResourceSet(resources.values(), []);
    for (const [group, memo] of Object.entries(memos)) {
      assert.deepEqual(compile(set, group, { ...OPTIONS, memo }), compile(set, group, OPTIONS));
    }
  }
});

test('a header that a label starts to read is no longer set, and no longer taken from clients', () => {
  const limit = limits('a', { injectRequestHeaders: [{ name: 'x-user', value: 'v' }] });
  const reading = labelled('m', { gateway: [{ g: [{ user: { header: 'X_User' } }] }] });
  const removes = (text: string) =>
    jsonOf(compileText(text), LISTENER).includes('"remove":"x-user"');
  const sets = (text: string) =>
    jsonOf(compileText(text, RATELIMIT_SERVICE), RATE_LIMIT).includes('x-user');
  assert.deepEqual([removes(limit), sets(limit)], [true, true]);
  assert.deepEqual([removes(limit + reading), sets(limit + reading)], [false, false]);
});

test('a label of another domain, or of another node group, takes no header', () => {
  const limit = limits('a', { injectRequestHeaders: [{ name: 'x-user', value: 'v' }] });
  const read = [{ g: [{ user: { header: 'x-user' } }] }];
  const elsewhere = labelled('m', { other: read });
  const inner = document('Mapping', 'n', {
    prefix: '/',
    service: 's',
    node_group: 'side',
    labels: { gateway: read },
  });
  const errors = compileText(limit + elsewhere + inner).problems.filter(
    ({ severity }) => severity === 'error',
  );
  assert.deepEqual(errors, []);
});

test('a label of the other default domain takes a header too: its filter would read what a limit sets', () => {
  const limit = limits('a', { injectRequestHeaders: [{ name: 'x-user', value: 'v' }] });
  const beside = labelled('m', { ambassador: [{ g: [{ user: { header: 'x-user' } }] }] });
  const [problem] = compileText(limit + beside).problems.filter(
    ({ severity }) => severity === 'error',
  );
  assert.match(problem?.message ?? '', /"x-user" is left out/);
});

test("the service's group is no node group, and is compiled without any RateLimit", () => {
  const misplaced = document('Mapping', 'm', {
    prefix: '/',
    service: 's',
    node_group: RATELIMIT_SERVICE,
  });
  assert.deepEqual(nodeGroups(resourceSetOf(misplaced).resources), ['edge']);
  const { resources, problems } = compileText(misplaced, RATELIMIT_SERVICE);
  assert.deepEqual([...resources], [[RATE_LIMIT, []]]);
  assert.equal(problems.length, 1);
});

test('long and odd label values are cut and quoted in messages', () => {
  const text = limits('a', { pattern: [{ generic_key: `\n${'x'.repeat(5000)}` }] });
  const [problem] = compileText(text + labelled('m', { gateway: [{ g: ['é "\u0000'] }] })).problems;
  assert.ok((problem?.message.length ?? Number.POSITIVE_INFINITY) < 400, problem?.message);
  assert.doesNotMatch(problem?.message ?? '', /\p{Cc}/u);
});
