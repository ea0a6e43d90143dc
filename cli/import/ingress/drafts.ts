import type { Fields } from '#resources/words/fields.ts';
import type { ImportedDocument } from '../document.ts';
import { joinParts, type Part } from '../part.ts';
import type { PlacedRemark, Remark } from '../remark.ts';
import { changed, closed } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';
import { access } from './access.ts';
import { annotationPath } from './annotations.ts';
import { balancing } from './balancing.ts';
import { cors } from './cors.ts';
import type { Draft } from './draft.ts';
import { headers } from './headers.ts';
import type { Backend, Ingress, IngressPath } from './ingress.ts';
import { type Limits, limitsOf } from './limits.ts';
import { mirrorOf } from './mirror.ts';
import { otherControllers } from './other-controllers.ts';
import { pathMatches } from './path-matches.ts';
import { redirect } from './redirects.ts';
import { appRootOf, rewriteOf } from './rewrite.ts';
import { type Aliases, hostsOf } from './server-aliases.ts';
import { protocol, type ServiceTls, serviceFields, serviceTls, unknownPort } from './service.ts';
import { retries, timeouts } from './traffic.ts';
import { unsupported } from './unsupported.ts';

/** What an Ingress becomes, without its Hosts. */
export type Drafted = {
  readonly drafts: readonly Draft[];
  readonly documents: readonly ImportedDocument[];
  readonly remarks: readonly PlacedRemark[];
};

/** What is known of all Ingresses together. */
export type Surroundings = {
  readonly objects: readonly SourceObject[];
  readonly aliases: Aliases;
  /** Hosts whose paths are all expressions. */
  readonly expressionHosts: ReadonlySet<string>;
  /** Hosts of rules. */
  readonly hosts: ReadonlySet<string>;
};

/** What all Mappings of an Ingress have. */
type Common = {
  readonly part: Part;
  readonly redirect: Part;
  readonly limits: Limits;
  readonly tls: ServiceTls;
};

export function draftIngress(ingress: Ingress, surroundings: Surroundings): Drafted {
  const common = commonOf(ingress, surroundings.objects);
  const paths = [...ingress.paths, ...defaultPath(ingress)];
  const drafted = paths.map(path => draftPath(path, ingress, common, surroundings));
  const extra = [...new Set(ingress.paths.map(({ host }) => host))].map(host =>
    draftHost(host, ingress, surroundings),
  );
  const all = [...drafted, ...extra];
  const remarks = [
    ...common.part.remarks,
    ...common.redirect.remarks,
    ...common.limits.remarks,
    ...common.tls.remarks,
    ...all.flatMap(({ remarks }) => remarks),
  ];
  return {
    drafts: all.flatMap(({ drafts }) => drafts),
    documents: [...common.limits.documents, ...common.tls.documents],
    remarks: remarks.map(remark => ({ ...remark, object: ingress.object })),
  };
}

function commonOf(ingress: Ingress, objects: readonly SourceObject[]): Common {
  const { annotations } = ingress;
  const part = joinParts([
    protocol(annotations),
    timeouts(annotations),
    retries(annotations),
    cors(annotations),
    headers(ingress, objects),
    access(annotations),
    otherControllers(ingress.object),
    unsupported(annotations),
  ]);
  return {
    part,
    redirect: redirect(annotations),
    limits: limitsOf(ingress),
    tls: serviceTls(ingress),
  };
}

type PathDrafts = { readonly drafts: readonly Draft[]; readonly remarks: readonly Remark[] };

function draftPath(
  path: IngressPath,
  ingress: Ingress,
  common: Common,
  { aliases, expressionHosts }: Surroundings,
): PathDrafts {
  const isExpression = expressionHosts.has(path.host);
  const { matches, remarks } = pathMatches(path, isExpression);
  const own = common.redirect.fields.host_redirect
    ? common.redirect
    : toService(path, ingress, common, isExpression);
  const told = [...remarks, ...own.remarks];
  const all = [...told, ...common.part.remarks, ...common.redirect.remarks];
  const isClosed = all.some(({ effect }) => effect === 'closed');
  const drafts = matches.flatMap(match =>
    hostsOf(path.host, aliases).flatMap(host => {
      const where = { ...(host === '*' ? {} : { host }), ...match };
      const spec = { ...where, ...own.fields, ...(isClosed ? { closed: true } : {}) };
      return [{ ingress, host, spec }, ...mirrorOf(ingress, host, where)];
    }),
  );
  return { drafts, remarks: common.redirect.fields.host_redirect ? remarks : told };
}

/** Returns the fields of a Mapping besides those that match. */
function toService(
  { at, backend, host, path }: IngressPath,
  ingress: Ingress,
  { limits, part, tls }: Common,
  isExpression: boolean,
): Part {
  const { annotations } = ingress;
  const rewrite = rewriteOf(annotations, path);
  const balanced = balancing(annotations, isExpression ? '/' : path);
  const missing =
    backend === undefined
      ? [closed([...at, 'backend'], `${host}${path} leads to no Service. Write one`)]
      : unknownPort(backend, at);
  const target: Backend = backend ?? { service: 'closed' };
  const fields: Fields = {
    ...serviceFields(target, annotations),
    ...rewrite.fields,
    ...part.fields,
    ...balanced.fields,
    ...tls.fields,
    ...limits.labels,
  };
  return { fields, remarks: [...missing, ...rewrite.remarks, ...balanced.remarks] };
}

/** It is for what no rule of any Ingress has. */
function defaultPath({ defaultBackend }: Ingress): readonly IngressPath[] {
  if (defaultBackend === undefined) return [];
  return [
    {
      host: '*',
      path: '/',
      pathType: 'ImplementationSpecific',
      backend: defaultBackend,
      at: ['spec', 'defaultBackend'],
    },
  ];
}

/** Returns redirects of a host: to its application, and to or from `www`. */
function draftHost(host: string, ingress: Ingress, { hosts }: Surroundings): PathDrafts {
  const { annotations } = ingress;
  const isName = !host.includes('*');
  const root = isName ? appRootOf(annotations, host).fields : {};
  const www = otherWww(host);
  const asked = annotations.on('from-to-www-redirect');
  const taken = www !== undefined && hosts.has(www);
  const drafts = [
    ...(Object.keys(root).length === 0 ? [] : [{ ingress, host, spec: root, suffix: 'root' }]),
    ...(asked && www !== undefined && !taken
      ? [{ ingress, host: www, spec: toHost(www, host), suffix: 'www' }]
      : []),
  ];
  const remarks = [
    ...(isName || annotations.get('app-root') === undefined
      ? []
      : [changed(annotationPath('app-root'), `${host} is no name, so that "/" is not redirected`)]),
    ...(asked && taken
      ? [changed(annotationPath('from-to-www-redirect'), `${www} has rules of its own`)]
      : []),
  ];
  return { drafts, remarks };
}

function toHost(from: string, to: string): Fields {
  return {
    host: from,
    prefix: '/',
    service: to,
    host_redirect: true,
    redirect_response_code: 308,
  };
}

/** Returns the host with `www.` where it has none, and without where it has. */
export function otherWww(host: string): string | undefined {
  if (host.includes('*')) return undefined;
  return host.startsWith('www.') ? host.slice('www.'.length) : `www.${host}`;
}
