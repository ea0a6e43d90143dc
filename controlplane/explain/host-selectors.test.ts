import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { chancesOf } from '#controlplane/compile/testing/seeded-pick.ts';
import { explaining } from './testing/explained.ts';

type Labels = Readonly<Record<string, string | boolean>>;
type WrittenMapping = { readonly host?: string; readonly prefix: string; readonly labels: Labels };
type WrittenHost = { readonly hostname: string; readonly selector?: Labels };

const document = (kind: string, name: string, spec: object, labels?: object) =>
  stringify({ apiVersion: 'gateway.internal/v2', kind, metadata: { name, labels }, spec });

const mapping = (name: string, { labels, ...spec }: WrittenMapping) =>
  document('Mapping', name, { ...spec, service: name }, labels);

const host = (name: string, { hostname, selector }: WrittenHost) =>
  document('Host', name, {
    hostname,
    ...(selector === undefined ? {} : { mappingSelector: { matchLabels: selector } }),
  });

/** Returns who gets `/api/x` of each name: the services, or the status. */
function answers(names: readonly string[], documents: readonly string[]) {
  const explain = explaining(documents.join('---\n'));
  return names.map(name => {
    const { answer, route } = explain({ url: `http://${name}/api/x` });
    return (
      answer?.status ??
      route?.targets.map(({ of }) => of.resource.replace('Mapping default/', '')).join('+')
    );
  });
}

const NAMES = ['a.test', 'b.test', 'c.test'];
const A = { labels: { team: 'a' } };
const B = { labels: { team: 'b' } };
const SHOP_A = host('host-a', { hostname: 'a.test', selector: { team: 'a' } });
const SHOP_B = host('host-b', { hostname: 'b.test', selector: { team: 'b' } });
const PLAIN_C = host('host-c', { hostname: 'c.test' });

const WRONG = { requestPolicy: { insecure: { action: 'Never' } } };
const MISSPELT: readonly [what: string, spec: object][] = [
  ['a misspelt selector', { mapping_selectr: { matchLabels: { team: 'a' } } }],
  ['a misspelt condition', { mappingSelector: { matchLabel: { team: 'a' } } }],
  [
    'a misspelt condition beside another',
    {
      selector: {
        matchLabels: { tier: '1' },
        matchExpresions: [{ key: 'team', operator: 'Exists' }],
      },
    },
  ],
  [
    'a misspelt selector beside an error',
    { ...WRONG, mapping_selectr: { matchLabels: { team: 'a' } } },
  ],
];

type Case = readonly [what: string, documents: readonly string[], expected: readonly unknown[]];

