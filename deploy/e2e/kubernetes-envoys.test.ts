import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isBehindEdge } from '#controlplane/compile/node-groups.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { identitySecret } from '#envoy/identity-tls.ts';
import { OVERLOAD_MANAGER } from '#envoy/overload-manager.ts';
import { whyNoKubectl } from '#kubernetes/testing/kube-apiserver.ts';
import { ROOT } from '../testing/compose-file.ts';
import { CONTAINERS, MANIFESTS } from '../testing/demo-manifests.ts';
import { type Manifest, ofKind } from '../testing/manifests.ts';

type ConfigMap = Manifest & { readonly data: Readonly<Record<string, string>> };

const TLS_FOLDER = '/run/identity';
const CONFIGURATION = '/etc/gateway';

/** The files of the Envoys, and their expected content. */
const FILES = {
  'system/edge.bootstrap.yaml': bootstrapOf('edge'),
  'demo/user-service.bootstrap.yaml': bootstrapOf('user-service'),
  'system/identity.yaml': identitySecret('identity', TLS_FOLDER),
  'system/roots.yaml': identitySecret('roots', TLS_FOLDER),
};

function bootstrapOf(group: string) {
  return bootstrap({
    nodeId: group,
    group,
    isBehindEdge: isBehindEdge(group),
    xdsAddress: 'controlplane:18000',
    sdsAddress: 'sds:18003',
    // The loopback of a pod, which no other pod reaches.
    adminAddress: '127.0.0.1:9901',
    statsAddress: '0.0.0.0:9902',
    identity: {
      tlsFolder: TLS_FOLDER,
      secretsFolder: CONFIGURATION,
      trustDomain: 'gateway.internal',
    },
  });
}

for (const [file, json] of Object.entries(FILES)) {
  // After a change to envoy/bootstrap.ts: node --test --test-update-snapshots
  // deploy/e2e/kubernetes-envoys.test.ts
  test(`${file} is what \`gateway bootstrap\` gives`, t => {
    t.assert.fileSnapshot(toEnvoyYaml(json), join(ROOT, 'deploy/kubernetes', file), {
      serializers: [String],
    });
  });
}

describe('each Envoy of the manifests', { skip: whyNoKubectl() ?? false }, () => {
  const envoys = CONTAINERS.filter(([, { image }]) => image.startsWith('envoyproxy/')).map(
    ([workload, container]) => ({ workload, container, pod: workload.spec.template.spec }),
  );

  test('starts with the bootstrap of its group, by the name of its pod, and finds its files', () => {
    assert.equal(envoys.length, 2);
    for (const { workload, container, pod } of envoys) {
      const { command = [], volumeMounts = [], env = [] } = container;
      const group = workload.metadata.name;
      assert.equal(command[command.indexOf('-c') + 1], `${CONFIGURATION}/${group}.bootstrap.yaml`);
      assert.equal(command[command.indexOf('--service-node') + 1], '$(POD_NAME)');
      assert.equal(
        env.find(({ name }) => name === 'POD_NAME')?.valueFrom?.fieldRef?.fieldPath,
        'metadata.name',
      );
      const mounted = new Map(volumeMounts.map(({ name, mountPath }) => [mountPath, name]));
      const { projected } =
        pod.volumes?.find(({ name }) => name === mounted.get(CONFIGURATION)) ?? {};
      const maps = projected?.sources.map(({ configMap }) =>
        configMap?.name.replace(/-[a-z0-9]{10}$/, ''),
      );
      assert.deepEqual(maps, [`${group}-bootstrap`, 'proxy-identity']);
      assert.ok(mounted.has(TLS_FOLDER));
    }
  });

  test('sheds load before its container is killed for want of memory, and has a CPU for each worker', () => {
    const heap = /"max_heap_size_bytes":(\d+)/.exec(JSON.stringify(OVERLOAD_MANAGER))?.[1];
    for (const { container } of envoys) {
      const { command = [], resources } = container;
      const { cpu, memory } = resources.limits;
      assert.match(memory, /^\d+Mi$/);
      assert.ok(Number.parseInt(memory, 10) * 2 ** 20 > Number(heap));
      assert.equal(command[command.indexOf('--concurrency') + 1], cpu);
    }
  });

  // deploy/e2e/drain-envoy.test.ts tests what the script does to an Envoy.
  test('drains before it ends, and is not killed meanwhile', () => {
    for (const { container, pod } of envoys) {
      const [shell, script, ...seconds] = container.lifecycle?.preStop.exec?.command ?? [];
      assert.deepEqual([shell, script], ['bash', `${CONFIGURATION}/drain-envoy.sh`]);
      assert.equal(seconds.length, 2);
      const longest = Number(seconds[0]) + Number(seconds[1]);
      assert.ok(longest + 10 <= (pod.terminationGracePeriodSeconds ?? 30), `${longest} s`);
    }
  });

  test('finds the script beside its bootstrap', () => {
    const { data = {} } =
      ofKind<ConfigMap>(MANIFESTS, 'ConfigMap').find(({ metadata }) =>
        /^proxy-identity-/.test(metadata.name),
      ) ?? {};
    assert.deepEqual(Object.keys(data).sort(), ['drain-envoy.sh', 'identity.yaml', 'roots.yaml']);
  });
});
