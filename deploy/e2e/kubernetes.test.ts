import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { BUILT_IN as BUILT_IN_RATE_LIMIT } from '#controlplane/compile/rate-limits/rate-limit-filter.ts';
import { readConfig as readControlplane } from '#controlplane/config.ts';
import { readConfig as readExtAuthz } from '#ext-authz/config.ts';
import { whyNoKubectl } from '#kubernetes/testing/kube-apiserver.ts';
import { readConfig as readRateLimit } from '#ratelimit-service/config.ts';
import { kindNames, SERVED_KINDS } from '#resources/kubernetes/served-kinds.ts';
import { OF_IMAGE } from '../../release/bundle.ts';
import { readConfig as readSds } from '../../sds/config.ts';
import { readConfig as readUserService } from '../../user-service/config.ts';
import { COMPOSE, LIBC_VARIABLE, ROOT } from '../testing/compose-file.ts';
import {
  CONTAINERS,
  containerOf,
  environment,
  MANIFESTS,
  ownEnvironment,
  portNumber,
  WORKLOADS,
} from '../testing/demo-manifests.ts';
import { type Manifest, manifestsOf, named, ofKind } from '../testing/manifests.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type DisruptionBudget = Manifest & {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly unhealthyPodEvictionPolicy?: string;
  };
};

const readFiles = () => '0'.repeat(64);
const READERS: Readonly<Record<string, (env: Environment) => unknown>> = {
  controlplane: readControlplane,
  sds: readSds,
  'ratelimit-service': env => readRateLimit(env, readFiles),
  'ext-authz': env => readExtAuthz(env, readFiles),
  'user-service': readUserService,
};

describe('each pod of the manifests', { skip: whyNoKubectl() ?? false }, () => {
  test('without the sample service they are the same system, and the kinds with their rules for fields', () => {
    const identity = ({ kind, metadata }: Manifest) =>
      `${kind} ${metadata.namespace}/${metadata.name}`;
    const system = manifestsOf('kubernetes');
    const demo = new Set(MANIFESTS.map(identity));
    const others = system.filter(manifest => !demo.has(identity(manifest)));
    assert.deepEqual(
      others.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      SERVED_KINDS.map(kind => kindNames(kind).plural)
        .flatMap(plural => [
          `CustomResourceDefinition ${plural}.gateway.internal`,
          `ValidatingAdmissionPolicy ${plural}.fields.gateway.internal`,
          `ValidatingAdmissionPolicyBinding ${plural}.fields.gateway.internal`,
        ])
        .sort(),
    );
  });

  for (const [service, read] of Object.entries(READERS)) {
    test(`${service} understands each variable that it is given, and its value`, () => {
      const given = ownEnvironment(service);
      const asked = new Set<string>();
      read(
        new Proxy(given, {
          get: (target, name) => {
            asked.add(String(name));
            return Reflect.get(target, name);
          },
        }),
      );
      const parts = (containerOf(service).env ?? []).map(({ value }) => value ?? '').join(' ');
      const useless = Object.keys(given).filter(
        name => !asked.has(name) && name !== LIBC_VARIABLE && !parts.includes(`$(${name})`),
      );
      assert.deepEqual(useless, []);
    });
  }

  test('the store of rate limits has half of the time that the edge waits for them, not less: what is not counted passes', () => {
    const { storeTimeoutMs } = readRateLimit(ownEnvironment('ratelimit-service'), readFiles);
    assert.equal(storeTimeoutMs, BUILT_IN_RATE_LIMIT.timeout_ms / 2);
  });

  test('images are those of compose.yaml', () => {
    const known = new Set(Object.values(COMPOSE.services).map(({ image }) => image));
    for (const [, { image }] of CONTAINERS) assert.ok(known.has(image), image);
  });

  test('every file that a command names is in the image, or mounted', () => {
    for (const [, { name, command = [], volumeMounts = [] }] of CONTAINERS) {
      for (const word of command.filter(each => /^[\w/.-]+\.(js|yaml)$/.test(each))) {
        const mounted = volumeMounts.some(({ mountPath }) => word.startsWith(`${mountPath}/`));
        const isEntry = OF_IMAGE.includes(word.replace(/js$/, 'ts'));
        assert.ok(mounted || isEntry, `${name}: ${word}`);
      }
    }
  });

  test('every container is bounded, has nothing to write to but its volumes, and no token that it does not need', () => {
    for (const [{ metadata, spec }, { name, resources, securityContext }] of CONTAINERS) {
      assert.equal(securityContext.readOnlyRootFilesystem, true, name);
      for (const kind of ['requests', 'limits'] as const) {
        assert.ok(resources[kind].cpu, name);
        assert.ok(resources[kind].memory, name);
      }
      const { automountServiceAccountToken, serviceAccountName, enableServiceLinks } =
        spec.template.spec;
      assert.equal(serviceAccountName, metadata.name);
      assert.equal(
        automountServiceAccountToken,
        ['controlplane', 'sds'].includes(metadata.name),
        name,
      );
      assert.equal(enableServiceLinks, false, name);
    }
  });

  test('a workload with several replicas keeps some of them while machines are drained', () => {
    const budgets = ofKind<DisruptionBudget>(MANIFESTS, 'PodDisruptionBudget');
    const several = WORKLOADS.filter(({ spec }) => spec.replicas > 1);
    assert.deepEqual(several.map(({ metadata }) => metadata.name).sort(), [
      'controlplane',
      'edge',
      'ext-authz',
      'ratelimit-service',
      'sds',
      'user-service',
    ]);
    for (const { metadata, spec } of several) {
      assert.deepEqual(named(budgets, metadata.name).spec.selector, spec.selector);
    }
  });

  test('pods that are not ready keep no machine from being drained', () => {
    for (const { metadata, spec } of ofKind<DisruptionBudget>(MANIFESTS, 'PodDisruptionBudget'))
      assert.equal(spec.unhealthyPodEvictionPolicy, 'AlwaysAllow', metadata.name);
  });

  test('each probe asks where its container answers', () => {
    for (const [, container] of CONTAINERS) {
      const { readinessProbe, livenessProbe, name } = container;
      assert.ok(readinessProbe, name);
      for (const probe of [readinessProbe, livenessProbe ?? {}]) {
        if (probe.httpGet !== undefined) {
          assert.match(probe.httpGet.path, /^\/(healthz|readyz)$/);
          const port = portNumber(container, probe.httpGet.port);
          assert.equal(environment(container).HTTP_ADDRESS, `0.0.0.0:${port}`, name);
        }
        if (probe.tcpSocket !== undefined) portNumber(container, probe.tcpSocket.port);
      }
    }
  });

  test('an instance listens on the loopback only, and its probe asks there', () => {
    const { HOST, PORT } = ownEnvironment('user-service');
    assert.equal(HOST, '127.0.0.1');
    const probe = containerOf('user-service').readinessProbe?.exec?.command.join(' ') ?? '';
    assert.ok(probe.includes(`http://127.0.0.1:${PORT}/user/health`));
  });

  test('what docs/reference/environment.md says about processes are the commands', () => {
    const page = readFileSync(join(ROOT, 'docs/reference/environment.md'), 'utf8');
    for (const service of Object.keys(READERS)) {
      const main = containerOf(service).command?.at(-1);
      assert.ok(page.includes(`\`node ${main}\``), main);
    }
  });
});
