import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { parseClientRequest } from '#controlplane/explain/client-request.ts';
import { explain } from '#controlplane/explain/explanation.ts';
import { seededRandom } from '#protos/testing/random.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { compileOptions } from '../../cli/built-in-addresses.ts';
import { covers } from './region.ts';
import { differing } from './testing/differing.ts';

const HOSTS = ['*', '*.test', 'a.test', 'b.test', 'a*'];
const PATHS = ['*', '/*', '/a*', '/a/*', '/a/b', '*.html', '/a/*/c', '/b*'];
const PREFIXES = ['/', '/a', '/a/', '/a/b', '/b/'];
const REQUESTS = ['a.test', 'b.test', 'c.test', 'else.where'].flatMap(host =>
  ['/', '/a', '/a/b', '/a/b/c', '/a/x.html', '/b', '/b/c', '/z'].map(path => ({ host, path })),
);

type Random = () => number;
type Doc = { readonly id: string; readonly text: string };

const pickOf =
  (random: Random) =>
  <T>(items: readonly T[]) =>
    items[Math.floor(random() * items.length)] as T;

const document = (kind: string, name: string, spec: string): Doc => ({
  id: `${kind}/${name}`,
  text: `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`,
});

const filter = (name: string) =>
  document('Filter', name, `{JWT: {jwksURI: 'https://idp.test/keys'}}`);

function policy(name: string, random: Random): Doc {
  const pick = pickOf(random);
  const rule = () => {
    const filters = pick([
      '',
      '{name: one}',
      '{name: two}',
      '{name: one}, {name: two}',
      '{name: one, onAllow: break}, {name: two}',
      '{name: one, onDeny: continue}',
      '{name: none}',
      '{name: one, ifRequestHeader: {name: x-a}}',
    ]);
    return `{host: '${pick(HOSTS)}', path: '${pick(PATHS)}', filters: [${filters}]}`;
  };
  const rules = Array.from({ length: 1 + Math.floor(random() * 3) }, rule);
  return document('FilterPolicy', name, `{precedence: ${pick([0, 0, 1])}, rules: [${rules}]}`);
}

function mapping(name: string, random: Random): Doc {
  const pick = pickOf(random);
  const more = pick(['', ', bypass_auth: true', ', prefix_exact: true', ', precedence: 1']);
  return document(
    'Mapping',
    name,
    `{host: '${pick(HOSTS.slice(0, 4))}', prefix: ${pick(PREFIXES)}, service: ${pick(['s', 't'])}${more}}`,
  );
}

function world(random: Random): readonly Doc[] {
  return [
    ...['one', 'two'].map(filter),
    ...['p', 'q'].map(name => policy(name, random)),
    ...['k', 'l', 'm'].map(name => mapping(name, random)),
    document('Mapping', 'all', '{prefix: /, service: all}'),
  ];
}

/** Removes a document, writes one anew, or both. */
function changed(docs: readonly Doc[], random: Random): readonly Doc[] {
  const pick = pickOf(random);
  const victim = pick(docs);
  const rewritten = (doc: Doc): readonly Doc[] => {
    const [kind = '', name = ''] = doc.id.split('/');
    if (doc !== victim) return [doc];
    if (kind === 'Filter' || random() < 0.3) return [];
    return [kind === 'Mapping' ? mapping(name, random) : policy(name, random)];
  };
  return docs.flatMap(rewritten);
}

/** Returns the Filters that a request must pass, or that it is closed, or has no route. */
function decided(resources: ResourceSet, { host, path }: { host: string; path: string }) {
  const request = parseClientRequest('GET', `http://${host}${path}`, { from: '203.0.113.7' });
  const options = compileOptions({});
  const { explanation } = explain({ resources, problems: [], nodeGroup: 'edge', request, options });
  const { answer, filters, route } = explanation;
  if (route === undefined) return 'no route';
  if (filters?.decision === 'closed' || answer?.status === 500) return 'closed';
  if (filters?.decision !== 'chain') return new Set<string>();
  const [, policyId = '', index = ''] = [
    '',
    filters.rule.resource.replace('FilterPolicy ', ''),
    /\d+/.exec(filters.rule.field)?.[0],
  ];
  const found = resources.filterPolicies.find(
    ({ namespace, name }) => `${namespace}/${name}` === policyId,
  );
  const items = found?.spec.rules[Number(index)]?.filters ?? [];
  const skipping = items.findIndex(({ onAllow }) => onAllow === 'break');
  const reached = skipping === -1 ? items : items.slice(0, skipping + 1);
  const sure = reached.filter(
    ({ ifRequestHeader, onDeny }) => !ifRequestHeader && onDeny === 'break',
  );
  return new Set(sure.map(({ name }) => name));
}

const SEEDS = 60;

test('no request loses a Filter, or opens, without a line that tells it', () => {
  let lost = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seededRandom(seed);
    const docs = world(random);
    const [before, after] = [docs, changed(docs, random)].map(all =>
      all.map(({ text }) => text).join(''),
    );
    const { access } = differing(before ?? '', after ?? '');
    const loud = access.filter(({ effect }) => ['lost', 'opened', 'replaced'].includes(effect));
    const [was, is] = [resourceSetOf(before ?? ''), resourceSetOf(after ?? '')];
    for (const request of REQUESTS) {
      const [old, next] = [decided(was.resources, request), decided(is.resources, request)];
      if (old === 'no route' || typeof next === 'string') continue;
      const isLost = old === 'closed' ? next.size === 0 : [...old].some(name => !next.has(name));
      if (!isLost) continue;
      lost += 1;
      assert.ok(
        loud.some(region => covers(region, request)),
        `seed ${seed}: ${JSON.stringify(request)} ${JSON.stringify(access)}\n${before}\n=== then\n${after}`,
      );
    }
  }
  assert.ok(lost > 40, `only ${lost} requests lost a Filter`);
});
