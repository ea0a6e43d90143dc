import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { whyNoKubectl } from '#kubernetes/testing/kube-apiserver.ts';
import { kindNames, SERVED_KINDS } from '#resources/kubernetes/served-kinds.ts';
import { composeService } from '../testing/compose-file.ts';
import {
  CONTAINERS,
  containerOf,
  environment,
  MANIFESTS,
  ownEnvironment,
  portNumber,
  WORKLOADS,
} from '../testing/demo-manifests.ts';
import { containersOf, type Manifest, named, ofKind } from '../testing/manifests.ts';

type Role = Manifest & {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
};
type Service = Manifest & {
  readonly spec: {
    readonly clusterIP?: string;
    readonly publishNotReadyAddresses?: boolean;
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
  };
};

const SERVICES = ofKind<Service>(MANIFESTS, 'Service');
/** The Service that leads to each control plane, and not to one of them. */
const EACH = 'controlplanes';

describe('the pods of the manifests', { skip: whyNoKubectl() ?? false }, () => {
  test('each service leads to the pods of its name, at a port that they have', () => {
    for (const { metadata, spec } of SERVICES) {
      const workload = named(WORKLOADS, metadata.name === EACH ? 'controlplane' : metadata.name);
      assert.deepEqual(spec.selector, workload.spec.selector.matchLabels);
      for (const { targetPort } of spec.ports) {
        const ports = containersOf(workload).flatMap(({ ports: each = [] }) =>
          each.map(({ name }) => name),
        );
        assert.ok(ports.includes(targetPort), `${metadata.name}: ${targetPort}`);
      }
    }
  });

  test('every service is found by its name, at the port where it listens', () => {
    const lookers: readonly (readonly [string, string, string, string])[] = [
      ['controlplane', 'SDS_ADDRESS', 'sds', 'ADDRESS'],
      ['controlplane', 'EXT_AUTHZ_ADDRESS', 'ext-authz', 'ADDRESS'],
      ['controlplane', 'RATELIMIT_ADDRESS', 'ratelimit-service', 'ADDRESS'],
      ...['sds', 'ext-authz', 'ratelimit-service'].map(
        service => [service, 'XDS_ADDRESS', 'controlplane', 'XDS_ADDRESS'] as const,
      ),
    ];
    for (const [service, variable, other, listens] of lookers) {
      const { spec } = named(SERVICES, other);
      const [port] = spec.ports;
      assert.equal(
        ownEnvironment(service)[variable]?.replace('.gateway.svc', ''),
        `${other}:${port?.port}`,
      );
      assert.equal(
        ownEnvironment(other)[listens],
        `0.0.0.0:${portNumber(containerOf(other), port?.targetPort)}`,
      );
    }
  });

  test('who reports finds every control plane, also one that is not ready yet: DNS has them, without their ports', () => {
    const { clusterIP, publishNotReadyAddresses } = named(SERVICES, EACH).spec;
    assert.deepEqual([clusterIP, publishNotReadyAddresses], ['None', true]);
    const address = `${EACH}:${portNumber(containerOf('controlplane'), 'xds')}`;
    for (const service of ['sds', 'ext-authz', 'ratelimit-service'])
      assert.equal(ownEnvironment(service).REPORT_ADDRESSES, address);
  });

  test('counters and sessions are apart: full, counters go, and sessions stay', () => {
    const storeOf = (service: string) => {
      const { hostname } = new URL(String(ownEnvironment(service).REDIS_URL));
      return [
        hostname,
        /maxmemory-policy (\S+)/.exec(JSON.stringify(containerOf(hostname)))?.[1]?.split('\\')[0],
      ];
    };
    assert.deepEqual(storeOf('ratelimit-service'), ['valkey-counters', 'allkeys-lfu']);
    assert.deepEqual(storeOf('ext-authz'), ['valkey', 'noeviction']);
  });

  test('the edge listens where its ports are, and sends people to the port that they see', () => {
    const { EDGE_ADDRESS, EDGE_TLS_ADDRESS, EDGE_HTTPS_PORT } = ownEnvironment('controlplane');
    const edge = containerOf('edge');
    assert.equal(EDGE_ADDRESS, `0.0.0.0:${portNumber(edge, 'http')}`);
    assert.equal(EDGE_TLS_ADDRESS, `0.0.0.0:${portNumber(edge, 'https')}`);
    const https = named(SERVICES, 'edge').spec.ports.find(
      ({ targetPort }) => targetPort === 'https',
    );
    assert.equal(EDGE_HTTPS_PORT, String(https?.port));
  });

  test('the database is that of compose.yaml, and its password stands in a URL', () => {
    const { POSTGRES_USER, POSTGRES_DB } = composeService('postgres').environment ?? {};
    const { username, host, pathname } = new URL(ownEnvironment('user-service').DATABASE_URL ?? '');
    assert.deepEqual(
      [username, host, pathname],
      [POSTGRES_USER, 'postgres:5432', `/${POSTGRES_DB}`],
    );
    const postgres = containerOf('postgres').env ?? [];
    for (const [name, value] of Object.entries({ POSTGRES_USER, POSTGRES_DB }))
      assert.equal(postgres.find(each => each.name === name)?.value, value);
  });

  test('every process has its own identity, which sds writes and no other process mounts', () => {
    const {
      IDENTITY_SECRETS = '',
      IDENTITIES,
      IDENTITY_FOLDER,
      TLS_FOLDER,
    } = ownEnvironment('sds');
    const groups = IDENTITY_SECRETS.split(',');
    const mounted = WORKLOADS.flatMap(({ metadata, spec }) => {
      const volume = spec.template.spec.volumes?.find(({ name }) => name === 'identity')?.secret;
      return volume === undefined ? [] : [[metadata.name, volume.secretName]];
    });
    assert.deepEqual(
      Object.fromEntries(mounted),
      Object.fromEntries(groups.map(group => [group, `gateway-identity-${group}`])),
    );
    for (const [{ metadata }, container] of CONTAINERS) {
      const mount = container.volumeMounts?.find(({ name }) => name === 'identity');
      if (mount === undefined || metadata.name === 'sds') continue;
      assert.notEqual(container.name, 'user-service', 'the instance needs no identity');
      assert.equal(environment(container).TLS_FOLDER ?? mount.mountPath, mount.mountPath);
    }
    assert.equal(TLS_FOLDER, `${IDENTITY_FOLDER}/${IDENTITIES}`);
  });

  test('sds may read and write the Secrets that it keeps, and no others', () => {
    const { IDENTITY_SECRETS = '', AUTHORITY_SECRET } = ownEnvironment('sds');
    const { rules } = named(ofKind<Role>(MANIFESTS, 'Role'), 'sds');
    const expected = [
      AUTHORITY_SECRET,
      ...IDENTITY_SECRETS.split(',').map(group => `gateway-identity-${group}`),
    ];
    const [create, kept, ...others] = rules;
    assert.deepEqual(create?.verbs, ['create']);
    assert.deepEqual(kept?.resourceNames, expected);
    assert.deepEqual(others, []);
  });

  test('the control plane reads the groups that it may read: for another that the cluster has it would wait', () => {
    const { rules } = named(ofKind<Role>(MANIFESTS, 'ClusterRole'), 'gateway-resources');
    const groups = rules.flatMap(({ apiGroups }) => apiGroups).filter(group => group !== '');
    assert.deepEqual(ownEnvironment('controlplane').API_GROUPS?.split(','), [...new Set(groups)]);
  });

  test('the control plane may read every kind, and write its status', () => {
    const { rules } = named(ofKind<Role>(MANIFESTS, 'ClusterRole'), 'gateway-resources');
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
});
