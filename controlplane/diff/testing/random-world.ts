import { parseClientRequest } from '#controlplane/explain/client-request.ts';
import { type Explanation, explain } from '#controlplane/explain/explanation.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { compileOptions } from '../../../cli/built-in-addresses.ts';

const HOSTS = ['*', '*.test', 'a.test', 'b.test', 'a*'];
const PATHS = ['*', '/*', '/a*', '/a/*', '/a/b', '*.html', '/a/*/c', '/b*'];
const PREFIXES = ['/', '/a', '/a/', '/a/b', '/b/'];
const CONDITIONS = [
  'method: GET',
  'method: POST',
  'method: GET|PUT, method_regex: true',
  'headers: {x-a: one}',
  'headers: {x-a: true}',
  'regex_headers: {x-a: "o.+|two"}',
  'query_parameters: {v: "1"}',
  'regex_query_parameters: {v: "[12]"}',
  'method: GET, headers: {x-a: two}',
  'headers: {x-a: one}, query_parameters: {v: true}',
];

type Random = () => number;
export type RandomDocument = { readonly id: string; readonly text: string };
export type RandomRequest = {
  readonly host: string;
  readonly path: string;
  readonly method: string;
  /** Of `x-a`. */
  readonly header?: string;
  /** Of `v`. */
  readonly parameter?: string;
};

export const pickOf =
  (random: Random) =>
  <T>(items: readonly T[]) =>
    items[Math.floor(random() * items.length)] as T;

export function randomRequest(random: Random): RandomRequest {
  const pick = pickOf(random);
  const [header, parameter] = [pick([undefined, 'one', 'two', 'zzz']), pick([undefined, '1', '3'])];
  return {
    host: pick(['a.test', 'b.test', 'c.test', 'else.where']),
    path: pick(['/', '/a', '/a/b', '/a/b/c', '/a/x.html', '/b', '/b/c', '/z']),
    method: pick(['GET', 'POST', 'PUT']),
    ...(header === undefined ? {} : { header }),
    ...(parameter === undefined ? {} : { parameter }),
  };
}

const document = (kind: string, name: string, spec: string): RandomDocument => ({
  id: `${kind}/${name}`,
  text: `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`,
});

const filter = (name: string) =>
  document('Filter', name, `{JWT: {jwksURI: 'https://idp.test/keys'}}`);

function policy(name: string, random: Random): RandomDocument {
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
      '{name: one, ifRequestHeader: {name: x-b}}',
    ]);
    return `{host: '${pick(HOSTS)}', path: '${pick(PATHS)}', filters: [${filters}]}`;
  };
  const rules = Array.from({ length: 1 + Math.floor(random() * 3) }, rule);
  return document('FilterPolicy', name, `{precedence: ${pick([0, 0, 1])}, rules: [${rules}]}`);
}

function mapping(name: string, random: Random): RandomDocument {
  const pick = pickOf(random);
  const fields = [
    `host: '${pick(HOSTS.slice(0, 4))}'`,
    `prefix: ${pick(PREFIXES)}`,
    `service: ${pick(['s', 't'])}`,
    ...pick([[], ['bypass_auth: true'], ['prefix_exact: true'], ['precedence: 1']]),
    ...pick([[], [pick(CONDITIONS)]]),
  ];
  return document('Mapping', name, `{${fields.join(', ')}}`);
}

export function randomWorld(random: Random): readonly RandomDocument[] {
  return [
    ...['one', 'two'].map(filter),
    ...['p', 'q'].map(name => policy(name, random)),
    ...['k', 'l', 'm'].map(name => mapping(name, random)),
    document('Mapping', 'all', '{prefix: /, service: all}'),
  ];
}

/** Removes a document, writes one again in another way, or both. */
export function changedWorld(
  docs: readonly RandomDocument[],
  random: Random,
  victims = docs,
): readonly RandomDocument[] {
  const victim = pickOf(random)(victims);
  const rewritten = (doc: RandomDocument): readonly RandomDocument[] => {
    const [kind = '', name = ''] = doc.id.split('/');
    if (doc !== victim) return [doc];
    if (kind === 'Filter' || random() < 0.3) return [];
    return [kind === 'Mapping' ? mapping(name, random) : policy(name, random)];
  };
  return docs.flatMap(rewritten);
}

export function textOf(docs: readonly RandomDocument[]): string {
  return docs.map(({ text }) => text).join('');
}

export function explained(resources: ResourceSet, asked: RandomRequest): Explanation {
  const { host, path, method, header, parameter } = asked;
  const query = parameter === undefined ? '' : `?v=${parameter}`;
  const request = parseClientRequest(method, `http://${host}${path}${query}`, {
    from: '203.0.113.7',
    ...(header === undefined ? {} : { header: [`x-a: ${header}`] }),
  });
  const options = compileOptions({});
  return explain({ resources, problems: [], nodeGroup: 'edge', request, options }).explanation;
}

/** Whether the request may be one of those that the words are about. Values are not shown. */
export function mayMeet(
  conditions: readonly string[],
  { method, header, parameter }: RandomRequest,
): boolean {
  const values: Readonly<Record<string, string | undefined>> = {
    'header x-a': header,
    'parameter v': parameter,
  };
  return conditions.every(text => {
    const [, other, methods = ''] = /^method (other than )?(.*)$/.exec(text) ?? [];
    if (methods !== '') return methods.split(' or ').includes(method) === (other === undefined);
    const [, without, name = '', more] =
      /^with(out)? .*?((?:header|parameter) [\w-]+)(,.*)?$/.exec(text) ?? [];
    if (!(name in values)) throw new Error(`words that no one knows: ${text}`);
    return more !== undefined || (values[name] === undefined) === (without !== undefined);
  });
}
