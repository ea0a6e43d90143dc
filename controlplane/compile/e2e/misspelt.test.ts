import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';

let server: Awaited<ReturnType<typeof startEchoServer>>;
before(async () => {
  server = await startEchoServer('up');
});
after(() => server.close());

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;
const mapping = (name: string, prefix: string, more = '') =>
  document('Mapping', name, `prefix: ${prefix}, service: '${server.address}'${more}`);
const ignoring = (name: string) => document('Module', 'gateway', `config: {ignore: [${name}]}`);

const CASES = [
  { what: 'nothing misspelt', more: () => '', open: 200, guarded: 200 },
  {
    what: 'a method',
    more: () => mapping('m', '/guarded/', ', metod: POST'),
    open: 200,
    guarded: 500,
  },
  {
    what: 'a method that is ignored',
    more: () => mapping('m', '/guarded/', ', metod: POST') + ignoring('metod'),
    open: 200,
    guarded: 200,
  },
  {
    what: 'a list of addresses',
    more: () => document('Module', 'gateway', 'config: {ip_alow: [{peer: 192.0.2.1}]}'),
    open: 500,
    guarded: 500,
  },
  { what: 'an AuthService', more: () => document('AuthServce', 'a', ''), open: 500, guarded: 500 },
  {
    what: 'an AuthService that is ignored',
    more: () => document('AuthServce', 'a', '') + ignoring('AuthService'),
    open: 200,
    guarded: 200,
  },
];

for (const { what, more, open, guarded } of CASES)
  test(`with ${what} Envoy answers ${open} and ${guarded}`, async t => {
    const envoy = await startCompiled(mapping('all', '/') + more());
    t.after(() => envoy.stop());
    const answers = [await envoy.ask('/open'), await envoy.ask('/guarded/x')];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [open, guarded],
    );
  });