const CASES: readonly Case[] = [
  [
    'each Host has the Mappings that it selects, on one path',
    [SHOP_A, SHOP_B, mapping('ma', { prefix: '/', ...A }), mapping('mb', { prefix: '/', ...B })],
    ['ma', 'mb', 404],
  ],
  [
    'a Mapping that one Host selects is not served on a Host that selects nothing',
    [SHOP_A, PLAIN_C, mapping('ma', { prefix: '/', ...A })],
    ['ma', 404, 404],
  ],
  [
    'one whose label is misspelt is served nowhere',
    [SHOP_A, PLAIN_C, mapping('ma', { prefix: '/', labels: { team: 'aa' } })],
    [404, 404, 404],
  ],
  [
    'one whose label lacks its quotes is served on the Host that selects it, and on no other',
    [
      host('host-a', { hostname: 'a.test', selector: { internal: 'true' } }),
      PLAIN_C,
      mapping('m', { prefix: '/', labels: { internal: true } }),
    ],
    ['m', 404, 404],
  ],
  [
    'one that no Host selects is served on Hosts that select nothing',
    [SHOP_A, PLAIN_C, mapping('m', { prefix: '/', labels: {} })],
    [404, 404, 'm'],
  ],
  [
    'a Mapping with a host needs the labels too',
    [SHOP_A, mapping('m', { host: 'a.test', prefix: '/', labels: {} })],
    [404, 404, 404],
  ],
  [
    'a Mapping with a host is served on a Host that selects nothing, whoever selects it',
    [SHOP_A, PLAIN_C, mapping('m', { host: 'c.test', prefix: '/', ...A })],
    [404, 404, 'm'],
  ],
  [
    'labels do not make up for another host',
    [SHOP_A, mapping('m', { host: 'b.test', prefix: '/', ...A })],
    [404, 404, 404],
  ],
  [
    'a wildcard Host has what it selects on the names below it',
    [
      host('host', { hostname: '*.test', selector: { team: 'a' } }),
      PLAIN_C,
      mapping('ma', { prefix: '/', ...A }),
      mapping('named', { host: 'b.test', prefix: '/', labels: {} }),
    ],
    ['ma', 'ma', 404],
  ],
  [
    'a canary is shared only where both are selected',
    [
      SHOP_A,
      host('host-b', { hostname: 'b.test', selector: { team: 'a', canary: 'yes' } }),
      mapping('m', { prefix: '/', ...A }),
      mapping('n', { prefix: '/', labels: { team: 'a', canary: 'yes' } }),
    ],
    ['m+n', 'n', 404],
  ],
  [
    'a selector without conditions selects nothing',
    [
      host('host-a', { hostname: 'a.test', selector: {} }),
      PLAIN_C,
      mapping('m', { prefix: '/', ...A }),
    ],
    ['m', 404, 'm'],
  ],
  [
    'what a rejected Host selects is not served on other Hosts',
    [
      document('Host', 'host-a', {
        hostname: 'a.test',
        selector: { matchLabels: { team: 'a' } },
        requestPolicy: { insecure: { action: 'Never' } },
      }),
      PLAIN_C,
      mapping('ma', { prefix: '/', ...A }),
      mapping('m', { prefix: '/api/', labels: {} }),
    ],
    [500, 404, 'm'],
  ],
  [
    'of a selector that cannot be read everything may be meant',
    [
      document('Host', 'host-a', { hostname: 'a.test', selector: { matchLabels: ['team'] } }),
      PLAIN_C,
      mapping('ma', { prefix: '/', ...A }),
      mapping('named', { host: 'c.test', prefix: '/api/x', labels: {} }),
    ],
    [500, 404, 'named'],
  ],
  [
    'of a misspelt selector that cannot be read everything may be meant',
    [
      document('Host', 'host-a', { hostname: 'a.test', mappingSelectors: ['team'] }),
      PLAIN_C,
      mapping('m', { prefix: '/', labels: {} }),
    ],
    [500, 404, 404],
  ],
  ...MISSPELT.map(
    ([what, spec]): Case => [
      `what a Host selects by ${what} is not served on other Hosts`,
      [
        document('Host', 'host-a', { hostname: 'a.test', ...spec }),
        PLAIN_C,
        mapping('ma', { prefix: '/api/', ...A }),
        mapping('m', { prefix: '/', labels: {} }),
      ],
      [500, 404, 'm'],
    ],
  ),
  [
    'what an overruled Host selects is not served on other Hosts',
    [
      SHOP_A,
      host('host-b', { hostname: 'a.test', selector: { tier: '1' } }),
      PLAIN_C,
      mapping('ma', { prefix: '/', ...A }),
      mapping('m1', { prefix: '/api/', labels: { tier: '1' } }),
    ],
    ['ma', 404, 404],
  ],
  [
    'what a second document of a Host selects is not served on other Hosts',
    [
      PLAIN_C,
      host('host-c', { hostname: 'a.test', selector: { team: 'a' } }),
      mapping('ma', { prefix: '/api/', ...A }),
      mapping('m', { prefix: '/', labels: {} }),
    ],
    [500, 404, 'm'],
  ],
  [
    'a second document of a Mapping is closed on the Hosts that select it alone',
    [
      SHOP_A,
      PLAIN_C,
      mapping('ma', { prefix: '/', ...A }),
      mapping('ma', { prefix: '/api/', ...A }),
      mapping('m', { prefix: '/', labels: {} }),
    ],
    [500, 404, 'm'],
  ],
  [
    'a rejected Host whose selector has no condition keeps nothing from others',
    [
      document('Host', 'host-a', { hostname: 'a.test', mappingSelector: {}, ...WRONG }),
      PLAIN_C,
      mapping('m', { prefix: '/', labels: {} }),
    ],
    [500, 404, 'm'],
  ],
  [
    'a rejected Mapping is closed on the Hosts that select it alone',
    [
      SHOP_A,
      SHOP_B,
      document('Mapping', 'broken', { prefix: '/api/', service: 'ftp://x' }, A.labels),
      mapping('ma', { prefix: '/', ...A }),
      mapping('mb', { prefix: '/', ...B }),
    ],
    [500, 'mb', 404],
  ],
  [
    'one that sends to https is for the Hosts that select it alone',
    [
      SHOP_A,
      SHOP_B,
      document(
        'Mapping',
        'redirect',
        { prefix: '/', service: 'x.test', host_redirect: true },
        A.labels,
      ),
      mapping('mb', { prefix: '/', ...B }),
    ],
    [301, 'mb', 404],
  ],
];

