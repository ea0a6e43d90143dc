import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { validate } from '#envoy/e2e/validate.ts';
import { parseHeaderFormat } from '#resources/format/log-format.ts';
import { LOG_OPERATORS } from '#resources/format/log-operators.ts';
import { INTERNAL_HEADERS } from '#resources/words/reserved-headers.ts';
import { compile } from '../compile.ts';
import { RETRIABLE_HEADER } from '../routes/retriable-header.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { staticTestBootstrap } from '../testing/static-test-bootstrap.ts';
import { FUZZ_OPTIONS, written } from '../testing/written.ts';
import { HOST_HEADER } from '../tls/host-header.ts';

const FORMS: readonly string[] = [
  '',
  '()',
  '(a)',
  '(a):5',
  '(a?b)',
  '(%s)',
  '(a:PLAIN)',
  '(a:FIELD:b)',
  '(ROUTE:a:b):5',
  '(a:b:ms)',
  '(DS_RX_BEG:DS_TX_END)',
  '(subject):3',
  '(NUMBER)',
  '(NQ:ORIG)',
  '(DECODED)',
  '(HOST_FIRST:ORIG)',
  '(16)',
];

const OPERATORS = Object.keys(LOG_OPERATORS).flatMap(name => FORMS.map(form => `%${name}${form}%`));
const TEXTS = [
  '%%',
  '100%% of %PROTOCOL%',
  'é 😀',
  ' a ',
  '\t',
  '%%PROTOCOL%%',
  '{{ x }}',
  '$1 \\1',
  'x'.repeat(4096),
];

/** One Mapping may add 100 headers. */
function documents(values: readonly string[]): string {
  const headers = values.map((value, at) => [`x-${at}`, value] as const);
  const parts = Map.groupBy(headers.keys(), at => Math.floor(at / 100));
  const mappings = [...parts].map(([part, at]) => {
    const added = Object.fromEntries(at.map(index => headers[index] ?? ['', '']));
    const spec = {
      prefix: `/${part}/`,
      service: 'a',
      add_request_headers: added,
      add_response_headers: added,
    };
    return written('Mapping', 'default', `m${part}`, spec);
  });
  return mappings.map(mapping => stringify(mapping)).join('---\n');
}

test('Envoy takes each header value that the parser takes', async () => {
  const accepted = [...OPERATORS, ...TEXTS].filter(value => 'value' in parseHeaderFormat(value));
  const named = new Set(accepted.map(value => value.match(/%([A-Z0-9_]+)/)?.[1]));
  assert.ok(
    named.size > Object.keys(LOG_OPERATORS).length - 5,
    'some operator has no form that is taken',
  );
  const { resources, problems } = resourceSetOf(documents(accepted));
  assert.deepEqual(problems, []);
  const compiled = compile(resources, 'edge', FUZZ_OPTIONS);
  assert.equal(await validate(staticTestBootstrap(compiled, [])), undefined);
});

test('no Mapping may touch what the parts of the gateway tell each other', () => {
  assert.deepEqual(INTERNAL_HEADERS, [RETRIABLE_HEADER, HOST_HEADER]);
});
