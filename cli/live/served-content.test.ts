import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { compile } from '#controlplane/compile/compile.ts';
import { SDS } from '#controlplane/compile/node-groups.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { upstreamsOf } from '#controlplane/upstreams/upstream.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { servedContent } from './served-content.ts';

const ADDRESS = { host: '127.0.0.1', port: 1 };
const folder = mkdtempSync(join(tmpdir(), 'served-'));
after(() => rmSync(folder, { recursive: true }));

const authority = await testAuthority();
const { certificate, key } = await authority.issue('gateway.test');
const save = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const files = {
  ca: save('ca.pem', authority.ca),
  chain: save('tls.crt', certificate),
  key: save('tls.key', key),
};
const base64 = (text: string) => Buffer.from(text).toString('base64');

const SECRETS = [
  `apiVersion: v1\nkind: Secret\nmetadata: {name: ca}\ndata: {ca.crt: ${base64(authority.ca)}}\n`,
  `apiVersion: v1\nkind: Secret\nmetadata: {name: pair}\ntype: kubernetes.io/tls\ndata: {tls.crt: ${base64(certificate)}, tls.key: ${base64(key)}}\n`,
].join('---\n');

/** Returns what a connection of a Mapping with a TLSContext of these settings would use. */
function contentOf(context: string, caFile: string) {
  const text = `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m}\nspec: {prefix: /, service: "https://a.test", tls: c}\n---\napiVersion: gateway.internal/v2\nkind: TLSContext\nmetadata: {name: c}\nspec: {${context}}\n---\n${SECRETS}`;
  const { resources } = resourceSetOf(text);
  const at = { edge: ADDRESS, sds: ADDRESS, rateLimit: ADDRESS, extAuthz: ADDRESS, caFile };
  const upstream = upstreamsOf('edge', compile(resources, 'edge', at)).find(
    ({ cluster }) => cluster === 'a.test',
  );
  assert.ok(upstream?.tls !== undefined && upstream.tls !== 'hop');
  const { authorities, pair } = servedContent(compile(resources, SDS, at))(upstream.tls);
  return { ca: authorities?.toString(), cert: pair?.cert.toString(), key: pair?.key.toString() };
}

const NONE = { ca: undefined, cert: undefined, key: undefined };

for (const [what, context, caFile, expected] of [
  ['the authorities of the machine', 'sni: a.test', files.ca, { ...NONE, ca: authority.ca }],
  ['no authorities that are missing here', 'sni: a.test', '/no/such/file', NONE],
  ['those of a Secret', 'ca_secret: ca', '/no/such/file', { ...NONE, ca: authority.ca }],
  [
    'those of a file of the TLSContext',
    `cacert_chain_file: ${files.ca}`,
    '/no/such/file',
    { ...NONE, ca: authority.ca },
  ],
  [
    'the key pair of a Secret',
    'secret: pair',
    files.ca,
    { ca: authority.ca, cert: certificate, key },
  ],
  [
    'the key pair of files',
    `cert_chain_file: ${files.chain}, private_key_file: ${files.key}`,
    files.ca,
    { ca: authority.ca, cert: certificate, key },
  ],
] as const) {
  test(`a connection that is tried uses ${what}`, () => {
    assert.deepEqual(contentOf(context, caFile), expected);
  });
}
