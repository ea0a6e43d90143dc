import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isKubernetesObject, type KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { resourcePath } from '#kubernetes/resource.ts';
import {
  type KubeApiserver,
  kubectl,
  startKubeApiserver,
  whyNoKubeApiserver,
  whyNoKubectl,
} from '#kubernetes/testing/kube-apiserver.ts';
import { createObject, patchObject } from '#kubernetes/write.ts';
import { seededRandom } from '#protos/testing/random.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { disturb } from '#resources/testing/disturb.ts';
import { toldProblems } from '#resources/testing/told-problems.ts';
import { fieldPolicies } from '../field-policies.ts';
import { SERVED_KINDS } from '../served-kinds.ts';
import {
  applyDefinitions,
  collectionOf,
  create,
  type Document,
  patch,
} from '../testing/objects.ts';
import { documentsOf, wouldKeep } from '../testing/same-as-folder.ts';

const EXAMPLES = join(import.meta.dirname, '../../../readme/examples');
const DOCUMENTS: readonly Document[] = SERVED_KINDS.map(kind =>
  kind.replace(/(?<=[a-z])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])/g, '-$&').toLowerCase(),
).flatMap(name => documentsOf(readFileSync(join(EXAMPLES, `${name}.yaml`), 'utf8')));
const OURS = DOCUMENTS.filter(({ apiVersion }) => apiVersion === 'gateway.internal/v2');

const mapping = (name: string, spec: object): Document => ({
  apiVersion: 'gateway.internal/v2',
  kind: 'Mapping',
  metadata: { name },
  spec: { prefix: '/a/', service: 'a', ...spec },
});

