import assert from 'node:assert/strict';
import { describe as suite, test } from 'node:test';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { describe, isDifferent } from './describe.ts';
import { differing } from './testing/differing.ts';
import { withDocuments } from './with-documents.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const mapping = (name: string, fields: string) => document('Mapping', name, `{${fields}}`);
const policy = (rules: string, name = 'site', precedence = 0) =>
  document('FilterPolicy', name, `{precedence: ${precedence}, rules: [${rules}]}`);
const jwt = (name: string, more = '') =>
  document('Filter', name, `{JWT: {jwksURI: 'https://idp.test/keys'${more}}}`);
const rates = (limits: string) =>
  document('RateLimit', 'rates', `{domain: gateway, limits: [${limits}]}`);

const LOGIN = jwt('login');
const OTHER = jwt('other');
const SHOP = mapping('shop', 'host: shop.test, prefix: /, service: shop');
const GUARDED = 'host: shop.test, filters: [{name: login}]';

/** Returns the lines of a change, without places and details. */
function linesOf(before: string, after: string): readonly string[] {
  return describe(differing(before, after))
    .split('\n')
    .filter(line => /^ {2}[^ ]/.test(line))
    .map(line => line.trim().replaceAll(/ \((?:new|old)\.yaml:\d+\)/g, ''));
}

const accessOf = (before: string, after: string) =>
  differing(before, after).access.map(
    ({ effect, host, path, routes }) => `${effect} ${host} ${path} ${routes.join()}`,
  );

