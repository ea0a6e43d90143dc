import { quoteRegex } from '#controlplane/compile/quote-regex.ts';
import type { Fields } from '#resources/words/fields.ts';
import { documentOf, type ImportedDocument } from '../document.ts';
import type { Imported } from '../imported.ts';
import { closed, dropped, type PlacedRemark } from '../remark.ts';
import { gatewayOf } from './gateway.ts';
import { ruleOf } from './http-rule.ts';
import { UNREADABLE } from './path-matches.ts';

const VERSION = 'gateway.networking.k8s.io/v1';

/** Rules of a route, by the limit of Gateway API. */
const MOST_RULES = 16;

/**
 * Turns the Hosts and Mappings of Ingresses into a Gateway and HTTPRoutes. What these cannot say is
 * told. A Mapping that would reach its service in another way is closed.
 */
export function toGatewayApi({ documents, remarks }: Imported): Imported {
  const hosts = documents.filter(({ kind }) => kind === 'Host');
  const mappings = withExpressions(documents.filter(({ kind }) => kind === 'Mapping'));
  const [first] = hosts;
  if (first === undefined) return { documents: [], remarks };
  const gateway = gatewayOf(hosts, first);
  const unread = mappings.filter(isUnread).map(({ spec }) => spec.host ?? '*');
  const closedHosts = new Set([...unread, ...gateway.closed]);
  const readable = mappings.map(mapping =>
    closedHosts.has(mapping.spec.host ?? '*')
      ? { ...mapping, spec: { ...mapping.spec, closed: true } }
      : mapping,
  );
  const routes = [...Map.groupBy(readable, routeKey).values()].flatMap(of =>
    routesOf(of, gateway.parentsOf),
  );
  const lost = documents.filter(({ kind }) => ['RateLimit', 'TLSContext'].includes(kind));
  return {
    documents: [
      ...gateway.documents,
      ...routes.map(({ document }) => document),
      ...gateway.redirects,
    ],
    remarks: [
      ...remarks,
      ...gateway.remarks,
      ...routes.flatMap(({ remarks }) => remarks),
      ...lost.map(withoutPlace),
    ],
  };
}

/**
 * nginx compares the beginning of a path, and Gateway API whole segments of it. Where a host needs
 * an expression for that, all of its prefixes become some, since expressions are tried before
 * prefixes.
 */
function withExpressions(mappings: readonly ImportedDocument[]): readonly ImportedDocument[] {
  const hosts = new Set(mappings.filter(needsExpression).map(({ spec }) => spec.host));
  return mappings.map(mapping => {
    const { host, prefix, prefix_exact, prefix_regex } = mapping.spec;
    if (!hosts.has(host) || prefix_exact === true || prefix_regex === true) return mapping;
    const expression = `${quoteRegex(String(prefix))}.*`;
    return { ...mapping, spec: { ...mapping.spec, prefix: expression, prefix_regex: true } };
  });
}

function needsExpression({ spec }: ImportedDocument): boolean {
  const { prefix, prefix_exact, prefix_regex } = spec;
  return prefix_exact !== true && prefix_regex !== true && !String(prefix).endsWith('/');
}

/** Only Mappings can be tried before all others. So the whole host is closed. */
function isUnread({ spec }: ImportedDocument): boolean {
  return spec.closed === true && Number(spec.precedence) >= UNREADABLE;
}

/** A route is for one host, of one Ingress. */
function routeKey({ from, spec }: ImportedDocument): string {
  return JSON.stringify([from.namespace ?? 'default', from.name, spec.host ?? '*']);
}

function withoutPlace({ from, kind, metadata }: ImportedDocument): PlacedRemark {
  const why = `the ${kind} ${metadata.name} is not written, since routes do not name it yet`;
  return { ...dropped(['metadata', 'name'], why), object: from };
}

type Routed = {
  readonly document: ImportedDocument;
  readonly remarks: readonly PlacedRemark[];
};

function routesOf(
  mappings: readonly ImportedDocument[],
  parentsOf: (host: string) => readonly Fields[],
): readonly Routed[] {
  const [first] = mappings;
  if (first === undefined) return [];
  const host = String(first.spec.host ?? '*');
  const shared = Map.groupBy(mappings, ({ spec }) => matchOf(spec));
  const rules = [...shared.values()].toSorted(([a], [b]) => lengthOf(b) - lengthOf(a)).map(ruleOf);
  const parts = Array.from({ length: Math.ceil(rules.length / MOST_RULES) }, (_, index) =>
    rules.slice(index * MOST_RULES, (index + 1) * MOST_RULES),
  );
  return parts.map((part, index) => {
    const spec = {
      parentRefs: parentsOf(host),
      ...(host === '*' ? {} : { hostnames: [host] }),
      rules: part.map(({ fields }) => fields),
    };
    const name = index === 0 ? first.metadata.name : `${first.metadata.name}-${index + 1}`;
    return {
      document: documentOf(VERSION, 'HTTPRoute', first.from, name, spec),
      remarks: part.flatMap(({ remarks }) =>
        remarks.map(({ effect, message, path }) => ({
          ...(effect === 'closed' ? closed : dropped)(path, message),
          object: first.from,
        })),
      ),
    };
  });
}

/** nginx tries longer expressions first, and Gateway API the earlier of two. */
function lengthOf(mapping: ImportedDocument | undefined): number {
  return String(mapping?.spec.prefix).length;
}

const MATCH = ['prefix', 'prefix_exact', 'prefix_regex', 'headers', 'regex_headers'];

function matchOf(spec: Fields): string {
  return JSON.stringify(MATCH.map(field => spec[field] ?? null));
}
