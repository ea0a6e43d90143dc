import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type KubeApiserver,
  kubectlPath,
  startKubeApiserver,
  whyNoKubeApiserver,
  whyNoKubectl,
} from '#kubernetes/testing/kube-apiserver.ts';
import { applyDefinitions } from '#resources/kubernetes/testing/objects.ts';
import { clusterCommands } from '../testing/install-commands.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'readme', 'examples');
const PAGE = 'docs/how-to/back-up.md';
const UPGRADE = 'docs/how-to/upgrade.md';
const KEYS = ['gateway-authority', 'ext-authz-store-key', 'valkey-password'];

/** One of each kind of our own, as people apply them. */
const RESOURCES = readdirSync(EXAMPLES)
  .map(name => readFileSync(join(EXAMPLES, name), 'utf8'))
  .filter(text => /^apiVersion: gateway.internal\//m.test(text))
  .join('\n---\n');

describe('a backup of a cluster', {
  skip: whyNoKubeApiserver() ?? whyNoKubectl() ?? false,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'backup-'));
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    symlinkSync(kubectlPath(), join(folder, 'kubectl'));
    writeFileSync(join(folder, 'own.yaml'), RESOURCES);
  });
  after(async () => {
    await api?.remove();
    rmSync(folder, { recursive: true });
  });

  const run = (line: string) =>
    execFileSync('bash', ['-e', '-o', 'pipefail', '-c', line], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...process.env,
        HOME: folder,
        KUBECONFIG: api.kubeconfig,
        PATH: `${folder}:${process.env.PATH}`,
      },
    });
  /** Kind and name of all that there is of this. */
  const names = (namespace: string, kinds: string) =>
    run(`kubectl -n ${namespace} get ${kinds} -o name`).split('\n').sort();
  const own = () =>
    run('kubectl api-resources --api-group gateway.internal -o name').trim().split('\n').join();

  /** Kinds of our own in a file, each once. */
  const kindsIn = (file: string) =>
    run(
      `kubectl annotate --local -f ${file} a=b -o jsonpath='{.apiVersion} {.kind}{"\\n"}' | grep gateway.internal | sort -u`,
    );

  test('brings back secrets and resources of every kind, which one can apply again', async () => {
    await applyDefinitions(api.admin);
    run('kubectl create namespace gateway && kubectl create namespace gateway-resources');
    for (const name of KEYS)
      run(`kubectl -n gateway create secret generic ${name} --from-literal=key=${name}`);
    run('kubectl -n gateway-resources apply -f own.yaml');
    const kinds = `${own()},secrets`;
    const resources = names('gateway-resources', kinds);
    for (const line of clusterCommands(UPGRADE, 'Check your resources with the new version'))
      run(line);
    assert.deepEqual(kindsIn('all.yaml'), kindsIn('own.yaml'));
    for (const line of clusterCommands(PAGE, 'On Kubernetes')) run(line);
    run(`kubectl -n gateway-resources delete ${kinds} --all`);
    run('kubectl -n gateway delete secret --all');
    for (const line of clusterCommands(PAGE, 'Restore').filter(each => !each.includes('namespace')))
      run(line);
    assert.deepEqual(names('gateway-resources', kinds), resources);
    assert.equal(names('gateway', KEYS.map(name => `secret/${name}`).join(' ')).length, 4);
    run('kubectl -n gateway-resources apply -f own.yaml');
  });
});
