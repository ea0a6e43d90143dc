import { type Fields, isFields } from '#resources/words/fields.ts';
import { documentOf, type ImportedDocument } from '../document.ts';
import { fieldsAt } from '../fields-at.ts';
import { closed, type PlacedRemark } from '../remark.ts';

const VERSION = 'gateway.networking.k8s.io/v1';
const NAME = 'ingress';
const CONTROLLER = 'gateway.internal/gateway-controller';
const PLAIN = 'http';

/** The Gateway of all Hosts. */
export type IngressGateway = {
  /** The GatewayClass, the Gateway, and who lets it use Secrets. */
  readonly documents: readonly ImportedDocument[];
  /** Routes that send requests without TLS to https. */
  readonly redirects: readonly ImportedDocument[];
  readonly remarks: readonly PlacedRemark[];
  /** Hosts that no listener can serve as they were. */
  readonly closed: ReadonlySet<unknown>;
  /** Returns the listeners of a host. */
  readonly parentsOf: (host: string) => readonly Fields[];
};

/** Returns the Gateway, in the namespace of the first Host. */
export function gatewayOf(
  hosts: readonly ImportedDocument[],
  first: ImportedDocument,
): IngressGateway {
  const { from } = first;
  const secure = hosts.filter(hasCertificate);
  const lost = hosts.filter(
    host => isFields(host.spec.tls) || (actionOf(host) === 'Redirect' && !hasCertificate(host)),
  );
  const listeners = [
    { name: PLAIN, port: 80, protocol: 'HTTP', allowedRoutes: ALL },
    ...secure.map((host, index) => listener(host, index, from.namespace)),
  ];
  const place = {
    name: NAME,
    ...(from.namespace === undefined ? {} : { namespace: from.namespace }),
  };
  const parentTo = (section: string) => ({ ...place, sectionName: section });
  const parentsOf = (host: string) => {
    const index = secure.findIndex(({ spec }) => spec.hostname === host);
    const own = hosts.find(({ spec }) => spec.hostname === host);
    const open = own === undefined || lost.includes(own) || actionOf(own) !== 'Redirect';
    return [...(index < 0 ? [] : [parentTo(sectionOf(index))]), ...(open ? [parentTo(PLAIN)] : [])];
  };
  const { namespace: _, ...nowhere } = from;
  return {
    documents: [
      documentOf(VERSION, 'GatewayClass', nowhere, NAME, { controllerName: CONTROLLER }),
      documentOf(VERSION, 'Gateway', from, NAME, { gatewayClassName: NAME, listeners }),
      ...grants(secure, first),
    ],
    redirects: hosts
      .filter(host => actionOf(host) === 'Redirect' && !lost.includes(host))
      .map(host => redirect(host, parentTo(PLAIN))),
    remarks: lost.map(host => ({ ...closed(['spec', 'tls'], WITHOUT), object: host.from })),
    closed: new Set(lost.map(({ spec }) => spec.hostname)),
    parentsOf,
  };
}

const ALL = { namespaces: { from: 'All' } };

const WITHOUT =
  'https of this host cannot be a listener: that needs a Secret, and asks all clients of its port for certificates or none. All of the host is closed. Write a listener, and then `backendRefs`';

function hasCertificate({ spec }: ImportedDocument): boolean {
  return spec.tlsSecret !== undefined && !isFields(spec.tls);
}

function sectionOf(index: number): string {
  return `https-${index + 1}`;
}

function listener({ from, spec }: ImportedDocument, index: number, home?: string): Fields {
  const { hostname } = spec;
  const elsewhere =
    (from.namespace ?? 'default') === (home ?? 'default')
      ? {}
      : { namespace: from.namespace ?? 'default' };
  return {
    name: sectionOf(index),
    port: 443,
    protocol: 'HTTPS',
    ...(hostname === '*' ? {} : { hostname }),
    allowedRoutes: ALL,
    tls: { certificateRefs: [{ name: spec.tlsSecret, ...elsewhere }] },
  };
}

function actionOf({ spec }: ImportedDocument): unknown {
  return fieldsAt(spec, 'requestPolicy', 'insecure').action ?? 'Route';
}

/** Certificates of other namespaces are used where these allow it. */
function grants(
  hosts: readonly ImportedDocument[],
  { from: { namespace: home = 'default' } }: ImportedDocument,
): readonly ImportedDocument[] {
  const others = Map.groupBy(hosts, ({ from }) => from.namespace ?? 'default');
  return [...others]
    .filter(([namespace]) => namespace !== home)
    .flatMap(([, [host]]) => (host === undefined ? [] : [grant(host, home)]));
}

function grant({ from }: ImportedDocument, home: string): ImportedDocument {
  return documentOf('gateway.networking.k8s.io/v1beta1', 'ReferenceGrant', from, NAME, {
    from: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: home }],
    to: [{ group: '', kind: 'Secret' }],
  });
}

function redirect({ from, metadata, spec }: ImportedDocument, parent: Fields): ImportedDocument {
  return documentOf(VERSION, 'HTTPRoute', from, `${metadata.name}-https`, {
    parentRefs: [parent],
    ...(spec.hostname === '*' ? {} : { hostnames: [spec.hostname] }),
    rules: [
      {
        filters: [
          { type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 301 } },
        ],
      },
    ],
  });
}
