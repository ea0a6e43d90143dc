import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { kindNames, SERVED_KINDS } from '#resources/kubernetes/served-kinds.ts';
import { readConfig as readControlplane } from '../controlplane/config.ts';
import { readConfig as readExtAuthz } from '../ext-authz/config.ts';
import { whyNoKubectl } from '../kubernetes/testing/kube-apiserver.ts';
import { readConfig as readRateLimit } from '../ratelimit-service/config.ts';
import { readConfig as readSds } from '../sds/config.ts';
import { readConfig as readUserService } from '../user-service/config.ts';
import { COMPOSE, composeService, ROOT } from './testing/compose-file.ts';
import {
  type Container,
  containersOf,
  environmentOf,
  type Manifest,
  manifestsOf,
  named,
  ofKind,
  workloadsOf,
} from './testing/manifests.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Role = Manifest & {
  readonly rules: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
};
type Service = Manifest & {
  readonly spec: {
    readonly clusterIP?: string;
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
  };
};
type DisruptionBudget = Manifest & {
  readonly spec: { readonly selector: { readonly matchLabels: Readonly<Record<string, string>> } };
};

const readFiles = () => '0'.repeat(64);
const READERS: Readonly<Record<string, (env: Environment) => unknown>> = {
  controlplane: readControlplane,
  sds: readSds,
  'ratelimit-service': env => readRateLimit(env, readFiles),
  'ext-authz': env => readExtAuthz(env, readFiles),
  'user-service': readUserService,
};

