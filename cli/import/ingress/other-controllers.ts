import { type Part, remarksOnly } from '../part.ts';
import { closed, dropped, type Remark } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';
import { RESTRICTING_NAMES } from './access.ts';
import { annotationsOf, PREFIX } from './annotations.ts';

/** Domains of annotations that Ingress controllers other than ingress-nginx read. */
const DOMAINS: readonly string[] = [
  'appprotect.f5.com',
  'appprotectdos.f5.com',
  'getambassador.io',
  'haproxy-ingress.github.io',
  'haproxy.com',
  'haproxy.org',
  'higress.io',
  'ingress.citrix.com',
  'k8s.apisix.apache.org',
  'konghq.com',
  'nginx.com',
  'nginx.org',
  'projectcontour.io',
  'zalando.org',
];

/** Those of others, such as `traefik.ingress.kubernetes.io`. */
const DOMAIN = /(?:^|\.)ingress\.kubernetes\.io$/;

/** Annotations of the controller of F5 that stand beside those of ingress-nginx by mistake. */
const HARMLESS: readonly string[] = [
  'client-max-body-size',
  'proxy-buffer-size',
  'proxy-buffering',
  'proxy-buffers',
  'proxy-connect-timeout',
  'proxy-max-temp-file-size',
  'proxy-read-timeout',
  'proxy-send-timeout',
  'websocket-services',
];

/**
 * Closes what annotations of other controllers may protect. ingress-nginx too reads its own under
 * another domain where `--annotations-prefix` says so.
 */
export function otherControllers(object: SourceObject): Part {
  const written = [...annotationsOf(object)].filter(([, value]) => value.trim() !== '');
  return remarksOnly(...written.flatMap(([annotation]) => remarksOf(annotation)));
}

function remarksOf(annotation: string): readonly Remark[] {
  if (annotation.startsWith(PREFIX)) return [];
  const slash = annotation.indexOf('/');
  const [domain, name] = [annotation.slice(0, Math.max(0, slash)), annotation.slice(slash + 1)];
  const isOthers = DOMAINS.includes(domain) || DOMAIN.test(domain);
  if (!isOthers && !RESTRICTING_NAMES.includes(name)) return [];
  const path = ['metadata', 'annotations', annotation];
  return HARMLESS.includes(name) ? [dropped(path, UNREAD)] : [closed(path, `${UNREAD}. ${WHY}`)];
}

const UNREAD = `only annotations that begin with \`${PREFIX}\` are read`;
const WHY =
  'This one may decide who passes. Write what it does, or remove it if no controller reads it. Then remove `closed` from the Mapping';
