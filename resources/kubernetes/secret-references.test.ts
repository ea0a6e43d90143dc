import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { secretReferences } from './secret-references.ts';

const oauth2 = (more: string) =>
  `OAuth2: { authorizationURL: "https://idp", clientID: me, protectedOrigins: [{ origin: "https://a" }], ${more} }`;

const cases: readonly (readonly [kind: string, spec: string, expected: readonly string[]])[] = [
  ['Filter', oauth2('secretName: a'), ['shop/a']],
  ['Filter', oauth2('secretName: a, secretNamespace: web'), ['web/a']],
  ['Filter', oauth2('secret: a'), []],
  ['Filter', oauth2('secretName: a, caSecret: b'), ['shop/a', 'shop/b']],
  [
    'Filter',
    'JWT: { jwksURI: "https://idp/keys", caSecret: { name: b, namespace: web } }',
    ['web/b'],
  ],
  ['Host', 'tlsSecret: a', ['shop/a']],
  ['Host', 'tlsSecret: { name: a, namespace: web }, tls: { ca_secret: b.web }', ['web/a', 'web/b']],
  ['TLSContext', 'secret: a.web, ca_secret: b', ['web/a', 'shop/b']],
  ['TLSContext', 'secret: a.web, secret_namespacing: false', ['shop/a.web']],
  ['Mapping', 'prefix: /a/, service: secret', []],
];

for (const [kind, spec, expected] of cases) {
  test(`a ${kind} with ${spec} names ${expected.join(' and ') || 'no Secret'}`, () => {
    const text = `apiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: x, namespace: shop }\nspec: { ${spec} }\n`;
    const { resources, problems } = parseFile('a.yaml', text, DEFAULT_PARSE_OPTIONS);
    assert.equal(resources.length, 1, JSON.stringify(problems));
    assert.deepEqual([...secretReferences(resources).keys()], expected);
  });
}
