import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { RESTRICTIONS, type Restriction } from '#resources/schema/restrictions.ts';
import { compile } from './compile.ts';
import { EXT_AUTHZ } from './node-groups.ts';
import { edgeAnswers } from './testing/edge-answer.ts';
import { resourceSetOf } from './testing/resource-set-of.ts';
import { FUZZ_OPTIONS, written } from './testing/written.ts';

type Document = object;

/**
 * Returns the answers to GETs without TLS for `/x` and `/guarded/x` of some names, and the
 * Problems.
 */
function compiled(documents: readonly Document[], names: readonly string[] = ['a.test', 'b.test']) {
  const { resources, problems } = resourceSetOf(
    documents.map(each => stringify(each)).join('---\n'),
    'in.yaml',
  );
  const edge = compile(resources, 'edge', FUZZ_OPTIONS);
  const decisions = snapshotEncoder(Buffer.alloc(32))(compile(resources, EXT_AUTHZ, FUZZ_OPTIONS));
  const ask = edgeAnswers(edge, decisions);
  const paths = names.flatMap(name => ['/x', '/guarded/x'].map(path => ask(name, path)));
  const answers = paths.map(answer => ('status' in answer ? answer.status : 200));
  return { answers, problems: [...problems, ...edge.problems] };
}

const MODULE = 'gateway';
const module = (config: object) => written('Module', 'default', MODULE, { config });
const BASE = [
  written('Mapping', 'default', 'all', { prefix: '/', service: 's' }),
  written('Host', 'default', 'any', { hostname: '*' }),
];
const SELF_SIGNED = {
  tls: { issuer: 'gateway' },
  requestPolicy: { insecure: { action: 'Route' } },
};

/** Returns a resource that asks for the restriction, in the words of Ambassador's reference. */
function asking({ kind, field, named }: Restriction): readonly Document[] {
  const spec = field === undefined ? {} : nested(field.split('.'), { matchLabels: { a: 'b' } });
  switch (kind) {
    case 'Module':
      return [written(kind, 'default', named ?? MODULE, spec)];
    case 'Mapping':
      return [written(kind, 'default', 'm', { prefix: '/guarded/', service: 's', ...spec })];
    case 'Host':
      return [written(kind, 'default', 'h', merged({ hostname: 'a.test', ...SELF_SIGNED }, spec))];
    case 'TLSContext':
      return [
        written('Host', 'default', 'h', { hostname: 'a.test', tlsContext: { name: 'c' } }),
        written(kind, 'default', 'c', { cert_chain_file: '/c', private_key_file: '/k', ...spec }),
      ];
    default:
      return [written(kind, 'default', 'x', spec)];
  }
}

function nested([first = '', ...rest]: readonly string[], value: unknown): object {
  return { [first]: rest.length === 0 ? value : nested(rest, value) };
}

function merged(a: { hostname: string; tls: object }, b: { tls?: object }): object {
  return { ...a, ...b, tls: { ...a.tls, ...b.tls } };
}

/** Returns which of the four requests of `compiled` a restriction covers. */
function covered({ kind }: Restriction): readonly boolean[] {
  if (kind === 'Mapping') return [false, true, false, true];
  return kind === 'Host' || kind === 'TLSContext'
    ? [true, true, false, false]
    : [true, true, true, true];
}

