import { parseClientRequest } from '#controlplane/explain/client-request.ts';
import { type Explanation, explainer } from '#controlplane/explain/explanation.ts';
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

/** All of them must let a request pass. */
const PLAIN = ['', '{name: one}', '{name: two}', '{name: one}, {name: two}'];

function policy(name: string, random: Random, isPlain = false): RandomDocument {
  const pick = pickOf(random);
  const rule = () => {
    const filters = pick(
      isPlain
        ? PLAIN
        : [
            ...PLAIN,
            '{name: one, onAllow: break}, {name: two}',
            '{name: one, onDeny: continue}',
            '{name: none}',
            '{name: one, ifRequestHeader: {name: x-b}}',
          ],
    );
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
    ...pick([
      [],
      ['bypass_auth: true'],
      ['closed: true'],
      ['prefix_exact: true'],
      ['precedence: 1'],
    ]),
    ...pick([[], [pick(CONDITIONS)]]),
  ];
  return document('Mapping', name, `{${fields.join(', ')}}`);
}

const SITE_POLICY = 'site';

/** Routes of a Gateway, and all that they need. */
export function randomSite(random: Random): readonly RandomDocument[] {
  return [
    ...['one', 'two'].map(filter),
    policy(SITE_POLICY, random, true),
    object('GatewayClass', 'gateway', '{controllerName: gateway.internal/gateway-controller}'),
    site(random),
    ...['k', 'l', 'm'].map(name => httpRoute(name, random)),
    object(
      'HTTPRoute',
      'all',
      '{parentRefs: [{name: site}], rules: [{backendRefs: [{name: all, port: 80}]}]}',
    ),
  ];
}

const object = (kind: string, name: string, spec: string): RandomDocument => ({
  id: `${kind}/${name}`,
  text: `---\napiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`,
});

function site(random: Random): RandomDocument {
  const hostname = pickOf(random)(['', '', ', hostname: "*.test"', ', hostname: a.test']);
  const listener = `{name: http, port: ${SITE_PORT}, protocol: HTTP${hostname}}`;
  return object('Gateway', 'site', `{gatewayClassName: gateway, listeners: [${listener}]}`);
}

const MATCHES = [
  'method: GET',
  'method: POST',
  'headers: [{name: x-a, value: one}]',
  'headers: [{name: x-a, type: RegularExpression, value: "o.+|two"}]',
  'queryParams: [{name: v, value: "1"}]',
  'method: GET, headers: [{name: x-a, value: two}]',
];

function httpRoute(name: string, random: Random): RandomDocument {
  const pick = pickOf(random);
  const match = () => {
    const type = pick(['PathPrefix', 'PathPrefix', 'Exact']);
    const path = `path: {type: ${type}, value: ${pick(PREFIXES)}}`;
    return `{${[path, ...pick([[], [], [pick(MATCHES)]])].join(', ')}}`;
  };
  const rule = () => {
    const named = pick([[], [], ['one'], ['two'], ['one', 'two'], ['none']]).map(
      each =>
        `{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: ${each}}}`,
    );
    const asked = pick([[], [], ['s'], ['s', 't']]).map(
      each =>
        `{type: ExternalAuth, externalAuth: {protocol: HTTP, http: {}, backendRef: {name: ${each}, port: 81}}}`,
    );
    const filters = [...named, ...asked];
    const matches = Array.from({ length: 1 + Math.floor(random() * 2) }, match);
    return `{matches: [${matches}], filters: [${filters}], backendRefs: [{name: ${pick(['s', 't'])}, port: 80}]}`;
  };
  const hostnames = pick(['', '', 'hostnames: [a.test], ', 'hostnames: ["*.test", b.test], ']);
  const rules = Array.from({ length: 1 + Math.floor(random() * 2) }, rule);
  return object('HTTPRoute', name, `{parentRefs: [{name: site}], ${hostnames}rules: [${rules}]}`);
}

/** The port of the Gateway, where no Mapping is served. */
export const SITE_PORT = 8000;

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
    if (kind === 'Filter' || kind === 'GatewayClass' || random() < 0.3) return [];
    return [again(kind, name, random)];
  };
  return docs.flatMap(rewritten);
}

function again(kind: string, name: string, random: Random): RandomDocument {
  if (kind === 'Mapping') return mapping(name, random);
  if (kind === 'HTTPRoute') return httpRoute(name, random);
  return kind === 'Gateway' ? site(random) : policy(name, random, name === SITE_POLICY);
}

export function textOf(docs: readonly RandomDocument[]): string {
  return docs.map(({ text }) => text).join('');
}

/** Explains a request. `port` is that of the Gateway, or none for Mappings. */
export type Explain = (asked: RandomRequest, port?: number) => Explanation;

/** Returns what explains requests at the edge with these resources. */
export function explaining(resources: ResourceSet): Explain {
  const options = compileOptions({});
  const explain = explainer({ resources, problems: [], nodeGroup: 'edge', options });
  return ({ host, path, method, header, parameter }, port) => {
    const authority = port === undefined ? host : `${host}:${port}`;
    const query = parameter === undefined ? '' : `?v=${parameter}`;
    const request = parseClientRequest(method, `http://${authority}${path}${query}`, {
      from: '203.0.113.7',
      ...(header === undefined ? {} : { header: [`x-a: ${header}`] }),
    });
    return explain(request).explanation;
  };
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