suite('who may have what', () => {
  const ALL = mapping('all', 'prefix: /, service: s');
  const unread = (fields: string) => mapping('in', `${fields}, service: "ftp://in"`);
  const ACCESS: readonly [what: string, before: string, after: string, access: string[]][] = [
    ['the same', LOGIN + SHOP + policy(`{${GUARDED}}`), LOGIN + SHOP + policy(`{${GUARDED}}`), []],
    [
      'a policy that is removed',
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      LOGIN + SHOP,
      ['lost shop.test * Mapping/default/shop'],
    ],
    [
      'a policy that is added',
      LOGIN + SHOP,
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      ['gained shop.test * Mapping/default/shop'],
    ],
    [
      'a rule that another policy repeats',
      LOGIN + SHOP + policy(`{${GUARDED}}`) + policy(`{${GUARDED}}`, 'twin'),
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      [],
    ],
    [
      'a rule without Filters before one with',
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      LOGIN + SHOP + policy(`{host: shop.test, path: /open/*}, {${GUARDED}}`),
      ['lost shop.test /open/* Mapping/default/shop'],
    ],
    [
      'a rule without Filters behind one with',
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      LOGIN + SHOP + policy(`{${GUARDED}}, {host: shop.test, path: /open/*}`),
      [],
    ],
    [
      'rules in another order',
      LOGIN + SHOP + policy(`{${GUARDED}}, {host: shop.test, path: /open}`),
      LOGIN + SHOP + policy(`{host: shop.test, path: /open}, {${GUARDED}}`),
      ['lost shop.test /open Mapping/default/shop'],
    ],
    [
      'an open policy with a higher precedence',
      LOGIN + SHOP + policy(`{${GUARDED}}`) + policy('{path: /a*}', 'wide'),
      LOGIN + SHOP + policy(`{${GUARDED}}`) + policy('{path: /a*}', 'wide', 1),
      ['lost shop.test /a* Mapping/default/shop'],
    ],
    [
      'another Filter',
      LOGIN + OTHER + SHOP + policy(`{${GUARDED}}`),
      LOGIN + OTHER + SHOP + policy('{host: shop.test, filters: [{name: other}]}'),
      ['replaced shop.test * Mapping/default/shop'],
    ],
    [
      'a Filter for some requests only',
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      LOGIN +
        SHOP +
        policy('{host: shop.test, filters: [{name: login, ifRequestHeader: {name: x}}]}'),
      ['lost shop.test * Mapping/default/shop'],
    ],
    [
      'a Filter whose denial no longer counts',
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      LOGIN + SHOP + policy('{host: shop.test, filters: [{name: login, onDeny: continue}]}'),
      ['lost shop.test * Mapping/default/shop'],
    ],
    [
      'a Filter behind one that is enough',
      LOGIN + OTHER + SHOP + policy('{filters: [{name: other}, {name: login}]}'),
      LOGIN + OTHER + SHOP + policy('{filters: [{name: other, onAllow: break}, {name: login}]}'),
      ['lost * * Mapping/default/shop'],
    ],
    [
      'another scope',
      LOGIN + SHOP + policy('{filters: [{name: login, arguments: {scope: [a]}}]}'),
      LOGIN + SHOP + policy('{filters: [{name: login}]}'),
      ['changed * * Mapping/default/shop'],
    ],
    [
      'a Filter that is removed',
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      SHOP + policy(`{${GUARDED}}`),
      ['closed shop.test * Mapping/default/shop'],
    ],
    [
      'a closed rule that opens',
      SHOP + policy(`{${GUARDED}}`),
      SHOP + policy('{host: shop.test}'),
      ['opened shop.test * Mapping/default/shop'],
    ],
    [
      'a rejected policy without a last good version',
      SHOP,
      SHOP + policy('{host: shop.test, path: /a*, filters: [{name: login, onDeny: never}]}'),
      ['closed shop.test /a* Mapping/default/shop'],
    ],
    [
      'a rule for hosts without a route',
      LOGIN + SHOP + policy('{host: none.test, filters: [{name: login}]}'),
      LOGIN + SHOP,
      ['lost none.test * '],
    ],
    [
      'a wildcard host and the hosts in it',
      LOGIN + SHOP + policy("{host: '*.test', filters: [{name: login}]}"),
      LOGIN + SHOP + policy("{host: '*.shop.test', filters: [{name: login}]}"),
      ['lost *.test * Mapping/default/shop'],
    ],
    [
      'a Mapping that goes to another path',
      LOGIN +
        mapping('a', 'prefix: /a/, service: a') +
        policy('{path: /a/*, filters: [{name: login}]}'),
      LOGIN +
        mapping('a', 'prefix: /b/, service: a') +
        policy('{path: /a/*, filters: [{name: login}]}'),
      ['lost * /b/* Mapping/default/a'],
    ],
    [
      'a Mapping that goes to another host',
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      LOGIN + SHOP.replace('host: shop.test', 'host: new.test') + policy(`{${GUARDED}}`),
      ['lost new.test /* Mapping/default/shop'],
    ],
    [
      'a Mapping that gets bypass_auth',
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      LOGIN +
        SHOP.replace('service: shop', 'service: shop, bypass_auth: true') +
        policy(`{${GUARDED}}`),
      ['lost shop.test /* Mapping/default/shop'],
    ],
    [
      'a closed Mapping that opens',
      mapping('in', 'prefix: /in/, service: in, closed: true'),
      mapping('in', 'prefix: /in/, service: in'),
      ['opened * /in/* Mapping/default/in'],
    ],
    [
      'a closed Mapping that makes way for another',
      mapping('all', 'prefix: /, service: s') +
        mapping('in', 'prefix: /in/, service: in, closed: true'),
      mapping('all', 'prefix: /, service: s'),
      ['opened * /in/* Mapping/default/in'],
    ],
    [
      'a rejected Mapping that makes way for another',
      ALL + unread('prefix: /in/'),
      ALL,
      ['opened * /in/* Mapping/default/in'],
    ],
    [
      'a rejected Mapping that is rejected at another path',
      ALL + unread('prefix: /in/'),
      ALL + unread('prefix: /to/'),
      ['opened * /in/* Mapping/default/in', 'closed * /to/* Mapping/default/in'],
    ],
    [
      'a rejected Mapping that is rejected for another reason',
      ALL + unread('prefix: /in/'),
      ALL + unread('prefix: /in/, timeout_ms: x'),
      [],
    ],
    [
      'a rejected Mapping inside another that is written right',
      ALL + unread('prefix: /in/'),
      ALL + mapping('in', 'prefix: /in/, service: in'),
      ['opened * /in/* Mapping/default/in'],
    ],
    [
      'a new Mapping that is rejected inside another',
      ALL,
      ALL + unread('prefix: /in/'),
      ['closed * /in/* Mapping/default/in'],
    ],
    [
      'a Mapping that is closed',
      mapping('in', 'prefix: /in/, service: in'),
      mapping('in', 'prefix: /in/, service: in, closed: true'),
      ['closed * /in/* Mapping/default/in'],
    ],
    [
      'a new Mapping with bypass_auth inside another',
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      LOGIN +
        SHOP +
        mapping('in', 'host: shop.test, prefix: /in/, service: in, bypass_auth: true') +
        policy(`{${GUARDED}}`),
      ['lost shop.test /in/* Mapping/default/in'],
    ],
    [
      'a Mapping that is removed inside one with bypass_auth',
      LOGIN +
        mapping('all', 'prefix: /, service: s, bypass_auth: true') +
        mapping('in', 'prefix: /in/, service: in') +
        policy('{filters: [{name: login}]}'),
      LOGIN +
        mapping('all', 'prefix: /, service: s, bypass_auth: true') +
        policy('{filters: [{name: login}]}'),
      ['lost * /in/* Mapping/default/in'],
    ],
    [
      'a new open way to a service behind a Filter',
      LOGIN + SHOP + policy(`{${GUARDED}}`),
      LOGIN +
        SHOP +
        mapping('new', 'host: new.test, prefix: /, service: shop') +
        policy(`{${GUARDED}}`),
      ['lost new.test /* Mapping/default/new'],
    ],
    [
      'a new way to a service that was open already',
      SHOP,
      SHOP + mapping('new', 'host: new.test, prefix: /, service: shop'),
      [],
    ],
    [
      'application proxies, where no Filters run',
      LOGIN +
        policy('{filters: [{name: login}]}') +
        mapping('a', 'node_group: web, prefix: /a, service: a'),
      LOGIN +
        policy('{filters: [{name: login}]}') +
        mapping('a', 'node_group: web, prefix: /b, service: a'),
      [],
    ],
  ];
  for (const [what, before, after, access] of ACCESS)
    test(what, () => assert.deepEqual(accessOf(before, after), access));

  test('the losses come first', () => {
    const before = LOGIN + SHOP + policy('{path: /a*, filters: [{name: login}]}');
    const after = LOGIN + SHOP + policy('{path: /b*, filters: [{name: login}]}');
    assert.deepEqual(
      accessOf(before, after).map(line => line.split(' ')[0]),
      ['lost', 'gained'],
    );
  });
});

