import assert from 'node:assert/strict';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { compileOptions } from '../../../cli/built-in-addresses.ts';
import { parseClientRequest } from '../client-request.ts';
import { describe } from '../describe.ts';
import { type Explanation, explainer } from '../explanation.ts';

export const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
export const policy = (rules: string, name = 'site', precedence = 0) =>
  document('FilterPolicy', name, `{precedence: ${precedence}, rules: [${rules}]}`);
export const mapping = (fields = '') =>
  document('Mapping', 'all', `{prefix: /, service: s${fields}}`);
export const jwt = (name: string, inject = '') =>
  document(
    'Filter',
    name,
    `{JWT: {jwksURI: 'https://idp.test/keys', injectRequestHeaders: [${inject}]}}`,
  );

export const LOGIN = document(
  'Filter',
  'login',
  `{OAuth2: {authorizationURL: 'https://idp.test', clientID: web, secret: hunter2,
    protectedOrigins: [{origin: 'http://site.test'}, {origin: 'http://other.test', includeSubdomains: true}],
    injectRequestHeaders: [{name: X-User, value: a}]}}`,
);
export const MACHINES = document(
  'Filter',
  'machines',
  `{OAuth2: {authorizationURL: 'https://idp.test', grantType: ClientCredentials}}`,
);

export type Asked = {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly method?: string;
};

/** Explains a request at the edge with these resources. */
export function explained(yaml: string, asked?: Asked): Explanation {
  return explaining(yaml)(asked);
}

/** Returns what explains requests at the edge with these resources. */
export function explaining(yaml: string): (asked?: Asked) => Explanation {
  const { resources, problems } = resourceSetOf(yaml, 'in.yaml');
  const options = compileOptions({});
  const explain = explainer({ resources, problems, nodeGroup: 'edge', options });
  return ({ url = 'http://site.test/', header = [], method = 'GET' } = {}) =>
    explain(parseClientRequest(method, url, { header, from: '203.0.113.7' })).explanation;
}

/** Returns the lines of the filters' section, without the places of resources. */
export function section(explanation: Explanation, all = false): readonly string[] {
  const lines = describe(explanation, all)
    .replaceAll(/ \(in\.yaml:\d+\)/g, '')
    .replaceAll(/in\.yaml:\d+, /g, '')
    .split('\n');
  const from = lines.indexOf('Filters');
  return from === -1
    ? []
    : lines.slice(
        from + 1,
        lines.findIndex((line, at) => at > from && /^\S/.test(line)),
      );
}

/** Returns the last line of the whole text. */
export function lastLine(explanation: Explanation): string | undefined {
  return describe(explanation).trimEnd().split('\n').at(-1);
}

/** Returns the filters of the selected rule. */
export function chainOf(explanation: Explanation) {
  const { filters } = explanation;
  assert.ok(filters?.decision === 'chain', JSON.stringify(filters));
  return filters.chain;
}