for (const row of RESTRICTIONS) {
  const title = [row.kind, row.named, row.field].filter(part => part !== undefined).join(' ');

  test(`${title} closes what it covers, and nothing else`, () => {
    const { answers, problems } = compiled([...BASE, ...asking(row)]);
    assert.deepEqual(
      // A Host without its TLSContext has no TLS, so it cannot redirect there.
      answers.map(status => status === 500 || (row.kind === 'TLSContext' && status === 301)),
      covered(row),
    );
    const said = problems.filter(({ message }) => message.includes('is not served, and it '));
    assert.equal(said.length, 1);
    assert.equal(said[0]?.severity, 'error');
    const named = row.named === undefined ? row.kind : `${row.kind} ${row.named}`;
    assert.ok(said[0]?.message.startsWith(`\`${row.field?.split('.').at(-1) ?? named}\` is not`));
    assert.match(said[0]?.message ?? '', new RegExp(`list \`${row.name}\` in \`ignore\``));
  });

  test(`${title} closes nothing when the Module ignores it`, () => {
    const [own, others] =
      row.kind === 'Module' && row.named === undefined ? [true, []] : [false, asking(row)];
    const field = own ? nested((row.field ?? '').split('.').slice(1), ['x']) : {};
    const { answers, problems } = compiled([
      ...BASE,
      ...others,
      module({ ignore: [row.name], ...field }),
    ]);
    assert.equal(answers.includes(500), false);
    const said = problems.filter(({ message }) => message.includes('is not served, and it '));
    assert.deepEqual(
      said.map(({ severity }) => severity),
      ['warning'],
    );
  });
}

for (const value of [false, null, '', [], {}])
  test(`a restriction of ${JSON.stringify(value)} restricts nothing`, () =>
    assert.deepEqual(
      compiled([...BASE, module({ ip_allow: value, x_forwarded_proto_redirect: value })]).answers,
      [200, 200, 200, 200],
    ));

test('a Module with another mistake closes by its restriction nevertheless', () => {
  const { answers } = compiled([
    ...BASE,
    module({ IP_Deny: [{ peer: '192.0.2.1' }], escaped_slashes: 'drop' }),
  ]);
  assert.deepEqual(answers, [500, 500, 500, 500]);
});

test('to ignore what is not in the table is a mistake, and ignores nothing else', () => {
  const { answers, problems } = compiled([
    ...BASE,
    module({ ignore: ['AuthServce', 'ip_deny'], ip_deny: [1] }),
  ]);
  assert.deepEqual(answers, [200, 200, 200, 200]);
  assert.match(
    problems.map(({ message }) => message).join(),
    /nothing asks for `AuthServce`, did you mean `AuthService`\?/,
  );
});

test('an AuthService of another gateway closes nothing', () => {
  const foreign = written('AuthService', 'default', 'x', { ambassador_id: 'other' });
  assert.deepEqual(compiled([...BASE, foreign]).answers, [200, 200, 200, 200]);
});

test('kinds that restrict nothing close nothing', () => {
  const kinds = ['TracingService', 'LogService', 'TCPMapping', 'ConsulResolver'];
  const others = kinds.map(kind => written(kind, 'default', 'x', {}));
  assert.deepEqual(compiled([...BASE, ...others]).answers, [200, 200, 200, 200]);
});

const CONTEXT = { secret: 's', ca_secret: 's', hosts: ['a.test'] };

for (const demand of [{ cert_required: true }, { redirect_cleartext_from: 8080 }])
  for (const hosts of [[], [written('Host', 'default', 'any', { hostname: '*' })]])
    test(`a TLSContext with ${JSON.stringify(demand)} whose name no Host has closes it, beside ${hosts.length} Hosts`, () => {
      const [all = {}] = BASE;
      const context = written('TLSContext', 'default', 'c', { ...CONTEXT, ...demand });
      assert.deepEqual(compiled([all, ...hosts, context]).answers, [500, 500, 200, 200]);
    });

test('redirect_cleartext_from redirects where the Host would serve without TLS', () => {
  const host = written('Host', 'default', 'h', {
    hostname: 'a.test',
    tls: { issuer: 'gateway', redirect_cleartext_from: 8080 },
    requestPolicy: { insecure: { action: 'Route' } },
  });
  const { answers, problems } = compiled([...BASE, host]);
  assert.deepEqual(answers, [301, 301, 200, 200]);
  assert.match(problems.map(({ message }) => message).join(), /still redirected/);
});