suite('routes', () => {
  test('are added, removed and changed with what they do', () => {
    const before = SHOP + mapping('old', 'prefix: /old/, service: old, method: GET');
    const after =
      SHOP.replace('service: shop', 'service: "https://shop2", timeout_ms: 5') +
      mapping('new', 'prefix: /new, prefix_exact: true, service: new:81');
    assert.deepEqual(linesOf(before, after), [
      '+ Mapping default/new: * /new to new:81, no Filter, no limit',
      '- Mapping default/old: * /old/* (method GET) to old:80, no Filter, no limit',
      '~ Mapping default/shop: shop.test /* to https://shop2:443, no Filter, no limit',
    ]);
  });

  test('that cannot be read are closed, or keep their last good version', () => {
    const wrong = mapping('shop', 'host: shop.test, prefix: /, service: "ftp://x"');
    assert.deepEqual(linesOf(SHOP, wrong), [
      'error: Mapping default/shop (new.yaml:5, spec.service): Cannot parse service "ftp://x": the scheme "ftp" is neither http nor https',
    ]);
    assert.match(linesOf('', wrong)[0] ?? '', /^- Mapping default\/shop: is rejected, and what/);
    assert.deepEqual(linesOf(wrong, SHOP), [
      '! shop.test /*: OPENS, was closed (500), then no Filter',
      '+ Mapping default/shop: was rejected, and comes into force',
    ]);
  });

  test('of which a FilterPolicy would be rejected close what it covers beyond its last good version', () => {
    const rule = (path: string, more = '') => `{path: ${path}, filters: [{name: login${more}}]}`;
    const before = LOGIN + SHOP + policy(rule('/a/*'));
    const after = LOGIN + SHOP + policy(`${rule('/a/*', ', onDeny: brake')}, ${rule('/b/*')}`);
    assert.deepEqual(accessOf(before, after), ['closed * /b/* Mapping/default/shop']);
    assert.deepEqual(accessOf(before, after.replace('/b/*', '/a/b')), []);
  });

  test('of which a Mapping would be rejected leave it no path without its rule', () => {
    const rule = (path: string) => policy(`{path: ${path}, filters: [{name: login}]}`);
    const before = LOGIN + mapping('a', 'prefix: /a/, service: a') + rule('/a/*');
    const after = LOGIN + mapping('a', 'prefix: /b/, service: a, timeout_ms: x') + rule('/b/*');
    assert.match(
      linesOf(before, after).join('\n'),
      /^- Mapping default\/a: is rejected, and what it covers answers 500/m,
    );
  });

  test('that are written in another way are the same', () => {
    const other = SHOP.replace('host: shop.test', 'hostname: SHOP.test').replace(
      'prefix: /',
      'timeout_ms: 3000, prefix: /',
    );
    assert.equal(isDifferent(differing(SHOP, `# moved\n${other}`)), false);
  });
});

