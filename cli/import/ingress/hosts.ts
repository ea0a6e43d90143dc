import { type ImportedDocument, ourDocument } from '../document.ts';
import { changed, closed, type PlacedRemark, type Remark } from '../remark.ts';
import { annotationPath } from './annotations.ts';
import { otherWww } from './drafts.ts';
import type { Ingress, IngressTls } from './ingress.ts';
import { secretName } from './secret-name.ts';
import { type Aliases, hostsOf } from './server-aliases.ts';

/** The Hosts of all Ingresses, and the names that are closed. */
export type HostPlan = {
  readonly documents: readonly ImportedDocument[];
  readonly closed: ReadonlySet<string>;
  readonly remarks: readonly PlacedRemark[];
};

/** What one Ingress says of a host. */
type Claim = { readonly host: string; readonly ingress: Ingress; readonly tls?: IngressTls };

/** Returns a Host for each name that Ingresses have. The oldest Ingress decides. */
export function planHosts(
  ingresses: readonly Ingress[],
  served: ReadonlySet<string>,
  aliases: Aliases,
): HostPlan {
  const claims = Map.groupBy(
    ingresses.flatMap(ingress => claimsOf(ingress, aliases)).filter(({ host }) => served.has(host)),
    ({ host }) => host,
  );
  const plans = [...claims].flatMap(([host, [first, ...others]]) =>
    first === undefined ? [] : [planHost(host, [first, ...others])],
  );
  return {
    documents: plans.map(({ document }) => document),
    closed: new Set(plans.filter(({ isClosed }) => isClosed).map(({ host }) => host)),
    remarks: plans.flatMap(({ remarks }) => remarks),
  };
}

function claimsOf(ingress: Ingress, aliases: Aliases): readonly Claim[] {
  const named = [...new Set(ingress.paths.map(({ host }) => host))];
  const hosts = named.flatMap(host => {
    const www = ingress.annotations.on('from-to-www-redirect') ? otherWww(host) : undefined;
    return [...hostsOf(host, aliases), ...(www === undefined ? [] : [www])].map(name => ({
      host: name,
      of: host,
    }));
  });
  const all = ingress.defaultBackend === undefined ? hosts : [...hosts, { host: '*', of: '*' }];
  return all.map(({ host, of }) => {
    const tls =
      ingress.tls.find(entry => isFor(entry, host)) ?? ingress.tls.find(entry => isFor(entry, of));
    return { host, ingress, ...(tls === undefined ? {} : { tls }) };
  });
}

function isFor({ hosts }: IngressTls, host: string): boolean {
  const parent = host.replace(/^[^.]*/, '*');
  return hosts.length === 0 || hosts.includes(host) || hosts.includes(parent);
}

function planHost(host: string, [first, ...others]: readonly [Claim, ...Claim[]]) {
  const claims = [first, ...others];
  const withTls = claims.find(({ tls }) => tls?.secret !== undefined) ?? claims.find(c => c.tls);
  const { object } = (withTls ?? first).ingress;
  const clients = claims.find(({ ingress }) => demandsCertificates(ingress));
  const isClosed = clients !== undefined && withTls === undefined;
  const redirects = claims.some(claim => redirectsOf(claim, withTls !== undefined));
  const action = clients !== undefined || redirects ? 'Redirect' : 'Route';
  const tls = {
    ...(withTls !== undefined && withTls.tls?.secret === undefined ? { issuer: 'gateway' } : {}),
    ...(clients === undefined || isClosed ? {} : clientTls(clients.ingress, object.namespace)),
  };
  const spec = {
    hostname: host,
    ...(withTls?.tls?.secret === undefined ? {} : { tlsSecret: withTls.tls.secret }),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    ...(withTls === undefined && action === 'Route'
      ? {}
      : { requestPolicy: { insecure: { action } } }),
  };
  return {
    host,
    isClosed,
    document: ourDocument('Host', object, hostName(host), spec),
    remarks: [
      ...secretRemarks(host, claims, withTls),
      ...claims.flatMap(claim => redirectRemarks(claim, action, withTls !== undefined)),
      ...(isClosed && clients !== undefined ? [place(clients, withoutTls(host))] : []),
    ],
  };
}

function place({ ingress }: Claim, remark: Remark): PlacedRemark {
  return { ...remark, object: ingress.object };
}

function hostName(host: string): string {
  return host === '*' ? 'all-hosts' : host.replace(/^\*/, 'any');
}

function demandsCertificates({ annotations }: Ingress): boolean {
  const verify = annotations.get('auth-tls-verify-client') ?? 'on';
  return (
    annotations.get('auth-tls-secret') !== undefined && !/^(?:off|optional_no_ca)$/.test(verify)
  );
}

function clientTls({ annotations, object }: Ingress, namespace: string | undefined): object {
  const written = annotations.get('auth-tls-secret') ?? '';
  const full = written.includes('/') ? written : `${object.namespace ?? 'default'}/${written}`;
  return {
    ca_secret: secretName(full, namespace),
    cert_required: annotations.get('auth-tls-verify-client') !== 'optional',
  };
}

function withoutTls(host: string): Remark {
  const message = `${host} has no TLS, so that clients show no certificate. All of ${host} is closed. Write \`tls\` into the Ingress, or \`tlsSecret\` into the Host, and remove \`closed\` from its Mappings`;
  return closed(annotationPath('auth-tls-secret'), message);
}

/** ingress-nginx redirects where there is TLS, and with `force-ssl-redirect` everywhere. */
function redirectsOf({ ingress: { annotations } }: Claim, hasTls: boolean): boolean {
  if (annotations.on('force-ssl-redirect')) return true;
  const written = annotations.get('ssl-redirect');
  return hasTls && (written === undefined || annotations.on('ssl-redirect'));
}

function redirectRemarks(claim: Claim, action: string, hasTls: boolean): readonly PlacedRemark[] {
  const { annotations } = claim.ingress;
  const wants = redirectsOf(claim, hasTls);
  if (action === 'Redirect' && !wants && hasTls) {
    const why = `all of ${claim.host} is redirected to https, as another Ingress or the certificates of clients demand`;
    return [place(claim, changed(annotationPath('ssl-redirect'), why))];
  }
  if (annotations.on('force-ssl-redirect') && !hasTls) {
    const why = `${claim.host} has no certificate, so that requests are redirected until the balancer before the gateway says \`X-Forwarded-Proto: https\`. Write \`xff_num_trusted_hops\` into the Module`;
    return [place(claim, changed(annotationPath('force-ssl-redirect'), why))];
  }
  return [];
}

function secretRemarks(
  host: string,
  claims: readonly Claim[],
  owner: Claim | undefined,
): readonly PlacedRemark[] {
  if (owner?.tls === undefined) return [];
  const { secret } = owner.tls;
  if (secret === undefined) {
    const why = `it names no Secret, so that ${host} gets a certificate of the built-in authority. Write \`tlsSecret\` into the Host`;
    return [place(owner, changed(owner.tls.at, why))];
  }
  const others = claims.filter(
    ({ ingress, tls }) =>
      tls?.secret !== undefined &&
      (tls.secret !== secret || ingress.object.namespace !== owner.ingress.object.namespace),
  );
  return others.map(other =>
    place(other, changed(other.tls?.at ?? [], `${host} has the certificate of ${secret}`)),
  );
}
