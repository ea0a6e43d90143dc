import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import {
  issueToken,
  makeNamespace,
  makeServiceAccount,
} from '#kubernetes/testing/service-account.ts';
import { createObject } from '#kubernetes/write.ts';
import { READ_SERVICES, READ_SLICES, sliceWriter } from '../testing/endpoint-slices.ts';
import { type SdsProcess, startSds } from '../testing/sds-process.ts';

const RULES = [...READ_SLICES, ...READ_SERVICES];
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'rolebindings' };

describe('services of several namespaces', { skip: whyNoKubeApiserver() ?? false }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    for (const namespace of ['shop', 'other']) await makeNamespace(api.admin, namespace);
    await write('default', '10.0.0.1');
    await write('shop', '10.0.0.2');
    await write('other', '10.0.0.3');
  });
  after(() => api?.remove());

  const write = (namespace: string, address: string) =>
    sliceWriter(api.admin, 'web', 80, namespace).write('web', [{ address }]);

  test('are those that are named, once each may be read; the names of others are nobody', async t => {
    const account = { namespace: 'default', name: 'sds' };
    await makeServiceAccount(api.admin, account, RULES);
    const KUBECONFIG = await api.writeKubeconfig(
      'sds',
      await issueToken(api.admin, 'default', 'sds'),
    );
    const sds = await startSds(t, 'services: {}', {
      SERVES: 'instances',
      INSTANCES_KUBERNETES: 'default,shop',
      KUBECONFIG,
    });
    await until(
      () =>
        /refuses to list endpointslices\S* in namespace \\"shop\\": 403/.exec(sds.log()) ??
        undefined,
    );
    assert.equal(
      (await fetch(`${sds.url}/readyz`)).status,
      503,
      'a restart takes no instance away',
    );

    await makeServiceAccount(api.admin, { namespace: 'shop', name: 'sds' }, RULES);
    const bindings = { cluster: api.admin, resource: { ...RBAC, namespace: 'shop' } };
    const roleRef = { apiGroup: RBAC.group, kind: 'Role', name: 'sds' };
    const subjects = [{ kind: 'ServiceAccount', ...account }];
    const written = await createObject(bindings, {
      metadata: { name: 'sds-of-default' },
      roleRef,
      subjects,
    });
    assert.equal(written.kind, 'written');
    await until(async () => ((await fetch(`${sds.url}/readyz`)).ok ? true : undefined));
    assert.deepEqual(await addressesOf(sds, ['web', 'web.default', 'web.shop', 'web.other']), [
      '10.0.0.1',
      '10.0.0.1',
      '10.0.0.2',
      '',
    ]);
  });

  test('with * are those of all, also of a namespace that is made later', async t => {
    const sds = await startSds(t, 'services: {}', {
      SERVES: 'instances',
      INSTANCES_KUBERNETES: '*',
      KUBECONFIG: api.kubeconfig,
    });
    const seen = (names: readonly string[], wanted: readonly string[]) =>
      until(async () =>
        (await addressesOf(sds, names)).join() === wanted.join() ? true : undefined,
      );
    await seen(['web', 'web.shop', 'web.other'], ['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    await makeNamespace(api.admin, 'later');
    await write('later', '10.0.0.4');
    await seen(['web', 'web.later'], ['10.0.0.1', '10.0.0.4']);
    await sliceWriter(api.admin, 'web', 80, 'later').remove('web');
    await seen(['web', 'web.later'], ['10.0.0.1', '']);
  });
});

type Answer = {
  readonly resources: readonly {
    readonly cluster_name: string;
    readonly endpoints: readonly {
      readonly lb_endpoints: readonly {
        readonly endpoint: {
          readonly address: { readonly socket_address: { readonly address: string } };
        };
      }[];
    }[];
  }[];
};

/** The addresses of each name, with commas between. */
async function addressesOf(
  { url }: SdsProcess,
  names: readonly string[],
): Promise<readonly string[]> {
  const body = JSON.stringify({ resource_names: names });
  const response = await fetch(`${url}/v3/discovery:endpoints`, { method: 'POST', body });
  if (!response.ok) return [];
  const { resources } = (await response.json()) as Answer;
  const byName = new Map(resources.map(each => [each.cluster_name, each.endpoints]));
  return names.map(name =>
    (byName.get(name) ?? [])
      .flatMap(({ lb_endpoints }) => lb_endpoints)
      .map(({ endpoint }) => endpoint.address.socket_address.address)
      .join(),
  );
}