suite('requests with conditions', () => {
  const ALL = mapping('all', 'prefix: /, service: all');
  const a = (fields: string) => mapping('a', `prefix: /a/, service: a, ${fields}`);

  /** Returns `<conditions>: <service before> -> <service after>` for each. */
  const requestsOf = (before: string, after: string) =>
    differing(before, after).routes.flatMap(({ requests = [] }) =>
      requests.map(
        ({ before, after, conditions = [] }) =>
          `${conditions.join(', ')}: ${before?.to ?? 'none'} -> ${after?.to ?? 'none'}`,
      ),
    );

  const MOVED: readonly [what: string, before: string, after: string, requests: string[]][] = [
    [
      'another method',
      ALL + a('method: GET'),
      ALL + a('method: POST'),
      ['method GET: a:80 -> all:80', 'method POST: all:80 -> a:80'],
    ],
    ['any method', ALL + a('method: GET'), ALL + a(''), ['method other than GET: all:80 -> a:80']],
    [
      'an expression for methods',
      ALL + a('method: GET'),
      ALL + a('method: GET|TRACE, method_regex: true'),
      ['method TRACE: all:80 -> a:80'],
    ],
    [
      'any value of a header',
      a('headers: {x-a: one}'),
      a('headers: {x-a: true}'),
      ['with another value of header x-a: none -> a:80'],
    ],
    [
      'one more condition',
      ALL + a('headers: {x-a: one}'),
      ALL + a('headers: {x-a: one}, query_parameters: {v: true}'),
      ['with header x-a, without parameter v: a:80 -> all:80'],
    ],
    [
      'an expression with fewer alternatives',
      ALL + a('regex_query_parameters: {v: "1|[2-3]{2}\\\\.x"}'),
      ALL + a('regex_query_parameters: {v: "1"}'),
      ['with a value of parameter v: a:80 -> all:80'],
    ],
    ['a Mapping that is removed', ALL + a('method: GET'), ALL, ['method GET: a:80 -> all:80']],
    ['a new Mapping where none was', '', a('method: GET'), []],
    [
      'another service',
      ALL + a('method: GET'),
      ALL + a('method: GET').replace('service: a', 'service: b'),
      [],
    ],
    [
      'two Mappings behind it that differ in a header',
      ALL + mapping('b', 'prefix: /, service: b, headers: {x-b: one}') + a('method: GET'),
      ALL + mapping('b', 'prefix: /, service: b, headers: {x-b: one}'),
      [
        'method GET, without header x-b, or with another value: a:80 -> all:80',
        'method GET, with header x-b: a:80 -> b:80',
      ],
    ],
  ];
  for (const [what, before, after, requests] of MOVED)
    test(what, () => assert.deepEqual(requestsOf(before, after), requests));

  test('tell what decides about them and counts them, and no value', () => {
    const limited = `labels: {gateway: [{g: [remote_address]}]}`;
    const before = ALL + a(`method: GET, headers: {x-a: hunter2}, bypass_auth: true, ${limited}`);
    const after = ALL + a(`headers: {x-a: hunter2}, bypass_auth: true, ${limited}`);
    const rest =
      LOGIN +
      policy('{filters: [{name: login}]}') +
      rates("{pattern: [{remote_address: '*'}], rate: 1, unit: day}");
    const text = describe(differing(before + rest, after + rest));
    assert.match(
      text,
      /^ {2}! \* \/a\/\* \(method other than GET, with header x-a\): LOSES Filter/m,
    );
    assert.match(
      text,
      /^ {6}requests \* \/a\/\* \(method other than GET, with header x-a\): Mapping default\/all to all:80, Filter default\/login, no limit -> Mapping default\/a to a:80, no Filter, limits rates.default-0$/m,
    );
    assert.doesNotMatch(text, /hunter2/);
  });

  test('whose expression is intricate are named', () => {
    const { routes } = differing(ALL, ALL + a('regex_headers: {x-a: "(?:a{2}|b)(c|d)e{1,2}"}'));
    assert.deepEqual(routes[0]?.untried, ['header x-a']);
  });

  test('at application proxies are told too', () => {
    const web = (fields: string) => mapping('w', `node_group: web, prefix: /, service: w${fields}`);
    assert.deepEqual(requestsOf(web(', method: GET'), web(', method: PUT')), [
      'method GET: w:80 -> none',
      'method PUT: none -> w:80',
    ]);
  });
});

