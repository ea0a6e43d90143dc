import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { nodeGroups } from '#controlplane/compile/all-node-groups.ts';
import { compile } from '#controlplane/compile/compile.ts';
import { SERVICE_GROUPS } from '#controlplane/compile/node-groups.ts';
import { randomDocuments } from '#controlplane/compile/testing/random-documents.ts';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { makeNamespace } from '#kubernetes/testing/service-account.ts';
import { seededRandom } from '#protos/testing/random.ts';
import { collect } from '#resources/parse/collect.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { disturb } from '#resources/testing/disturb.ts';
import { snapshotVersion } from '#xds/snapshot.ts';
import { SERVED_KINDS } from '../served-kinds.ts';
import { applyDefinitions, type Document } from '../testing/objects.ts';
import { documentsOf, parseBoth, substance, wouldKeep } from '../testing/same-as-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FOLDERS = [
  'readme/examples',
  'controlplane/compile/testdata',
  'deploy/compose/resources',
  'envoy/resources',
];
const GROUPS = ['gateway.internal', 'getambassador.io'];

const EXAMPLES: readonly (readonly [string, string])[] = FOLDERS.flatMap(folder =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.yaml') && !name.endsWith('.out.yaml'))
    .map(name => [`${folder}/${name}`, readFileSync(join(ROOT, folder, name), 'utf8')] as const),
);

const isServed = ({ apiVersion, kind }: Document) =>
  apiVersion === 'v1'
    ? kind === 'Secret'
    : GROUPS.some(group => apiVersion === `${group}/v2`) &&
      SERVED_KINDS.some(served => served === kind);

describe('a document in Kubernetes', { skip: whyNoKubeApiserver() ?? false }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    for (const group of GROUPS) await applyDefinitions(api.admin, group);
    const documents = EXAMPLES.flatMap(([, text]) => documentsOf(text)).filter(isServed);
    const namespaces = new Set(documents.map(({ metadata }) => metadata.namespace ?? 'default'));
    for (const namespace of namespaces) await makeNamespace(api.admin, namespace);
  });
  after(() => api?.remove());

  /**
   * The parser rejects whatever the server rejects, or takes it in part. What the server keeps
   * means the same as in a file.
   */
  async function check(document: Document) {
    const kept = await wouldKeep(api.admin, document);
    if (typeof kept === 'string') {
      const { file } = parseBoth(document, document);
      const shown = `${kept}\n${JSON.stringify(document)}`;
      const whole = file.resources.filter(({ partial }) => partial !== true);
      assert.deepEqual(whole, [], `the API refuses what the parser takes: ${shown}`);
      return undefined;
    }
    // The API names the namespace of every object, in which its services are then, and its age.
    const { creationTimestamp } = kept.metadata;
    const named = {
      ...document,
      metadata: { namespace: 'default', ...document.metadata, creationTimestamp },
    };
    const { file, api: read } = parseBoth(named, kept);
    assert.deepEqual(substance(read), substance(file), JSON.stringify(document));
    return { file, api: read };
  }

  for (const [name, text] of EXAMPLES) {
    test(`is compiled to what it is in a folder: ${name}`, async () => {
      const checked = await Promise.all(documentsOf(text).filter(isServed).map(check));
      const kept = checked.filter(both => both !== undefined);
      assert.deepEqual(
        compiled(kept.map(({ api: read }) => read)),
        compiled(kept.map(({ file }) => file)),
      );
    });
  }

  for (const seed of [11]) {
    test(`means what it means in a folder, when it is random (seed ${seed})`, async () => {
      const results = await Promise.all((randomDocuments(seed, 120) as Document[]).map(check));
      assert.ok(results.filter(result => result !== undefined).length > 60);
    });
  }

  for (const seed of [21, 22]) {
    test(`means what it means in a folder, when something odd stands in it (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const documents = EXAMPLES.flatMap(([, text]) => documentsOf(text)).filter(
        document => isServed(document) && document.kind !== 'Secret',
      );
      const odd = Array.from({ length: 150 }, () => {
        const document = structuredClone(
          documents[Math.floor(random() * documents.length)] as Document,
        );
        return { ...document, spec: disturb(document.spec, random) };
      });
      const results = await Promise.all(odd.map(check));
      const kept = results.filter(result => result !== undefined).length;
      assert.ok(kept > 24 && kept < 145, `${kept} of ${results.length} were kept`);
    });
  }
});

const ADDRESS = { host: '127.0.0.1', port: 1 };
const OPTIONS = { edge: ADDRESS, sds: ADDRESS, rateLimit: ADDRESS, extAuthz: ADDRESS };

/** What every node group gets of these. */
function compiled(files: readonly ParsedFile[]): object {
  const { resources, rejected } = collect(files);
  const set = toResourceSet(resources.values(), rejected.values());
  const groups = [...SERVICE_GROUPS, ...nodeGroups(set)];
  const encode = snapshotEncoder(Buffer.alloc(32));
  return groups.map(group => {
    const messages = compile(set, group, OPTIONS);
    return [group, snapshotVersion(encode(messages)), messages.resources];
  });
}
