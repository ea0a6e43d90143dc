import { compile } from '#controlplane/compile/compile.ts';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import type { JsonObject } from '#protos/json.ts';
import { ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { compileOptions } from '../../../cli/built-in-addresses.ts';

const TENANT = { name: 'x-tenant', string_match: { exact: 'blue' } };

/** Each form of a match that `explain` knows, also those that no golden file has. */
const MATCHES: readonly JsonObject[] = [
  { path: '/invert', headers: [{ ...TENANT, invert_match: true }] },
  { path: '/invert', headers: [TENANT] },
  { path: '/absent', headers: [{ name: 'x-tenant', present_match: false }] },
  { path: '/absent', headers: [{ name: 'x-tenant', present_match: true, invert_match: true }] },
  { path: '/absent', headers: [{ name: 'x-tenant', present_match: false, invert_match: true }] },
  {
    prefix: '/regex',
    headers: [{ name: 'x-tenant', string_match: { safe_regex: { regex: 'b.*e|' } } }],
  },
  { path_separated_prefix: '/below' },
  {
    path: '/empty',
    headers: [{ ...TENANT, invert_match: true, treat_missing_header_as_empty: true }],
  },
  ...['red', 'blue', 'green'].map(exact => ({
    prefix: '/value',
    headers: [{ name: 'x-tenant', string_match: { exact } }],
  })),
  { prefix: '/value' },
  { prefix: '/starts', headers: [{ name: ':path', string_match: { prefix: '/starts?a' } }] },
];

/** Returns an edge with a route for each match. */
export function everyMatcher(): Compiled {
  const options = compileOptions({});
  const { resources, problems } = compile(resourceSetOf('').resources, 'edge', options);
  const routes = MATCHES.map((match, index) => ({
    name: String(index),
    match,
    direct_response: { status: 200 },
  }));
  const domains = [
    { name: 'front', domains: ['*.example.com', '*-a.example.com'], routes },
    { name: 'behind', domains: ['shop.*', 'shop.example.*'], routes },
    { name: 'exact', domains: ['shop.example.com', '[::1]'], routes },
    { name: 'any', domains: ['*'], routes },
  ];
  const configuration = {
    name: 'edge',
    json: { ignore_port_in_host_matching: true, virtual_hosts: domains },
    origins: [],
  };
  return { resources: new Map([...resources, [ROUTE_CONFIGURATION, [configuration]]]), problems };
}