suite('limits', () => {
  const COUNTED = mapping(
    'a',
    'prefix: /a, service: a, labels: {gateway: [{g: [remote_address]}]}',
  );
  const limit = (more: string) => `{pattern: [{remote_address: '*'}], ${more}}`;
  const LIMITS: readonly [what: string, before: string, after: string, looser: boolean][] = [
    ['a higher rate', 'rate: 5, unit: minute', 'rate: 6, unit: minute', true],
    ['a lower rate', 'rate: 5, unit: minute', 'rate: 4, unit: minute', false],
    ['a shorter unit', 'rate: 5, unit: minute', 'rate: 5, unit: second', true],
    ['a longer unit', 'rate: 5, unit: minute', 'rate: 100, unit: hour', false],
    ['LogOnly', 'rate: 5, unit: minute', 'rate: 5, unit: minute, action: LogOnly', true],
  ];
  for (const [what, before, after, looser] of LIMITS)
    test(what, () => {
      const { limits } = differing(COUNTED + rates(limit(before)), COUNTED + rates(limit(after)));
      assert.deepEqual(
        limits.map(({ looser, routes, name }) => ({ looser, routes, name })),
        [{ looser, routes: ['Mapping/default/a'], name: 'rates.default-0' }],
      );
    });

  const PATTERNS: readonly [what: string, before: string, after: string, looser: boolean][] = [
    ['one value of any', "{remote_address: '*'}", '{remote_address: 192.0.2.1}', true],
    ['any value of one', '{remote_address: 192.0.2.1}', "{remote_address: '*'}", false],
    ['another value', '{generic_key: a}', '{generic_key: b}', true],
    ['one label more', '{generic_key: a}', "{generic_key: a}, {remote_address: '*'}", true],
    ['one label less', "{generic_key: a}, {remote_address: '*'}", '{generic_key: a}', false],
    ['an alternative less', "{generic_key: a, remote_address: '*'}", '{generic_key: a}', true],
    ['an alternative more', '{generic_key: a}', "{generic_key: a, remote_address: '*'}", false],
  ];
  for (const [what, before, after, looser] of PATTERNS)
    test(`whose pattern has ${what}`, () => {
      const of = (pattern: string) => rates(`{pattern: [${pattern}], rate: 5, unit: minute}`);
      const { limits } = differing(COUNTED + of(before), COUNTED + of(after));
      assert.deepEqual(
        limits.map(({ change, looser }) => ({ change, looser })),
        [{ change: 'changed', looser }],
      );
    });

  test('that another limit stands for now let no more requests pass', () => {
    const one = (value: string) => `{pattern: [{generic_key: ${value}}], rate: 5, unit: minute}`;
    const { limits } = differing(
      COUNTED + rates(one('a')),
      COUNTED + rates(`${one('b')}, ${one('a')}`),
    );
    assert.deepEqual(
      limits.map(({ change, looser }) => ({ change, looser })),
      [
        { change: 'changed', looser: false },
        { change: 'added', looser: false },
      ],
    );
  });

  test('that go to another domain count nothing of the first one', () => {
    const one = COUNTED + rates(limit('rate: 1, unit: day'));
    const moved = one.replace('domain: gateway', 'domain: ambassador');
    assert.deepEqual(
      differing(one, moved).limits.map(({ looser }) => looser),
      [true],
    );
  });

  test('that are removed let more requests pass, and those that are added do not', () => {
    const one = COUNTED + rates(limit('rate: 1, unit: day'));
    assert.deepEqual(linesOf(one, COUNTED), [
      '! rates.default-0 of RateLimit default/rates: MORE REQUESTS PASS',
    ]);
    assert.deepEqual(linesOf(COUNTED, one), ['+ rates.default-0 of RateLimit default/rates']);
  });
});