/** Misspelt restrictions, each with what it closes and the Module's entry that ignores it. */
const MISSPELT: readonly (readonly [
  what: string,
  document: object,
  closed: readonly boolean[],
  name: string,
])[] = [
  [
    'a Mapping',
    written('Mapping', 'default', 'm', { prefix: '/guarded/', service: 's', metod: 'POST' }),
    [false, true, false, true],
    'metod',
  ],
  [
    'a Host',
    written('Host', 'default', 'h', {
      hostname: 'a.test',
      ...SELF_SIGNED,
      requestPolcy: { insecure: 1 },
    }),
    [true, true, false, false],
    'requestPolcy',
  ],
  ['a Module', module({ ip_alow: [{ peer: '192.0.2.1' }] }), [true, true, true, true], 'ip_alow'],
  [
    'a RateLimitService',
    written('RateLimitService', 'default', 'r', { service: 'limiter', failure_mode_den: true }),
    [true, true, true, true],
    'failure_mode_den',
  ],
  [
    'an AuthService',
    written('AuthServce', 'default', 'x', {}),
    [true, true, true, true],
    'AuthService',
  ],
  [
    'a Module by its name',
    written('Module', 'default', 'authentcation', { config: { auth_service: 'a' } }),
    [true, true, true, true],
    'authentication',
  ],
];
for (const [what, document, closed, name] of MISSPELT)
  test(`a misspelt restriction of ${what} closes what it covers, unless the Module ignores it`, () => {
    const { answers, problems } = compiled([...BASE, document]);
    assert.deepEqual(
      answers.map(status => status === 500),
      closed,
    );
    const remedy = `list \`${name}\` in \`ignore\` of the Module`;
    const said = problems.filter(({ message }) => message.includes(remedy));
    assert.deepEqual(
      said.map(({ severity }) => severity),
      ['error'],
    );
    const ignore = { ignore: [name.toUpperCase()] };
    const isModule = what === 'a Module';
    const ignoring = isModule ? [module({ ip_alow: [1], ...ignore })] : [document, module(ignore)];
    const opened = compiled([...BASE, ...ignoring]);
    assert.equal(opened.answers.includes(500), false);
    assert.equal(
      opened.problems.filter(({ message }) => message.includes('leaves it out')).length,
      1,
    );
  });

const FILTER = { JWT: { jwksURI: 'https://a.test/keys' } };
const POLICY = { rules: [{ host: 'a.test', path: '/guarded/*', filters: [{ name: 'f' }] }] };

test('a misspelt kind closes what the kind that was meant covers', () => {
  const closedBy = (...documents: readonly object[]) =>
    compiled([...BASE, ...documents]).answers.map(status => status === 500);
  const guarded = [false, true, false, false];
  assert.deepEqual(closedBy(written('FilterPolcy', 'default', 'p', POLICY)), guarded);
  const filter = written('Filtr', 'default', 'f', FILTER);
  assert.deepEqual(closedBy(filter, written('FilterPolicy', 'default', 'p', POLICY)), guarded);
  assert.deepEqual(closedBy(written('Hst', 'default', 'h', { hostname: 'a.test' })), [
    true,
    true,
    false,
    false,
  ]);
  const mapping = { host: 'b.test', prefix: '/guarded/', service: 's' };
  assert.deepEqual(closedBy(written('Maping', 'default', 'm', mapping)), [
    false,
    false,
    false,
    true,
  ]);
});

test('a kind that is near to none is told and closes nothing', () => {
  const { answers, problems } = compiled([...BASE, written('Telescope', 'default', 'x', {})]);
  assert.deepEqual(answers, [200, 200, 200, 200]);
  assert.match(problems.map(({ message }) => message).join(), /unknown kind `Telescope`/);
});

test('a TLSContext whose Hosts are misspelt closes each Host that it may be for', () => {
  const host = written('Host', 'default', 'h', { hostname: 'a.test', tlsSecret: { name: 's' } });
  const context = written('TLSContext', 'default', 'c', { hsots: ['a.test'] });
  const missing = /there is no TLSContext default\/c in force/;
  const said = (...documents: readonly object[]) =>
    compiled([...BASE, ...documents])
      .problems.map(({ message }) => message)
      .join();
  assert.doesNotMatch(said(host), missing);
  assert.match(said(host, context), missing);
});
