import { fieldsOnly, joinParts, NOTHING, type Part, remarksOnly } from '../part.ts';
import { changed, dropped } from '../remark.ts';
import { type Annotations, annotationPath, millisecondsOf } from './annotations.ts';

/** Seconds that nginx waits where no annotation says otherwise. */
const DEFAULT_CONNECT_MS = 5_000;
const DEFAULT_READ_MS = 60_000;

/** Returns the times of an Ingress. Without annotations they are those of ingress-nginx. */
export function timeouts(annotations: Annotations): Part {
  const connect = millisecondsOf(annotations.get('proxy-connect-timeout'));
  const read = millisecondsOf(annotations.get('proxy-read-timeout'));
  const send = millisecondsOf(annotations.get('proxy-send-timeout'));
  const idle = Math.max(read ?? DEFAULT_READ_MS, send ?? DEFAULT_READ_MS);
  return joinParts([
    fieldsOnly({
      timeout_ms: read ?? DEFAULT_READ_MS,
      connect_timeout_ms: connect || DEFAULT_CONNECT_MS,
      ...(read === undefined && send === undefined ? {} : { idle_timeout_ms: idle }),
    }),
    ...['proxy-connect-timeout', 'proxy-read-timeout', 'proxy-send-timeout'].map(name =>
      unreadable(annotations, name),
    ),
  ]);
}

function unreadable(annotations: Annotations, name: string): Part {
  const text = annotations.get(name);
  return text === undefined || millisecondsOf(text) !== undefined
    ? NOTHING
    : remarksOnly(dropped(annotationPath(name), 'it is no time in seconds'));
}

const CONDITIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    http_500: '5xx',
    http_502: 'gateway-error',
    http_503: 'gateway-error',
    http_504: 'gateway-error',
  }),
);

/** What the gateway repeats by itself, and words that allow it. */
const BUILT_IN: readonly string[] = ['error', 'timeout', 'non_idempotent'];

/** Returns when a request is tried again. */
export function retries(annotations: Annotations): Part {
  const written = annotations.get('proxy-next-upstream');
  const words = (written ?? '').split(/\s+/).filter(word => word !== '');
  if (words.includes('off')) return fieldsOnly({ retry_policy: { num_retries: 0 } });
  return joinParts([
    conditions(words, annotations),
    annotations.get('proxy-next-upstream-timeout') === undefined
      ? NOTHING
      : remarksOnly(
          dropped(
            annotationPath('proxy-next-upstream-timeout'),
            'all tries together have no bound but `timeout_ms` each. Write `per_try_timeout` into `retry_policy`',
          ),
        ),
  ]);
}

/** nginx repeats a POST only where `non_idempotent` says so. Here a policy is for all methods. */
function conditions(words: readonly string[], annotations: Annotations): Part {
  const path = annotationPath('proxy-next-upstream');
  const tries = Number(annotations.get('proxy-next-upstream-tries') ?? 3);
  const found = [...new Set(words.flatMap(word => CONDITIONS.get(word) ?? []))];
  const other = words.filter(word => !(CONDITIONS.has(word) || BUILT_IN.includes(word)));
  const unknown =
    other.length === 0
      ? NOTHING
      : remarksOnly(dropped(path, `${other.join(', ')}: no retry is made for these`));
  if (found.length === 0) return joinParts([onlyTries(annotations, tries), unknown]);
  if (!words.includes('non_idempotent'))
    return joinParts([
      remarksOnly(
        dropped(
          path,
          `a retry on ${found.join(', ')} would repeat POST too, which nginx does not without \`non_idempotent\`. Write \`retry_policy\` into the Mapping if that is safe`,
        ),
      ),
      unknown,
    ]);
  const num_retries = Math.max(0, tries - 1 || 2);
  return joinParts([
    fieldsOnly({ retry_policy: { retry_on: found.join(','), num_retries } }),
    unknown,
  ]);
}

function onlyTries(annotations: Annotations, tries: number): Part {
  if (annotations.get('proxy-next-upstream-tries') === undefined) return NOTHING;
  if (tries === 1) return fieldsOnly({ retry_policy: { num_retries: 0 } });
  return remarksOnly(
    changed(
      annotationPath('proxy-next-upstream-tries'),
      'what is safe to repeat is repeated once. Write `retry_policy` into the Mapping for more',
    ),
  );
}

/** Returns the number of an annotation that is one. */
export function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
