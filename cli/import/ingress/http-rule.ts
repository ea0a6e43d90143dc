import { type Fields, isFields } from '#resources/words/fields.ts';
import type { ImportedDocument } from '../document.ts';
import { closed, dropped, type Remark } from '../remark.ts';

/** A rule of an HTTPRoute, and what it cannot say of the Mappings. */
export type HttpRule = { readonly fields: Fields; readonly remarks: readonly Remark[] };

/** Returns the rule of Mappings that match the same requests and share them by weight. */
export function ruleOf(mappings: readonly ImportedDocument[]): HttpRule {
  const services = mappings.filter(({ spec }) => spec.shadow !== true);
  const [first] = services;
  const spec = first?.spec ?? {};
  const matches = [matchOf(first?.spec ?? mappings[0]?.spec ?? {})];
  const why = services.map(({ spec }) => whyClosed(spec)).find(reason => reason !== undefined);
  const remarks = [
    ...mappings.flatMap(mapping => lostOf(mapping.spec)),
    ...(why === undefined ? [] : [closed(NAME, why)]),
  ];
  if (why !== undefined || spec.closed === true || first === undefined)
    return { fields: { matches }, remarks };
  if (spec.host_redirect === true)
    return { fields: { matches, filters: [redirectOf(spec)] }, remarks };
  const filters = filtersOf(spec);
  const fields = {
    matches,
    ...(filters.length === 0 ? {} : { filters }),
    backendRefs: services.map(({ spec }) => backendOf(spec)),
    timeouts: { request: formatSeconds(Math.ceil(Number(spec.timeout_ms) / 1000)) },
    ...persistenceOf(spec),
  };
  return { fields, remarks };
}

const NAME = ['metadata', 'name'];

function matchOf(spec: Fields): Fields {
  const type =
    spec.prefix_exact === true
      ? 'Exact'
      : spec.prefix_regex === true
        ? 'RegularExpression'
        : 'PathPrefix';
  const path = { type, value: spec.prefix };
  const headers = [
    ...entries(spec.headers).map(([name, value]) => ({ name, value })),
    ...entries(spec.regex_headers).map(([name, value]) => ({
      type: 'RegularExpression',
      name,
      value,
    })),
  ];
  return { path, ...(headers.length === 0 ? {} : { headers }) };
}

function entries(value: unknown): readonly [string, unknown][] {
  return isFields(value) ? Object.entries(value) : [];
}

/** Returns why the service would get other requests than it should. */
function whyClosed(spec: Fields): string | undefined {
  if (spec.regex_rewrite !== undefined)
    return 'a route replaces a prefix or all of a path, and no groups. Import it into Mappings, without --to';
  const { port } = serviceOf(spec);
  if (spec.host_redirect !== true && port === undefined)
    return 'a backend has a port. Write `backendRefs`';
  const service = String(spec.service);
  if (spec.host_redirect !== true && service.startsWith('https://'))
    return 'TLS to a service needs a BackendTLSPolicy with its authority. Write both';
  return undefined;
}

type Named = { readonly name: string; readonly namespace?: string; readonly port?: number };

function serviceOf(spec: Fields): Named {
  const [, name = '', namespace, port] =
    /^(?:https?:\/\/)?([^.:]+)(?:\.([^.:]+))?(?::(\d+))?$/.exec(String(spec.service)) ?? [];
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(port === undefined ? {} : { port: Number(port) }),
  };
}

function backendOf(spec: Fields): Fields {
  return { ...serviceOf(spec), ...(spec.weight === undefined ? {} : { weight: spec.weight }) };
}

function redirectOf(spec: Fields): Fields {
  const [, scheme, host = '', port] =
    /^(?:(https?):\/\/)?([^:/]+)(?::(\d+))?$/.exec(String(spec.service)) ?? [];
  return {
    type: 'RequestRedirect',
    requestRedirect: {
      ...(scheme === undefined ? {} : { scheme }),
      hostname: host,
      ...(port === undefined ? {} : { port: Number(port) }),
      ...(spec.path_redirect === undefined
        ? {}
        : { path: { type: 'ReplaceFullPath', replaceFullPath: spec.path_redirect } }),
      statusCode: spec.redirect_response_code,
    },
  };
}