suite('the documents', () => {
  const B = mapping('b', 'prefix: /b, service: b');

  test('replace the resources of their ids, and leave others as they are', () => {
    const { routes } = differing(SHOP + B, mapping('b', 'prefix: /b, service: c'), {});
    assert.deepEqual(
      routes.map(({ id, change }) => [id, change]),
      [['Mapping/default/b', 'changed']],
    );
  });

  test('stand for all folders: what they lack is removed', () => {
    const { routes } = differing(SHOP + B, B);
    assert.deepEqual(
      routes.map(({ id, change }) => [id, change]),
      [['Mapping/default/shop', 'removed']],
    );
  });

  test('stand for no object of Kubernetes, which is in no file', () => {
    const { resources } = collect([parseFile('Kubernetes', SHOP + B, DEFAULT_PARSE_OPTIONS)]);
    const objects = [...resources.values()].map(resource => ({
      ...resource,
      source: { file: 'Mapping in Kubernetes', line: 0 },
    }));
    const inForce = { resources: new Map(objects.map(each => [each.id, each])), closed: [] };
    const given = { files: [], whole: true, remove: [] };
    assert.equal(withDocuments(inForce, given).resources.size, 2);
    assert.equal(
      withDocuments(inForce, { ...given, remove: ['Mapping/default/b'] }).resources.size,
      1,
    );
  });

  test('remove nothing while one of them cannot be read', () => {
    const { routes, problems } = differing(SHOP + B, `${B}---\n{`);
    assert.deepEqual([routes, problems.length], [[], 1]);
  });

  test('remove what is named, and say which name is unknown', () => {
    const { routes } = differing(SHOP + B, '', { remove: ['Mapping/default/b'] });
    assert.deepEqual(
      routes.map(({ id, change }) => [id, change]),
      [['Mapping/default/b', 'removed']],
    );
    assert.throws(() => differing(SHOP, '', { remove: ['Mapping/default/shp'] }), {
      message:
        'no resource "Mapping/default/shp" is in force, did you mean `Mapping/default/shop`?',
    });
    assert.throws(() => differing(SHOP, '', { remove: ['elsewhere'] }), {
      message:
        'no resource "elsewhere" is in force: want kind, namespace and name, for example Mapping/default/user',
    });
  });

  test('cannot have what is removed', () => {
    for (const given of [B, B.replace('prefix', 'prefx')])
      assert.throws(() => differing(SHOP + B, given, { remove: ['Mapping/default/b'] }), {
        message: /^Mapping\/default\/b \(\S+:\d+\) cannot be both removed and given: /,
      });
  });

  test('of labels, by which Hosts choose Mappings, are told', () => {
    const labelled = (team: string) =>
      mapping('m', 'prefix: /, service: s').replace(
        '{name: m}',
        `{name: m, labels: {team: ${team}}}`,
      );
    const { routes } = differing(labelled('a'), labelled('b'));
    assert.deepEqual(
      routes.map(({ fields }) => fields),
      [[{ field: 'metadata.labels.team', before: 'a', after: 'b' }]],
    );
  });

  test('that bring an error show it, and those that solve one show that, too', () => {
    const wrong = mapping('b', 'prefix: /b, service: b, cluster_tag: x');
    const { problems } = differing(B, wrong);
    assert.equal(problems.length, 1);
    const before = differing(SHOP + policy(`{${GUARDED}}`), LOGIN + SHOP + policy(`{${GUARDED}}`));
    assert.match(before.solved[0]?.message ?? '', /there is no Filter default\/login/);
  });
});

suite('what nobody may see', () => {
  const secret = (value: string) =>
    document(
      'Filter',
      'web',
      `{OAuth2: {authorizationURL: 'https://idp.test', clientID: web, secret: ${value}, protectedOrigins: [{origin: 'https://site.test'}]}}`,
    );

  test('a secret that changes is told of, and not shown', () => {
    const difference = differing(secret('hunter2'), secret('swordfish'));
    assert.deepEqual(difference.resources[0]?.fields, [
      { field: 'OAuth2.secret', before: '(not shown)', after: '(not shown)' },
    ]);
    assert.doesNotMatch(JSON.stringify(difference), /hunter2|swordfish/);
  });

  test('values of headers and parameters are not shown, in words or in YAML', () => {
    const check = (value: string) =>
      `{health_check: {http: {path: /h, add_request_headers: {authorization: ${value}}}}}`;
    const fields = (value: string) =>
      `prefix: /, service: s, add_request_headers: {x-api-key: ${value}}, headers: {x-tenant: ${value}}, query_parameters: {key: ${value}}, health_checks: [${check(value)}]`;
    const route = (value: string) =>
      `---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\nspec: {parentRefs: [{name: g}], rules: [{matches: [{headers: [{name: x-key, value: ${value}}]}], filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-key, value: ${value}}]}}]}]}\n`;
    const all = (value: string) =>
      `${mapping('a', fields(value))}${policy(`{filters: [{name: l, ifRequestHeader: {name: x, value: ${value}}}]}`)}${route(value)}`;
    const difference = differing(all('hunter2'), all('swordfish'));
    assert.doesNotMatch(JSON.stringify(difference) + describe(difference), /hunter2|swordfish/);
    assert.match(JSON.stringify(difference.envoy), /only values that are not shown differ/);
  });
});

test('a text that would act on a terminal is escaped', () => {
  const difference = differing('', mapping('a', 'prefix: "/\\e[2J", service: s'));
  assert.ok(!describe(difference).includes('\u001b'));
});

test('the configuration of each node group is compared', () => {
  const { envoy } = differing(SHOP, SHOP + mapping('b', 'node_group: web, prefix: /b, service: b'));
  assert.deepEqual(
    envoy
      .map(({ group, resource }) => `${group} ${resource}`)
      .filter(name => name.startsWith('web')),
    ['web Cluster b', 'web RouteConfiguration web', 'web VirtualHost *'],
  );
});

