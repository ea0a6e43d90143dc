import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import {
  type KubeApiserver,
  kubectl,
  kubectlPath,
  startKubeApiserver,
  whyNoKubeApiserver,
  whyNoKubectl,
} from '#kubernetes/testing/kube-apiserver.ts';
import { NOT_SERVED } from '#resources/kinds/known-kinds.ts';
import { applyDefinition } from '#resources/kubernetes/testing/objects.ts';
import { fencedBlocks, readDocument } from '../code-blocks.ts';
import { writeShims } from '../play/shims.ts';

const COLLECT = fencedBlocks(readDocument('docs/how-to/migrate-from-ambassador.md')).find(
  ({ marks }) => marks.includes('cluster'),
);

const GROUP = 'getambassador.io';
/** Kinds of its commercial edition alone. */
const OF_EDITION = ['Filter', 'FilterPolicy', 'RateLimit'];
const OF_EMISSARY = [
  ...['Host', 'Listener', 'LogService', 'Mapping', 'Module', 'RateLimitService', 'TLSContext'],
  ...['TracingService', ...Object.keys(NOT_SERVED).filter(kind => !isFirewall(kind))],
];
const FIREWALLS = Object.keys(NOT_SERVED).filter(isFirewall);

function isFirewall(kind: string): boolean {
  return kind.startsWith('WebApplicationFirewall');
}

const pluralOf = (kind: string) => `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');

const object = (kind: string, apiVersion = `${GROUP}/v2`) =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: a }\nspec: {}\n`;

const ANNOTATED = `apiVersion: v1
kind: Service
metadata:
  name: annotated
  annotations:
    ${GROUP}/config: |
      ---
      apiVersion: ambassador/v1
      kind: Mapping
      name: annotated
spec: { ports: [{ port: 80 }] }
`;

describe('the command of the page of Ambassador that collects resources', {
  skip: whyNoKubeApiserver() ?? whyNoKubectl() ?? false,
}, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
  });
  after(() => api?.remove());

  const define = (kind: string, group = GROUP, version = 'v2') =>
    applyDefinition(api.admin, { kind, plural: pluralOf(kind), version }, group);
  const apply = (...documents: readonly string[]) => {
    const { status, stderr } = kubectl(api, ['apply', '-f', '-'], documents.join('---\n'));
    assert.equal(status, 0, stderr);
  };

  test('says that a cluster has none of these kinds', async t => {
    const { code, stderr } = await collect(t, api.kubeconfig);
    assert.notEqual(code, 0);
    assert.match(stderr, /doesn't have a resource type/);
  });

  test('takes every kind of Emissary, which lacks those of the commercial edition', async t => {
    for (const kind of OF_EMISSARY) await define(kind);
    apply(...OF_EMISSARY.map(kind => object(kind)), ANNOTATED);
    const { all, annotations, stdout } = await collect(t, api.kubeconfig);
    for (const kind of OF_EMISSARY) assert.match(all, new RegExp(`^ {2}kind: ${kind}$`, 'm'));
    assert.match(annotations, /^kind: Mapping\nname: annotated$/m);
    assert.match(stdout, /AuthService .*Every path of the edge answers 500/);
    assert.match(stdout, /annotations\.yaml:\d+, apiVersion\): `ambassador\/v1` is not read/);
  });

  test('takes every kind of the commercial edition, of each of its groups', async t => {
    for (const kind of OF_EDITION) await define(kind);
    const more = [...FIREWALLS, 'Filter'];
    for (const kind of more) await define(kind, `gateway.${GROUP}`, 'v1alpha1');
    apply(
      ...OF_EDITION.map(kind => object(kind)),
      ...more.map(kind => object(kind, `gateway.${GROUP}/v1alpha1`)),
    );
    const { all, stdout } = await collect(t, api.kubeconfig);
    for (const kind of [...OF_EMISSARY, ...OF_EDITION, ...more])
      assert.match(all, new RegExp(`^ {2}kind: ${kind}$`, 'm'));
    assert.equal(all.match(/^ {2}kind: Filter$/gm)?.length, 2);
    assert.match(stdout, /WebApplicationFirewallPolicy .*Every path of the edge answers 500/);
  });

  test('stops at a kind that may not be read', async t => {
    const kinds = [...OF_EMISSARY, ...OF_EDITION].filter(kind => kind !== 'AuthService');
    apply(readerOf(kinds.map(pluralOf)));
    const kubeconfig = await api.writeKubeconfig('reader', await tokenOf('reader'));
    const { code, stderr, stdout } = await collect(t, kubeconfig);
    assert.notEqual(code, 0);
    assert.match(stderr, /authservices\.getambassador\.io is forbidden/);
    assert.equal(stdout, '', 'validate is not run');
  });

  async function tokenOf(name: string): Promise<string> {
    const { status, stdout, stderr } = kubectl(api, ['create', 'token', name]);
    assert.equal(status, 0, stderr);
    return stdout.trim();
  }
});

function readerOf(resources: readonly string[]): string {
  const rules = [
    { apiGroups: [GROUP, `gateway.${GROUP}`], resources, verbs: ['list'] },
    { apiGroups: ['', 'networking.k8s.io'], resources: ['services', 'ingresses'], verbs: ['list'] },
  ];
  const metadata = { name: 'reader', namespace: 'default' };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' };
  const subjects = [{ kind: 'ServiceAccount', ...metadata }];
  const rbac = 'rbac.authorization.k8s.io/v1';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: rbac, kind: 'ClusterRole', metadata, rules },
    { apiVersion: rbac, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
  ]
    .map(each => `${JSON.stringify(each)}\n`)
    .join('---\n');
}

type Collected = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly all: string;
  readonly annotations: string;
};

/** Runs the command in an empty folder. */
async function collect(t: TestContext, kubeconfig: string): Promise<Collected> {
  const folder = mkdtempSync(join(tmpdir(), 'from-ambassador-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const resources = join(folder, 'my-site', 'resources');
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeShims(bin, 0);
  symlinkSync(kubectlPath(), join(bin, 'kubectl'));
  const env = { ...process.env, KUBECONFIG: kubeconfig, PATH: `${bin}:${process.env.PATH}` };
  return new Promise(resolve => {
    execFile('sh', ['-c', COLLECT?.code ?? ''], { cwd: folder, env }, (error, stdout, stderr) => {
      const read = (name: string) => {
        try {
          return readFileSync(join(resources, name), 'utf8');
        } catch {
          return '';
        }
      };
      const written = { all: read('all.yaml'), annotations: read('annotations.yaml') };
      resolve({ code: Number(error?.code ?? 0), stdout, stderr, ...written });
    });
  });
}
