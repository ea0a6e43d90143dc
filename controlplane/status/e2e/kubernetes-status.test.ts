import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { discoveryClusters } from '#controlplane/compile/clusters/discovery-cluster.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import {
  inCluster,
  leads,
  metric,
  reasons,
  type Status,
  statusWhen,
} from '#controlplane/testing/in-cluster.ts';
import { startReporter } from '#controlplane/testing/start-reporter.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import type { ControlPlaneProcess } from '#envoy/e2e/control-plane-process.ts';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { occupyPort } from '#envoy/e2e/occupied-port.ts';
import { until } from '#envoy/e2e/until.ts';
import {
  type KubeApiserver,
  kubectl,
  startKubeApiserver,
  whyNoKubeApiserver,
  whyNoKubectl,
} from '#kubernetes/testing/kube-apiserver.ts';
import type { Rule } from '#kubernetes/testing/service-account.ts';
import { getObject, patchObject } from '#kubernetes/write.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import {
  applyDefinitions,
  create,
  type Document,
  patch,
  read,
  remove,
} from '#resources/kubernetes/testing/objects.ts';
import { documentsOf } from '#resources/kubernetes/testing/same-as-folder.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'readme', 'examples');
/** Those of our own kinds. The server here does not have the definitions of Gateway API. */
const TEXTS = readdirSync(EXAMPLES)
  .map(name => readFileSync(join(EXAMPLES, name), 'utf8'))
  .filter(text => !text.includes(GATEWAY_API_GROUP));

const NOWHERE = { host: '127.0.0.1', port: 1 };

const mapping = (name: string, namespace = 'default'): Document => ({
  apiVersion: 'gateway.internal/v2',
  kind: 'Mapping',
  metadata: { name, namespace },
  spec: { prefix: `/${name}/`, service: '127.0.0.1:1' },
});

const isTaken = (status: Status) =>
  reasons(status) === 'Accepted=True:Accepted Programmed=True:Programmed';
const is = (wanted: string) => (status: Status) => reasons(status) === wanted;

const startProxy = ({ xds }: ControlPlaneProcess) =>
  startEnvoy(
    bootstrap({
      nodeId: 'edge-1',
      group: 'edge',
      xdsAddress: xds,
      sdsAddress: '127.0.0.1:1',
      discoveryClusters: discoveryClusters(
        resourceSetOf(TEXTS.join('---\n')).resources,
        'edge',
        NOWHERE,
      ),
    }),
  );

const written = (plane: ControlPlaneProcess) =>
  metric(plane, /^gateway_status_writes_total\{result="written"\} (\d+)$/m);