describe('the manifests', { skip: whyNoKubectl() ?? false }, () => {
  const manifests = whyNoKubectl() === undefined ? manifestsOf('kubernetes/demo') : [];
  const workloads = workloadsOf(manifests);
  const services = ofKind<Service>(manifests, 'Service');
  const containers = workloads.flatMap(workload =>
    containersOf(workload).map(container => [workload, container] as const),
  );
  const environment = (container: Container) => environmentOf(container, ({ name }) => `the-${name}`);
  const own = (name: string) => environment(containerOf(name));
  const containerOf = (name: string) => {
    const [, found] = containers.find(([, container]) => container.name === name) ?? [];
    assert.ok(found, name);
    return found;
  };
  const portNumber = ({ name, ports = [] }: Container, port = '') => {
    const found = ports.find(each => each.name === port)?.containerPort;
    assert.ok(found, `${name} has no port ${port}`);
    return found;
  };

  test('without the sample service they are the same system, and the definitions of our kinds', () => {
    const identity = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace}/${metadata.name}`;
    const system = manifestsOf('kubernetes');
    const demo = new Set(manifests.map(identity));
    const others = system.filter(manifest => !demo.has(identity(manifest)));
    assert.deepEqual(
      others.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      SERVED_KINDS.map(kind => `CustomResourceDefinition ${kindNames(kind).plural}.gateway.internal`).sort(),
    );
  });

  for (const [service, read] of Object.entries(READERS)) {
    test(`${service} understands each variable that it is given, and its value`, () => {
      const given = own(service);
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
      const useless = Object.keys(given).filter(name => !asked.has(name) && !parts.includes(`$(${name})`));
      assert.deepEqual(useless, []);
    });
  }

  test('images are those of compose.yaml', () => {
    const known = new Set(Object.values(COMPOSE.services).map(({ image }) => image));
    for (const [, { image }] of containers) assert.ok(known.has(image), image);
  });

  test('every file that a command names is in the image, or mounted', () => {
    for (const [, { name, command = [], volumeMounts = [] }] of containers) {
      for (const word of command.filter(each => /^[\w/.-]+\.(ts|yaml)$/.test(each))) {
        const mounted = volumeMounts.some(({ mountPath }) => word.startsWith(`${mountPath}/`));
        assert.ok(mounted || existsSync(join(ROOT, word)), `${name}: ${word}`);
      }
    }
  });

  test('every container is bounded, has nothing to write to but its volumes, and no token that it does not need', () => {
    for (const [{ metadata, spec }, { name, resources, securityContext }] of containers) {
      assert.equal(securityContext.readOnlyRootFilesystem, true, name);
      for (const kind of ['requests', 'limits'] as const) {
        assert.ok(resources[kind].cpu, name);
        assert.ok(resources[kind].memory, name);
      }
      const { automountServiceAccountToken, serviceAccountName, enableServiceLinks } = spec.template.spec;
      assert.equal(serviceAccountName, metadata.name);
      assert.equal(automountServiceAccountToken, ['controlplane', 'sds'].includes(metadata.name), name);
      assert.equal(enableServiceLinks, false, name);
    }
  });

  test('what has several replicas keeps some of them, whoever drains machines', () => {
    const budgets = ofKind<DisruptionBudget>(manifests, 'PodDisruptionBudget');
    const several = workloads.filter(({ spec }) => spec.replicas > 1);
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

  test('each service leads to the pods of its name, at a port that they have', () => {
    for (const { metadata, spec } of services) {
      const workload = named(workloads, metadata.name);
      assert.deepEqual(spec.selector, workload.spec.selector.matchLabels);
      for (const { targetPort } of spec.ports) {
        const ports = containersOf(workload).flatMap(({ ports: each = [] }) => each.map(({ name }) => name));
        assert.ok(ports.includes(targetPort), `${metadata.name}: ${targetPort}`);
      }
    }
  });

  test('whoever looks for a service finds it: by its name, at the port where it listens', () => {
    const lookers: readonly (readonly [string, string, string, string])[] = [
      ['controlplane', 'SDS_ADDRESS', 'sds', 'ADDRESS'],
      ['controlplane', 'EXT_AUTHZ_ADDRESS', 'ext-authz', 'ADDRESS'],
      ['controlplane', 'RATELIMIT_ADDRESS', 'ratelimit-service', 'ADDRESS'],
      ...['sds', 'ext-authz', 'ratelimit-service'].map(
        service => [service, 'XDS_ADDRESS', 'controlplane', 'XDS_ADDRESS'] as const,
      ),
    ];
    for (const [service, variable, other, listens] of lookers) {
      const { spec } = named(services, other);
      const [port] = spec.ports;
      assert.equal(own(service)[variable], `${other}:${port?.port}`);
      assert.equal(own(other)[listens], `0.0.0.0:${portNumber(containerOf(other), port?.targetPort)}`);
    }
  });

  test('the edge listens where its ports are, and sends people to the port that they see', () => {
    const { EDGE_ADDRESS, EDGE_TLS_ADDRESS, EDGE_HTTPS_PORT } = own('controlplane');
    const edge = containerOf('edge');
    assert.equal(EDGE_ADDRESS, `0.0.0.0:${portNumber(edge, 'http')}`);
    assert.equal(EDGE_TLS_ADDRESS, `0.0.0.0:${portNumber(edge, 'https')}`);
    const https = named(services, 'edge').spec.ports.find(({ targetPort }) => targetPort === 'https');
    assert.equal(EDGE_HTTPS_PORT, String(https?.port));
  });

  test('each probe asks where its container answers', () => {
    for (const [, container] of containers) {
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
    const { HOST, PORT } = own('user-service');
    assert.equal(HOST, '127.0.0.1');
    const probe = containerOf('user-service').readinessProbe?.exec?.command.join(' ') ?? '';
    assert.ok(probe.includes(`http://127.0.0.1:${PORT}/user/health`));
  });

  test('a database password of any characters that the README makes is one in a URL', () => {
    const { POSTGRES_USER, POSTGRES_DB } = composeService('postgres').environment ?? {};
    const { username, host, pathname } = new URL(own('user-service').DATABASE_URL ?? '');
    assert.deepEqual([username, host, pathname], [POSTGRES_USER, 'postgres:5432', `/${POSTGRES_DB}`]);
    const postgres = containerOf('postgres').env ?? [];
    for (const [name, value] of Object.entries({ POSTGRES_USER, POSTGRES_DB }))
      assert.equal(postgres.find(each => each.name === name)?.value, value);
  });

  test('every process proves itself by its own identity, which sds writes and nobody else mounts', () => {
    const { IDENTITY_SECRETS = '', IDENTITIES, IDENTITY_FOLDER, TLS_FOLDER } = own('sds');
    const groups = IDENTITY_SECRETS.split(',');
    const mounted = workloads.flatMap(({ metadata, spec }) => {
      const volume = spec.template.spec.volumes?.find(({ name }) => name === 'identity')?.secret;
      return volume === undefined ? [] : [[metadata.name, volume.secretName]];
    });
    assert.deepEqual(
      Object.fromEntries(mounted),
      Object.fromEntries(groups.map(group => [group, `gateway-identity-${group}`])),
    );
    for (const [{ metadata }, container] of containers) {
      const mount = container.volumeMounts?.find(({ name }) => name === 'identity');
      if (mount === undefined || metadata.name === 'sds') continue;
      assert.notEqual(container.name, 'user-service', 'the instance needs no identity');
      assert.equal(environment(container).TLS_FOLDER ?? mount.mountPath, mount.mountPath);
    }
    assert.equal(TLS_FOLDER, `${IDENTITY_FOLDER}/${IDENTITIES}`);
  });

  test('sds may read and write the Secrets that it keeps, and no others', () => {
    const { IDENTITY_SECRETS = '', AUTHORITY_SECRET } = own('sds');
    const { rules } = named(ofKind<Role>(manifests, 'Role'), 'sds');
    const expected = [
      AUTHORITY_SECRET,
      ...IDENTITY_SECRETS.split(',').map(group => `gateway-identity-${group}`),
    ];
    const [create, kept, ...others] = rules;
    assert.deepEqual(create?.verbs, ['create']);
    assert.deepEqual(kept?.resourceNames, expected);
    assert.deepEqual(others, []);
  });

  test('the control plane may read every kind, and write its status', () => {
    const { rules } = named(ofKind<Role>(manifests, 'ClusterRole'), 'gateway-resources');
    const plurals = SERVED_KINDS.map(kind => kindNames(kind).plural).sort();
    assert.deepEqual([...(rules[0]?.resources ?? [])].sort(), plurals);
    assert.deepEqual(
      [...(rules[1]?.resources ?? [])].sort(),
      plurals.map(plural => `${plural}/status`),
    );
    assert.deepEqual(
      rules.map(({ verbs }) => verbs),
      [['list', 'watch'], ['patch'], ['list', 'watch']],
    );
  });

  test('what the README says about processes are the commands', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    for (const service of Object.keys(READERS)) {
      const main = containerOf(service).command?.at(-1);
      assert.ok(readme.includes(`\`node ${main}\``), main);
    }
  });
});
