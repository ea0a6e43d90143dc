import { nearest } from '#resources/words/suggest.ts';
import { type Part, remarksOnly } from '../part.ts';
import { dropped, type Remark } from '../remark.ts';
import { type Annotations, annotationPath, listOf } from './annotations.ts';
import { mirrorService } from './mirror.ts';

/** Annotations without a counterpart that restrict nothing, and what to do. */
const DROPPED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'proxy-body-size': 'bodies have no bound of size. Let the service bound them',
    'custom-http-errors': 'write `error_response_overrides` into the Mapping',
    'default-backend': 'no other service answers in place of one without instances',
    'proxy-cookie-domain': 'cookies of the service are passed on as they are',
    'proxy-cookie-path': 'cookies of the service are passed on as they are',
    'proxy-redirect-from': 'redirects of the service are passed on as they are',
    'proxy-redirect-to': 'redirects of the service are passed on as they are',
    'ssl-ciphers': 'write `cipher_suites` into `tls` of the Host',
    'stream-snippet': 'directives of nginx have no meaning here. Ports without HTTP are not served',
    'enable-access-log': 'the access log has all requests. See `proxy_log_format` of the Module',
    'enable-opentelemetry': 'write a TracingService',
    'enable-opentracing': 'write a TracingService',
    'http2-push-preload': 'browsers take no pushes any more',
    'connection-proxy-header': 'the gateway decides about the connection to the service',
    'upstream-hash-by-subset': 'each key has one instance',
    'mirror-request-body': 'copies have their body',
    'mirror-host': 'copies have `-shadow` behind their host',
    'auth-tls-error-page': 'a client without a certificate gets no connection',
    'denylist-source-range-code': 'there is no other code',
    'allow-http-options': 'OPTIONS is passed on as any method',
  }),
);

/** Annotations that other files read, or that need nothing here. */
const READ: readonly string[] = [
  'affinity',
  'affinity-canary-behavior',
  'affinity-mode',
  'allowlist-source-range',
  'app-root',
  'auth-cache-duration',
  'auth-cache-key',
  'auth-method',
  'auth-proxy-set-headers',
  'auth-realm',
  'auth-request-redirect',
  'auth-response-headers',
  'auth-secret',
  'auth-secret-type',
  'auth-signin',
  'auth-signin-redirect-param',
  'auth-snippet',
  'auth-tls-match-cn',
  'auth-tls-pass-certificate-to-upstream',
  'auth-tls-secret',
  'auth-tls-verify-client',
  'auth-tls-verify-depth',
  'auth-type',
  'auth-url',
  'backend-protocol',
  'canary',
  'canary-by-cookie',
  'canary-by-header',
  'canary-by-header-pattern',
  'canary-by-header-value',
  'canary-weight',
  'canary-weight-total',
  'client-body-buffer-size',
  'configuration-snippet',
  'cors-allow-credentials',
  'cors-allow-headers',
  'cors-allow-methods',
  'cors-allow-origin',
  'cors-expose-headers',
  'cors-max-age',
  'custom-headers',
  'denylist-source-range',
  'enable-cors',
  'enable-global-auth',
  'enable-modsecurity',
  'enable-owasp-core-rules',
  'enable-rewrite-log',
  'force-ssl-redirect',
  'from-to-www-redirect',
  'global-rate-limit',
  'global-rate-limit-ignored-cidrs',
  'global-rate-limit-key',
  'global-rate-limit-window',
  'limit-burst-multiplier',
  'limit-connections',
  'limit-rate',
  'limit-rate-after',
  'limit-rpm',
  'limit-rps',
  'limit-whitelist',
  'load-balance',
  'mirror-target',
  'modsecurity-snippet',
  'modsecurity-transaction-id',
  'permanent-redirect',
  'permanent-redirect-code',
  'preserve-trailing-slash',
  'proxy-buffer-size',
  'proxy-buffering',
  'proxy-buffers-number',
  'proxy-busy-buffers-size',
  'proxy-connect-timeout',
  'proxy-http-version',
  'proxy-max-temp-file-size',
  'proxy-next-upstream',
  'proxy-next-upstream-timeout',
  'proxy-next-upstream-tries',
  'proxy-read-timeout',
  'proxy-request-buffering',
  'proxy-send-timeout',
  'proxy-ssl-ciphers',
  'proxy-ssl-name',
  'proxy-ssl-protocols',
  'proxy-ssl-secret',
  'proxy-ssl-server-name',
  'proxy-ssl-verify',
  'proxy-ssl-verify-depth',
  'relative-redirects',
  'rewrite-target',
  'satisfy',
  'server-alias',
  'server-snippet',
  'service-upstream',
  'session-cookie-change-on-failure',
  'session-cookie-conditional-samesite-none',
  'session-cookie-domain',
  'session-cookie-expires',
  'session-cookie-max-age',
  'session-cookie-name',
  'session-cookie-path',
  'session-cookie-samesite',
  'session-cookie-secure',
  'ssl-passthrough',
  'ssl-prefer-server-ciphers',
  'ssl-redirect',
  'temporal-redirect',
  'temporal-redirect-code',
  'upstream-hash-by',
  'upstream-hash-by-subset-size',
  'upstream-vhost',
  'use-regex',
  'whitelist-source-range',
  'x-forwarded-prefix',
];

/** Annotations of which only some values can be expressed, and what the others lose. */
const PARTLY: readonly (readonly [name: string, can: (text: string) => boolean, why: string])[] = [
  [
    'mirror-target',
    text => mirrorService(text) !== undefined,
    'copies go to `https://host$request_uri` alone. Write a Mapping with `shadow: true`',
  ],
  [
    'server-alias',
    text => listOf(text).every(alias => !alias.startsWith('~')),
    'an expression is no host. Write a Mapping with `host_regex`',
  ],
];

/** Tells of annotations that have no effect here, and of those that ingress-nginx does not know. */
export function unsupported({ get, names }: Annotations): Part {
  const partly = PARTLY.filter(([name, can]) => names.includes(name) && !can(get(name) ?? ''));
  return remarksOnly(
    ...names.filter(name => !READ.includes(name)).map(lost),
    ...partly.map(([name, , why]) => dropped(annotationPath(name), why)),
  );
}

function lost(name: string): Remark {
  const why = DROPPED.get(name);
  if (why !== undefined) return dropped(annotationPath(name), why);
  const meant = nearest(name, READ);
  const hint = meant === undefined ? '' : `. Did you mean ${meant}?`;
  return dropped(annotationPath(name), `ingress-nginx is not known to read it${hint}`);
}