for (const [what, documents, expected] of CASES)
  test(what, () => assert.deepEqual(answers(NAMES, documents), expected));

function coveringNames(name: string): readonly string[] {
  const labels = name.split('.');
  return [name, ...labels.map((_, at) => ['*', ...labels.slice(at + 1)].join('.'))];
}

/** The oracle: the same Mappings without labels, of which only those of the name are there. */
function expectedAnswers(
  names: readonly string[],
  hosts: readonly WrittenHost[],
  mappings: readonly WrittenMapping[],
) {
  const has = (selector: Labels, labels: Labels) =>
    Object.entries(selector).every(([key, value]) => labels[key] === value);
  return names.flatMap(name => {
    const owner = coveringNames(name)
      .map(each => hosts.find(({ hostname }) => hostname === each))
      .find(each => each !== undefined);
    const served = mappings.map(({ host = '*', labels }) => {
      if (owner?.selector !== undefined) return has(owner.selector, labels);
      const keys = hosts.flatMap(({ selector = {} }) => Object.keys(selector));
      return host !== '*' || !keys.some(key => key in labels);
    });
    const documents = [
      ...hosts.map(({ hostname }, index) => host(`h${index}`, { hostname })),
      ...mappings.flatMap((each, index) =>
        served[index] === true ? [mapping(`m${index}`, { ...each, labels: {} })] : [],
      ),
    ];
    return answers([name], documents);
  });
}

test('random Hosts and Mappings are served as those alone that a name has', () => {
  const { chance, pick } = chancesOf(20_261_127);
  const names = ['a.test', 'b.test', 'x.a.test', 'other.org'];
  const randomLabels = (share: number): Labels =>
    Object.fromEntries(
      ['team', 'tier'].flatMap(key => (chance(share) ? [[key, pick(['1', '2'])]] : [])),
    );
  for (let round = 0; round < 150; round += 1) {
    const hosts = ['a.test', 'b.test', '*.test', '*.a.test', '*']
      .filter(() => chance(0.6))
      .map((hostname): WrittenHost => {
        const selector = randomLabels(0.5);
        return Object.keys(selector).length === 0 ? { hostname } : { hostname, selector };
      });
    const mappings = Array.from(
      { length: 6 },
      (): WrittenMapping => ({
        ...(chance(0.5) ? { host: pick(['a.test', '*.test', '*.a.test', 'x.a.test']) } : {}),
        prefix: pick(['/', '/api/', '/api/x']),
        labels: randomLabels(0.6),
      }),
    );
    const documents = [
      ...hosts.map((each, index) => host(`h${index}`, each)),
      ...mappings.map((each, index) => mapping(`m${index}`, each)),
    ];
    assert.deepEqual(
      answers(names, documents),
      expectedAnswers(names, hosts, mappings),
      documents.join('---\n'),
    );
  }
});