suite('routes of Gateways', () => {
  const object = (kind: string, name: string, spec: string) =>
    `---\napiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
  const site = (hostname = '') =>
    object('GatewayClass', 'gateway', '{controllerName: gateway.internal/gateway-controller}') +
    object(
      'Gateway',
      'site',
      `{gatewayClassName: gateway, listeners: [{name: http, port: 8000, protocol: HTTP${hostname}}]}`,
    );
  const NAMED =
    'filters: [{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: login}}]';
  const route = (rules: string, hostnames = 'hostnames: [a.test], ', name = 'web') =>
    object('HTTPRoute', name, `{parentRefs: [{name: site}], ${hostnames}rules: [${rules}]}`);
  const to = (service: string, more = '') =>
    `{matches: [{path: {value: /a}}], ${more}backendRefs: [{name: ${service}, port: 80}]}`;
  const WORLD = site() + LOGIN;

  test('a path that loses its Filter comes first, whichever resource makes it so', () => {
    const guarded = WORLD + route(to('s', `${NAMED}, `));
    assert.deepEqual(accessOf(guarded, WORLD + route(to('s'))), [
      'lost a.test /a* HTTPRoute/default/web',
    ]);
    const wider = `${route(to('s'), '', 'all')}${route(to('s', `${NAMED}, `))}`;
    assert.deepEqual(accessOf(WORLD + wider, WORLD + route(to('s'), '', 'all')), [
      'lost a.test /a* HTTPRoute/default/all',
    ]);
    assert.deepEqual(accessOf(guarded, site() + route(to('s', `${NAMED}, `))), [
      'closed a.test /a* HTTPRoute/default/web',
    ]);
  });

  test('that change more hosts and paths than are tried are told to be', () => {
    const paths = Array.from({ length: 8 }, (_, at) => `{path: {value: /${at}}}`).join();
    const rule = (service: string) =>
      `{matches: [${paths}], backendRefs: [{name: ${service}, port: 80}]}`;
    const routes = (service: string, count: number) =>
      Array.from({ length: count }, (_, at) => {
        const names = Array.from({ length: 16 }, (_, each) => `h${each}.r${at}.test`);
        return route(rule(service), `hostnames: [${names}], `, `r${at}`);
      }).join('');
    const last = route(to('s'), 'hostnames: [z.test], ', 'z');
    const guarded = route(to('s', `${NAMED}, `), 'hostnames: [z.test], ', 'z');
    const [few, many] = [1, 20].map(count =>
      differing(WORLD + routes('s', count) + guarded, WORLD + routes('other', count) + last),
    );
    assert.ok(few !== undefined && many !== undefined);
    assert.deepEqual([few.access.length, few.isPartial], [1, false]);
    assert.doesNotMatch(describe(few), /NOT ALL/);
    assert.deepEqual([many.access.length, many.isPartial], [0, true]);
    assert.match(describe(many), /^Access\n {2}! NOT ALL was tried/m);
    assert.match(describe(many), /^NOT ALL tried, /m);
  });

  test('a listener that loses its Filter opens its routes', () => {
    const requests = `${NAMED.replace('filters:', ', filters: {requests:')}}`;
    const guarded = site(requests) + LOGIN + route(to('s'));
    const opened = accessOf(guarded, WORLD + route(to('s')));
    assert.ok(opened.includes('lost a.test /a* HTTPRoute/default/web'), opened.join());
    const closed = accessOf(guarded, site(requests) + route(to('s')));
    assert.ok(closed.includes('closed a.test /a* HTTPRoute/default/web'), closed.join());
  });

  test('a rule of a FilterPolicy names the routes that it decides about', () => {
    const guarded = WORLD + route(to('s')) + policy('{path: /a*, filters: [{name: login}]}');
    assert.deepEqual(accessOf(guarded, WORLD + route(to('s'))), [
      'lost * /a* HTTPRoute/default/web',
    ]);
  });

  test('another backend is told with both', () => {
    assert.deepEqual(
      linesOf(WORLD + route(to('s')), WORLD + route(to('t'))),
      [
        '~ HTTPRoute default/web: a.test /a/* to default/t:80, no Filter, no limit',
        '1 routes, 0 limits, 0 other resources, 0 problems, 1 of access',
      ].slice(0, 1),
    );
    const [change] = differing(WORLD + route(to('s')), WORLD + route(to('t'))).routes;
    assert.deepEqual([change?.before?.to, change?.after?.to], ['default/s:80', 'default/t:80']);
    assert.deepEqual(
      change?.requests?.map(({ host, path, after }) => [host, path, after?.to]),
      [['a.test', '/a*', 'default/t:80']],
    );
  });

  test('a host that goes away is told, also when its listener is what changes', () => {
    const [change, ...others] = differing(
      WORLD + route(to('s')),
      site(', hostname: b.test') + LOGIN + route(to('s')),
    ).routes;
    assert.deepEqual(others, []);
    assert.deepEqual(
      [change?.id, change?.change, change?.after],
      ['HTTPRoute/default/web', 'changed', undefined],
    );
    assert.deepEqual(
      change?.requests?.map(({ host, before, after }) => [host, before?.route, after]),
      [['a.test', 'HTTPRoute/default/web', undefined]],
    );
  });

  test('the same routes in another order are the same', () => {
    const [one, two] = [route(to('s')), route(to('t'), 'hostnames: [b.test], ', 'other')];
    assert.equal(isDifferent(differing(WORLD + one + two, WORLD + two + one)), false);
  });

  const limit = (name: string, targets: string, more = '') =>
    document(
      'RateLimit',
      name,
      `{targetRefs: [${targets}], limits: [{name: ${name}, rate: 5, unit: minute${more}}]}`,
    );
  const SITE = '{kind: Gateway, name: site}';
  const WEB = '{kind: HTTPRoute, name: web}';
  const limited = (...texts: readonly string[]) => WORLD + route(to('s')) + texts.join('');
  const toldOf = (before: string, after: string) =>
    differing(before, after).limits.map(({ change, looser, routes }) => [change, looser, routes]);

  test('a Mapping has the limits of those with which it shares its requests', () => {
    const limit = rates('{pattern: [{generic_key: it}], rate: 1, unit: day}');
    const labels = ', labels: {gateway: [{g: [it]}]}';
    const own = limit + mapping('two', `prefix: /x/, service: t${labels}`);
    const canary = mapping('one', 'prefix: /x/, service: s, weight: 10');
    const [line] = linesOf(own, own + canary);
    assert.match(line ?? '', /^\+ Mapping default\/one: .* limits rates\.default-0$/);
  });

  test('a limit by its target counts the routes of the target alone', () => {
    const other = route(to('t'), 'hostnames: [b.test], ', 'other');
    const id = 'HTTPRoute/default/web';
    assert.deepEqual(toldOf(limited(other), limited(other, limit('l', WEB))), [
      ['added', false, [id]],
    ]);
    assert.deepEqual(toldOf(limited(other, limit('l', WEB)), limited(other)), [
      ['removed', true, [id]],
    ]);
    assert.deepEqual(toldOf(limited(other), limited(other, limit('l', SITE))), [
      ['added', false, [id, 'HTTPRoute/default/other']],
    ]);
    assert.deepEqual(toldOf(SHOP, SHOP + limit('l', WEB)), [['added', false, []]]);
  });

  test('another target of a limit is looser when a route that stays is left out', () => {
    const [web, site] = [limit('l', WEB), limit('l', SITE)];
    const other = route(to('t'), 'hostnames: [b.test], ', 'other');
    assert.deepEqual(toldOf(limited(web), limited(site)), [
      ['changed', false, ['HTTPRoute/default/web']],
    ]);
    assert.deepEqual(toldOf(limited(other, site), limited(other, web)), [
      ['changed', true, ['HTTPRoute/default/web']],
    ]);
    const moved = WORLD + other + limit('l', '{kind: HTTPRoute, name: other}');
    assert.deepEqual(
      toldOf(WORLD + route(to('s')) + web, moved).map(([, looser]) => looser),
      [false],
      'the route is removed, too',
    );
    assert.deepEqual(
      differing(limited(site), limited(web)).limits.map(({ before, after }) => [before, after]),
      [
        [
          '5 per minute, Enforce, in domain gateway, for [generic_key: RateLimit/default/l/3432496428], to Gateway site',
          '5 per minute, Enforce, in domain gateway, for [generic_key: RateLimit/default/l/3432496428], to HTTPRoute web',
        ],
      ],
    );
  });

  test('a route has the limits of its targets, and so have requests that go to another', () => {
    const [change] = differing(
      limited(limit('l', WEB)),
      WORLD + route(to('t')) + limit('l', WEB),
    ).routes;
    assert.deepEqual([change?.before?.limits, change?.after?.limits], [['l'], ['l']]);
    assert.deepEqual(
      change?.requests?.map(({ before, after }) => [before?.limits, after?.limits]),
      [[['l'], ['l']]],
    );
    const other = route(to('t'), 'hostnames: [a.test], ', 'other');
    const [, moved] = differing(limited(limit('l', WEB)), WORLD + other + limit('l', WEB)).routes;
    assert.deepEqual(moved?.before?.limits, ['l']);
  });
});
