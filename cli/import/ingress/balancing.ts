import { LONGEST_MS } from '#resources/words/number-types.ts';
import { fieldsOnly, joinParts, NOTHING, type Part, remarksOnly } from '../part.ts';
import { changed, dropped } from '../remark.ts';
import { type Annotations, annotationPath } from './annotations.ts';
import { numberOf } from './traffic.ts';

/** Returns how requests of one path are spread over the instances. */
export function balancing(annotations: Annotations, cookiePath: string): Part {
  const affinity = annotations.get('affinity');
  if (affinity === 'cookie') return cookieAffinity(annotations, cookiePath);
  const key = annotations.get('upstream-hash-by');
  if (key !== undefined) return hashing(key);
  return policy(annotations);
}

const DEFAULT_COOKIE = 'INGRESSCOOKIE';

const AGES: readonly string[] = ['session-cookie-max-age', 'session-cookie-expires'];
const LONGEST_AGE = Math.floor(LONGEST_MS / 1000);

function cookieAffinity(annotations: Annotations, cookiePath: string): Part {
  const name = annotations.get('session-cookie-name') ?? DEFAULT_COOKIE;
  const age = AGES.find(word => numberOf(annotations.get(word)) !== undefined);
  const written = age === undefined ? 0 : (numberOf(annotations.get(age)) ?? 0);
  const seconds = Math.min(written, LONGEST_AGE);
  const path = annotations.get('session-cookie-path') ?? cookiePath;
  return joinParts([
    fieldsOnly({
      load_balancer: { policy: 'ring_hash', cookie: { name, ttl: `${seconds}s`, path } },
    }),
    ...COOKIE_WORDS.map(word => lost(annotations, word)),
    age === undefined || seconds === written
      ? NOTHING
      : remarksOnly(
          changed(annotationPath(age), `the cookie lives ${LONGEST_AGE} seconds at most`),
        ),
    annotations.get('affinity-mode') === 'persistent'
      ? remarksOnly(
          changed(
            annotationPath('affinity-mode'),
            'when instances come or go, a share of the sessions moves to another instance',
          ),
        )
      : NOTHING,
  ]);
}

const COOKIE_WORDS: readonly string[] = [
  'session-cookie-samesite',
  'session-cookie-conditional-samesite-none',
  'session-cookie-secure',
  'session-cookie-domain',
  'session-cookie-change-on-failure',
  'affinity-canary-behavior',
];

function lost(annotations: Annotations, name: string): Part {
  return annotations.get(name) === undefined
    ? NOTHING
    : remarksOnly(
        dropped(
          annotationPath(name),
          'the cookie of the gateway has a name, a path and an age. Let the service set the cookie for more, and leave `ttl` out',
        ),
      );
}

function hashing(key: string): Part {
  const found = hashKey(key.replace(/^\$\{(\w+)\}$/, '$$$1'));
  if (found !== undefined) return fieldsOnly({ load_balancer: { policy: 'ring_hash', ...found } });
  return remarksOnly(
    dropped(
      annotationPath('upstream-hash-by'),
      'instances are chosen by one header, one cookie or the address of the client. Write `load_balancer` into the Mapping',
    ),
  );
}

function hashKey(key: string): object | undefined {
  const [, kind = '', name = ''] = /^\$(http|cookie)_(\w+)$/.exec(key) ?? [];
  if (kind === 'http') return { header: name.replaceAll('_', '-') };
  if (kind === 'cookie') return { cookie: { name } };
  if (key === '$remote_addr' || key === '$binary_remote_addr') return { source_ip: true };
  if (key === '$request_uri') return { header: ':path' };
  return key === '$host' || key === '$http_host' ? { header: ':authority' } : undefined;
}

function policy(annotations: Annotations): Part {
  const written = annotations.get('load-balance');
  if (written === undefined || written === 'round_robin') return NOTHING;
  const path = annotationPath('load-balance');
  if (written !== 'ewma') return remarksOnly(dropped(path, 'the policy is `round_robin`'));
  return {
    fields: { load_balancer: { policy: 'least_request' } },
    remarks: [changed(path, 'instances are chosen by their open requests, not by their latency')],
  };
}
