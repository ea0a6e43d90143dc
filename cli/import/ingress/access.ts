import { joinParts, NOTHING, type Part, remarksOnly } from '../part.ts';
import { closed, dropped } from '../remark.ts';
import { type Annotations, annotationPath, listOf } from './annotations.ts';
import { isHarmless } from './snippets.ts';

const REMOVE_CLOSED = 'Then remove `closed` from the Mapping';

/** Annotations that decide who may pass, and what to write in their place. */
const RESTRICTING: readonly (readonly [annotation: string, remedy: string])[] = [
  [
    'auth-url',
    'the gateway asks no service of yours whether a request may pass. Write a Filter with `OAuth2` or `JWT`, and a FilterPolicy',
  ],
  [
    'auth-type',
    'the gateway checks no passwords of its own. Write a Filter with `OAuth2` or `JWT`, and a FilterPolicy',
  ],
  [
    'whitelist-source-range',
    'the gateway does not decide by address. Let the firewall or the network policy before it decide',
  ],
  [
    'allowlist-source-range',
    'the gateway does not decide by address. Let the firewall or the network policy before it decide',
  ],
  [
    'denylist-source-range',
    'the gateway does not decide by address. Let the firewall or the network policy before it decide',
  ],
  [
    'auth-tls-match-cn',
    'names in the certificates of clients are not compared. Let an authority of its own issue them',
  ],
  ['enable-modsecurity', 'the gateway has no web application firewall. Put one before it'],
  ['enable-owasp-core-rules', 'the gateway has no web application firewall. Put one before it'],
  ['modsecurity-snippet', 'the gateway has no web application firewall. Put one before it'],
  [
    'ssl-passthrough',
    'the gateway ends TLS itself, so the service would not see the certificates of clients. Use another proxy, or let the gateway have the certificate',
  ],
];

/** Values with which such an annotation restricts nothing. */
const OPEN: Readonly<Record<string, (text: string) => boolean>> = {
  'whitelist-source-range': isEverybody,
  'allowlist-source-range': isEverybody,
  'enable-modsecurity': isOff,
  'enable-owasp-core-rules': isOff,
  'ssl-passthrough': isOff,
};

function isEverybody(text: string): boolean {
  const networks = listOf(text);
  return networks.includes('0.0.0.0/0') && networks.includes('::/0');
}

export function isOff(text: string): boolean {
  return /^(?:0|f|false|off)$/i.test(text);
}

/** Closes what only annotations protect that cannot be expressed here. */
export function access(annotations: Annotations): Part {
  return joinParts([
    ...RESTRICTING.map(([name, remedy]) => restriction(annotations, name, remedy)),
    ...SNIPPETS.map(name => snippet(annotations, name)),
  ]);
}

function restriction(annotations: Annotations, name: string, remedy: string): Part {
  const text = annotations.get(name);
  if (text === undefined || OPEN[name]?.(text)) return NOTHING;
  return remarksOnly(closed(annotationPath(name), `${remedy}. ${REMOVE_CLOSED}`));
}

const SNIPPETS: readonly string[] = ['configuration-snippet', 'server-snippet', 'auth-snippet'];

/** Annotations that decide who may pass, also those that can be expressed. */
export const RESTRICTING_NAMES: readonly string[] = [
  ...RESTRICTING.map(([name]) => name),
  ...SNIPPETS,
  'auth-tls-secret',
];

/** What ingress-nginx applies to the whole host, also to the paths of other Ingresses. */
export const HOST_WIDE: readonly string[] = [
  'server-snippet',
  'ssl-passthrough',
  'auth-tls-match-cn',
];

/** A snippet may deny anything. Only one that sets nothing but known directives is left out. */
function snippet(annotations: Annotations, name: string): Part {
  const text = annotations.get(name);
  if (text === undefined) return NOTHING;
  const path = annotationPath(name);
  if (isHarmless(text))
    return remarksOnly(
      dropped(path, 'directives of nginx have no meaning here. See the fields of a Mapping'),
    );
  return remarksOnly(
    closed(
      path,
      `directives of nginx cannot be expressed, and these may decide who passes. Write what they do into the Mapping or a Filter. ${REMOVE_CLOSED}`,
    ),
  );
}