describe('the status of resources in Kubernetes', {
  skip: whyNoKubeApiserver() ?? false,
  concurrency: true,
}, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    await applyDefinitions(api.admin);
  });
  after(() => api?.remove());
  const statusOf = (document: Document, wanted: (status: Status) => boolean) =>
    statusWhen(api, document, wanted);

  describe('with one control plane', { concurrency: 1 }, () => {
    let cluster: Awaited<ReturnType<typeof inCluster>>;
    let controlPlane: ControlPlaneProcess;
    let envoy: EnvoyProcess;
    before(async () => {
      cluster = await inCluster(api, 'default');
      controlPlane = await cluster.start();
      envoy = await startProxy(controlPlane);
    });
    after(async () => {
      await envoy?.stop();
      await controlPlane?.stop();
      cluster?.remove();
    });

    test('every example is applied with kubectl, and the proxies take it', {
      skip: whyNoKubectl() ?? false,
    }, async () => {
      const all = TEXTS.join('---\n');
      const { status, stderr } = kubectl(api, ['apply', '-f', '-'], all);
      assert.deepEqual([status, stderr], [0, '']);
      const documents = TEXTS.flatMap(documentsOf).filter(({ kind }) => kind !== 'Secret');
      for (const document of documents) await statusOf(document, isTaken);
      const shown = kubectl(api, ['get', 'gwm,gwfp', '-o', 'wide']).stdout;
      assert.match(shown, /^NAME +READY +ACCEPTED +PROGRAMMED +AGE$/m);
      assert.match(shown, /^mapping\.gateway\.internal\/\S+ +True +True +True +\d+s/m);
      kubectl(api, ['delete', '-f', '-'], all);
    });

    test('is what programs wait for that know nothing of this gateway', {
      skip: whyNoKubectl() ?? false,
    }, async t => {
      const { metadata } = mapping('waited');
      await create(api.admin, { ...mapping('waited'), spec: { prefix: 'x', service: 'x' } });
      t.after(() => remove(api.admin, mapping('waited')));
      const wait = (condition: string) =>
        kubectl(api, ['wait', `gwm/${metadata.name}`, `--for=condition=${condition}`]);
      assert.equal(wait('Stalled').stderr, '');
      const { observedGeneration, conditions = [] } = await statusOf(mapping('waited'), () => true);
      const ready = conditions.find(({ type }) => type === 'Ready');
      assert.match(ready?.message ?? '', /^spec\.prefix: Cannot parse path "x"/);
      assert.deepEqual([observedGeneration, ready?.status], [1, 'False']);
      await patch(api.admin, mapping('waited'), { spec: { prefix: '/waited/' } });
      assert.equal(wait('Ready').stderr, '');
      const mended = await statusOf(mapping('waited'), isTaken);
      assert.equal(mended.observedGeneration, 2);
      assert.ok(!mended.conditions?.some(({ type }) => type === 'Stalled'));
    });

    test('says that the proxies do not reach its service, until they do', async t => {
      const away = { ...mapping('away'), spec: { prefix: '/away/', service: 'nosuch.invalid' } };
      await create(api.admin, away);
      t.after(() => remove(api.admin, away));
      const reachable = ({ conditions = [] }: Status) =>
        conditions.find(({ type }) => type === 'Reachable');
      const status = await statusOf(away, each => reachable(each)?.status === 'False');
      assert.ok(isTaken(status), 'it stays accepted and in force');
      assert.match(
        reachable(status)?.message ?? '',
        /^spec\.service: DNS has no address for "nosuch\.invalid"/,
      );
      await patch(api.admin, away, { spec: { service: 'localhost' } });
      const over = await statusOf(away, each => reachable(each)?.status === 'True');
      assert.deepEqual(over.problems, []);
    });

    test('says what a service finds wrong with what the proxies have taken, until it does no more', async t => {
      const host: Document = {
        ...mapping('files'),
        kind: 'Host',
        spec: {
          hostname: 'files.example',
          tls: { cert_chain_file: '/tls.crt', private_key_file: '/tls.key' },
        },
      };
      await create(api.admin, host);
      t.after(() => remove(api.admin, host));
      await statusOf(host, isTaken);
      const service = startReporter(t, controlPlane.xds, 'sds');
      const field = 'spec.tls.cert_chain_file';
      const finding = {
        resource: 'Host/default/files',
        field,
        severity: 'error',
        message: 'it is wrong',
      } as const;
      service.report({ ...finding, outOfService: true });
      const status = await statusOf(
        host,
        is('Accepted=False:Problems Programmed=False:OutOfService'),
      );
      assert.deepEqual(status.problems, [{ severity: 'error', field, message: 'it is wrong' }]);
      service.report({ ...finding, outOfService: false });
      await statusOf(host, is('Accepted=False:Problems Programmed=True:Programmed'));
      service.close();
      assert.deepEqual((await statusOf(host, isTaken)).problems, []);
    });

    test('says what is wrong with an edit, and that the version before it stays in force', async t => {
      await create(api.admin, mapping('edited'));
      t.after(() => remove(api.admin, mapping('edited')));
      await statusOf(mapping('edited'), isTaken);
      await patch(api.admin, mapping('edited'), { spec: { prefix: 'no-slash', Timeout_ms: 5 } });
      const status = await statusOf(
        mapping('edited'),
        is('Accepted=False:Invalid Programmed=False:LastGood'),
      );
      assert.match(status.conditions?.[0]?.message ?? '', /^spec\.prefix: .*"no-slash"/);
      assert.deepEqual(
        status.problems?.map(({ severity, field }) => `${severity} ${field}`).sort(),
        ['error spec.prefix', 'warning spec.Timeout_ms'],
      );
      await patch(api.admin, mapping('edited'), { spec: { prefix: '/mended/' } });
      await statusOf(mapping('edited'), isTaken);
    });

    test('says that what had never been good is closed, and shows no secret', async t => {
      const filter: Document = {
        apiVersion: 'gateway.internal/v2',
        kind: 'Filter',
        metadata: { name: 'secretive' },
        spec: {
          OAuth2: {
            authorizationURL: 'idp',
            clientID: 'me',
            secret: 'tell-nobody',
            grantTyp: 'tell-nobody',
          },
        },
      };
      await create(api.admin, filter);
      t.after(() => remove(api.admin, filter));
      const status = await statusOf(filter, is('Accepted=False:Invalid Programmed=False:Closed'));
      assert.doesNotMatch(JSON.stringify(status), /tell-nobody/);
    });

    test('says what a proxy refuses', async t => {
      const holder = await occupyPort();
      t.after(() => holder.free());
      const listener: Document = {
        apiVersion: 'gateway.internal/v2',
        kind: 'ProxyConfig',
        metadata: { name: 'taken' },
        spec: { node_group: 'edge', listener: { address: '127.0.0.1', port: holder.port } },
      };
      await create(api.admin, mapping('innocent'));
      await statusOf(mapping('innocent'), isTaken);
      await create(api.admin, listener);
      t.after(() => remove(api.admin, listener));
      t.after(() => remove(api.admin, mapping('innocent')));
      const status = await statusOf(
        listener,
        is('Accepted=False:RefusedByProxy Programmed=False:Closed'),
      );
      assert.match(
        status.conditions?.[1]?.message ?? '',
        /^A proxy rejects it: .*(cannot bind|Address already in use)/,
      );
      await statusOf(mapping('innocent'), isTaken);
    });

    test('is taken back from what has left for another gateway', async t => {
      await create(api.admin, mapping('leaving'));
      t.after(() => remove(api.admin, mapping('leaving')));
      await statusOf(mapping('leaving'), isTaken);
      await patch(api.admin, mapping('leaving'), { spec: { gateway_id: 'other' } });
      await statusOf(mapping('leaving'), is(''));
      await patch(api.admin, mapping('leaving'), { spec: { gateway_id: ['other', 'default'] } });
      await statusOf(mapping('leaving'), isTaken);
    });

    test('is written when it differs, and then no more', async t => {
      await create(api.admin, mapping('quiet'));
      t.after(() => remove(api.admin, mapping('quiet')));
      await statusOf(mapping('quiet'), isTaken);
      const [before, count] = [
        await read(api.admin, mapping('quiet')),
        await written(controlPlane),
      ];
      // Any write of a loop would come before the one that another object still waits for.
      for (const name of ['next', 'and-next']) {
        await create(api.admin, mapping(name));
        await statusOf(mapping(name), isTaken);
        await remove(api.admin, mapping(name));
      }
      assert.equal(
        (await read(api.admin, mapping('quiet')))?.metadata.resourceVersion,
        before?.metadata.resourceVersion,
      );
      // The last write may not have been counted, since its answer had not come.
      const most = count + 1 + 4;
      assert.ok(
        (await written(controlPlane)) <= most,
        'at most pending and taken, for two objects',
      );
    });
  });

  test('is written by one control plane of two, and by the other when that is killed', async t => {
    const cluster = await inCluster(api, 'two');
    t.after(() => cluster.remove());
    const one = await cluster.start();
    t.after(one.kill);
    const firstProxy = await startProxy(one);
    t.after(firstProxy.stop);
    const both = mapping('both', 'two');
    await create(api.admin, both);
    await statusOf(both, isTaken);
    const other = await cluster.start();
    t.after(other.stop);
    const otherProxy = await startProxy(other);
    t.after(otherProxy.stop);
    await patch(api.admin, both, { spec: { prefix: '/again/' } });
    await statusOf(both, isTaken);
    assert.deepEqual([await leads(one), await leads(other), await written(other)], [1, 0, 0]);
    await one.kill();
    const begun = performance.now();
    await patch(api.admin, both, { spec: { prefix: '/since/' } });
    await statusWhen(api, both, isTaken);
    t.diagnostic(`taken over in ${Math.round(performance.now() - begun)} ms`);
    assert.equal(await leads(other), 1);
  });

  test('is said not to be written while the right to its Lease is missing', async t => {
    const cluster = await inCluster(api, 'rights');
    t.after(() => cluster.remove());
    const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles' };
    const place = { cluster: api.admin, resource: { ...roles, namespace: 'rights' } };
    const role = 'controlplane-rights';
    const { rules = [] } = (await getObject(place, role)) as { rules?: readonly Rule[] };
    const cut = rules.filter(({ resources }) => !resources.includes('leases'));
    await patchObject(place, role, { rules: cut });
    const plane = await cluster.start();
    t.after(plane.stop);
    const some = mapping('some', 'rights');
    await create(api.admin, some);
    const problems = async () => {
      const status = await (await fetch(`${plane.http}/status`)).json();
      return (status as { problems: readonly { message: string }[] }).problems;
    };
    const isTold = (message: string) =>
      /^the status of resources is not written: .*leases.* 403 .* Grant it by a Role/.test(message);
    await until(async () => (await problems()).find(({ message }) => isTold(message)), 30_000);
    await patchObject(place, role, { rules });
    await statusOf(some, is('Accepted=True:Accepted Programmed=Unknown:Pending'));
    assert.deepEqual(await problems(), []);
  });

  test('is written by each of two gateways in one namespace, for its own resources', async t => {
    const cluster = await inCluster(api, 'gateways');
    t.after(() => cluster.remove());
    const planes = [];
    for (const env of [{}, { GATEWAY_ID: 'second' }]) {
      const plane = await cluster.start(env);
      t.after(plane.stop);
      const proxy = await startProxy(plane);
      t.after(proxy.stop);
      planes.push(plane);
    }
    const ofFirst = mapping('of-first', 'gateways');
    const spec = { prefix: '/second/', service: '127.0.0.1:1', gateway_id: 'second' };
    const ofSecond: Document = { ...mapping('of-second', 'gateways'), spec };
    for (const each of [ofFirst, ofSecond]) await create(api.admin, each);
    for (const each of [ofFirst, ofSecond]) await statusOf(each, isTaken);
    assert.deepEqual(await Promise.all(planes.map(leads)), [1, 1]);
  });

  test('is written by one that has proxies, after one that has none', async t => {
    const cluster = await inCluster(api, 'lonely');
    t.after(() => cluster.remove());
    const lonely = await cluster.start();
    t.after(lonely.stop);
    const some = mapping('some', 'lonely');
    await create(api.admin, some);
    await statusOf(some, is('Accepted=True:Accepted Programmed=Unknown:Pending'));
    const other = await cluster.start();
    t.after(other.stop);
    const proxy = await startProxy(other);
    t.after(proxy.stop);
    await statusOf(some, isTaken);
    assert.deepEqual([await leads(lonely), await leads(other)], [0, 1]);
  });
});