describe('the API server with the policies of fields', {
  skip: whyNoKubeApiserver() ?? false,
}, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    await applyDefinitions(api.admin);
    assert.equal((await create(api.admin, mapping('old', { prefx: 1 }))).kind, 'written');
    for (const object of fieldPolicies('gateway.internal') as readonly KubernetesObject[]) {
      const plural = object.kind === 'ValidatingAdmissionPolicy' ? 'policies' : 'policybindings';
      const resource = {
        group: 'admissionregistration.k8s.io',
        version: 'v1',
        plural: `validatingadmission${plural}`,
      };
      const written = await createObject({ cluster: api.admin, resource }, object);
      assert.equal(written.kind, 'written', JSON.stringify(written));
    }
    // The server follows its policies some time later. Those of all kinds come one by one.
    for (const document of OURS)
      while (typeof (await wouldKeep(api.admin, { ...document, unknown: 1 })) !== 'string');
  });
  after(() => api?.remove());

  test('type-checks every policy', async () => {
    const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
    const { body } = await api.admin.call({ method: 'GET', path });
    const { items } = body as { items: { status?: { typeChecking?: object }; metadata: object }[] };
    assert.equal(items.length, SERVED_KINDS.length);
    for (const { metadata, status } of items)
      assert.deepEqual(status?.typeChecking ?? {}, {}, JSON.stringify(metadata));
  });

  test('keeps every example', async () => {
    for (const document of OURS) {
      const kept = await wouldKeep(api.admin, document);
      assert.ok(typeof kept !== 'string', String(kept));
    }
  });

  const refused: readonly (readonly [string, Document, RegExp])[] = [
    ['a typo', mapping('a', { prefx: '/a/' }), /spec has an unknown field: prefx$/],
    [
      'two typos',
      mapping('a', { metod: 'GET', servce: 'a' }),
      /spec .*: (metod, servce|servce, metod)$/,
    ],
    [
      'a typo in an object',
      mapping('a', { retry_policy: { retry: 1 } }),
      /spec\.retry_policy .*: retry$/,
    ],
    [
      'a field beside `spec`',
      { ...mapping('a', {}), prefix: '/' },
      /the object has an unknown field: prefix$/,
    ],
    [
      'a typo in an item of a list',
      {
        apiVersion: 'gateway.internal/v2',
        kind: 'RateLimit',
        metadata: { name: 'a' },
        spec: { limits: [{ rate: 1, unit: 'second', pattern: [] }, { rates: 1 }] },
      },
      /spec\.limits\[\] has an unknown field. It knows name, action, labels, pattern, rate/,
    ],
    ['a wrong word', mapping('a', { resolver: 'dsn' }), /spec\.resolver: .*should match/],
  ];
  for (const [what, document, message] of refused)
    test(`refuses ${what}, as kubectl applies it`, async () => {
      const resource = collectionOf(document);
      for (const fieldValidation of ['Strict', 'Ignore']) {
        const { body, status } = await api.admin.call({
          ...{ method: 'POST', path: resourcePath(resource), body: document },
          query: { dryRun: 'All', fieldValidation },
        });
        assert.ok(status === 422 || status === 403, JSON.stringify(body));
        assert.match((body as { message: string }).message, message);
      }
    });

  test('keeps what the parser reads: other letter case, other names, restrictions that are not served', async () => {
    const spec = {
      Prefix: '/b/',
      hostname: 'a.example',
      ambassador_id: 'x',
      envoy_override: { a: 1 },
    };
    const kept = await wouldKeep(api.admin, mapping('a', spec));
    assert.ok(isKubernetesObject(kept), String(kept));
    assert.deepEqual(kept.spec, { prefix: '/a/', service: 'a', ...spec });
  });

  test('has kubectl name a typo and a wrong word', { skip: whyNoKubectl() ?? false }, () => {
    for (const validate of ['strict', 'ignore'])
      for (const [spec, message] of [
        [{ prefx: '/a/' }, /spec has an unknown field: prefx/],
        [{ resolver: 'dsn' }, /spec\.resolver: Invalid value: "dsn"/],
      ] as const) {
        const input = JSON.stringify(mapping('typo', spec));
        const args = ['apply', `--validate=${validate}`, '-f', '-'];
        const { status, stderr } = kubectl(api, args, input);
        assert.equal(status, 1);
        assert.match(stderr, message);
      }
    const right = kubectl(api, ['apply', '-f', '-'], JSON.stringify(mapping('right', {})));
    assert.deepEqual([right.status, right.stderr], [0, '']);
  });

  test('keeps as many limits as an object holds, and looks at all of them', async () => {
    const limits = Array.from({ length: 5_000 }, (_, index) => ({
      ...{ rate: index, unit: 'second', pattern: [{ generic_key: `label-${index}` }] },
    }));
    const large = (all: readonly object[]): Document => ({
      apiVersion: 'gateway.internal/v2',
      kind: 'RateLimit',
      metadata: { name: 'large' },
      spec: { limits: all },
    });
    const kept = await wouldKeep(api.admin, large(limits));
    assert.ok(isKubernetesObject(kept), String(kept));
    assert.match(
      String(await wouldKeep(api.admin, large([...limits, { rates: 1 }]))),
      /unknown field/,
    );
  });

  test('lets an object that was stored before be labelled, and not be written again', async () => {
    const old = mapping('old', {});
    const labelled = await patch(api.admin, old, { metadata: { labels: { a: 'b' } } });
    assert.equal(labelled.kind, 'written', JSON.stringify(labelled));
    const resource = collectionOf(old);
    const written = await patchObject({ cluster: api.admin, resource }, 'old', {
      spec: { service: 'b' },
    });
    assert.match(JSON.stringify(written), /spec has an unknown field: prefx/);
    const corrected = await patch(api.admin, old, { spec: { prefx: null } });
    assert.equal(corrected.kind, 'written', JSON.stringify(corrected));
  });

  for (const seed of [51, 52])
    test(`refuses an unknown field when the parser does not know it (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      let refusals = 0;
      for (let index = 0; index < 150; index++) {
        const document = OURS[Math.floor(random() * OURS.length)] as Document;
        const odd = { ...document, spec: disturb(structuredClone(document.spec), random) };
        const kept = await wouldKeep(api.admin, odd);
        const problems = toldProblems(
          parseFile('a.yaml', JSON.stringify(odd), DEFAULT_PARSE_OPTIONS),
        );
        const unknown = problems.filter(({ message }) => /^unknown field/.test(message));
        const shown = `${kept}\n${JSON.stringify(odd)}\n${JSON.stringify(problems)}`;
        if (typeof kept !== 'string') assert.deepEqual(unknown.filter(isLooked), [], shown);
        else if (/unknown field/.test(kept)) {
          refusals += 1;
          assert.ok(problems.length > 0, shown);
        }
      }
      assert.ok(refusals > 2, String(refusals));
    });
});

/** Items of lenient lists and fields that are left out by themselves are the parser's alone. */
function isLooked({ field = '' }: { readonly field?: string }): boolean {
  return !/error_response_overrides|custom_tags|tag_headers|additional_log_headers|config\.(default_labels|\w+\.)/.test(
    field,
  );
}