function filtersOf(spec: Fields): readonly Fields[] {
  const headers = headersIn(spec.add_request_headers);
  const added = headers.filter(header => !isOperator(header)).map(withLiteral);
  const written = Array.isArray(spec.remove_request_headers) ? spec.remove_request_headers : [];
  const removed = [...written, ...headers.filter(isForged).map(({ name }) => name)];
  const answered = headersIn(spec.add_response_headers).map(withLiteral);
  const { cors } = spec;
  return [
    ...(isFields(cors) ? [{ type: 'CORS', cors: corsOf(cors) }] : []),
    ...(added.length + removed.length === 0
      ? []
      : [
          {
            type: 'RequestHeaderModifier',
            requestHeaderModifier: {
              ...(added.length === 0 ? {} : { set: added }),
              ...(removed.length === 0 ? {} : { remove: removed }),
            },
          },
        ]),
    ...(answered.length === 0
      ? []
      : [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { set: answered } }]),
    ...(spec.host_rewrite === undefined
      ? []
      : [{ type: 'URLRewrite', urlRewrite: { hostname: spec.host_rewrite } }]),
  ];
}

type Header = { readonly name: string; readonly value: string };

function headersIn(written: unknown): readonly Header[] {
  return entries(written).map(([name, header]) => ({
    name,
    value: String(isFields(header) ? header.value : header),
  }));
}

function withLiteral({ name, value }: Header): Header {
  return { name, value: value.replaceAll('%%', '%') };
}

/** Whether only the proxy knows the value, which a route cannot write. */
function isOperator({ value }: Header): boolean {
  return /^%[A-Z]/.test(value);
}

/** Whether clients may write what a route cannot. Envoy itself appends to `X-Forwarded-For`. */
function isForged(header: Header): boolean {
  return isOperator(header) && header.name !== 'x-forwarded-for';
}

function corsOf(cors: Fields): Fields {
  return {
    allowOrigins: cors.origins,
    ...(cors.credentials === true ? { allowCredentials: true } : {}),
    allowMethods: cors.methods,
    allowHeaders: cors.headers,
    ...(cors.exposed_headers === undefined ? {} : { exposeHeaders: cors.exposed_headers }),
    maxAge: cors.max_age,
  };
}

/** Formats a duration of Gateway API (GEP-2257), whose numbers have five digits at most. */
function formatSeconds(seconds: number): string {
  return seconds < 100_000 ? `${seconds}s` : `${Math.floor(seconds / 3600)}h${seconds % 3600}s`;
}

function persistenceOf({ load_balancer }: Fields): Fields {
  const written = isFields(load_balancer) ? load_balancer.cookie : undefined;
  if (!isFields(written)) return {};
  const { name, path, ttl } = written;
  const seconds = Number.parseInt(String(ttl ?? '0s'), 10);
  const isLasting = seconds > 0;
  const cookie = {
    name,
    ...(path === undefined ? {} : { path }),
    ...(isLasting ? { lifetimeType: 'Permanent' } : {}),
  };
  const lifetime = isLasting ? { absoluteTimeout: formatSeconds(seconds) } : {};
  return { sessionPersistence: { type: 'Cookie', ...lifetime, cookie } };
}

const LOST: Readonly<Record<string, string>> = {
  retry_policy: 'retries of failures that nginx names have no counterpart. Write `retry`',
  labels: 'limits are not taken over',
  grpc: 'name the protocol in `appProtocol` of the Service, `kubernetes.io/h2c`',
};

function lostOf(spec: Fields): readonly Remark[] {
  const found = Object.entries(LOST).filter(([field]) => spec[field] !== undefined);
  const balancer = spec.load_balancer;
  const isCookie = isFields(balancer) && isFields(balancer.cookie);
  return [
    ...found.map(([, why]) => dropped(NAME, why)),
    ...(balancer === undefined || isCookie ? [] : [dropped(NAME, 'requests are spread equally')]),
    ...(spec.shadow === true ? [dropped(NAME, 'copies go to a Service alone')] : []),
  ];
}
