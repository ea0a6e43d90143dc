import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import { compile } from '#controlplane/compile/compile.ts';
import { EXT_AUTHZ } from '#controlplane/compile/node-groups.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { snapshotEncoder } from '#controlplane/envoy-snapshot.ts';
import { checkMethod } from '#ext-authz/check-method.ts';
import { Checker } from '#ext-authz/checker.ts';
import { FILTER_TYPES, FilterSet } from '#ext-authz/filter-set.ts';
import { createMetrics } from '#ext-authz/metrics.ts';
import { openFilterKit } from '#ext-authz/open-filter-kit.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';

/** From the bytes of a CheckRequest to those of the answer, as the service does it, in this process. */
export type Check = (request: Buffer) => Uint8Array | Promise<Uint8Array>;

export function openChecks(yaml: string, store: RecordStore): Check {
  const log = pino({ level: 'silent' });
  const kit = openFilterKit({
    ...{ store, log, randomBytes, now: Date.now, id: randomUUID },
    storeKey: createSecretKey(randomBytes(32)),
    timeout: AbortSignal.timeout,
    pause: async () => {},
  });
  const after = (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  };
  const checker = new Checker({ kit, log, after, metrics: createMetrics(), uptime: () => performance.now() });
  configure(checker, yaml);
  const method = checkMethod(checker);
  const call = { metadata: () => '', timeoutMs: 5_000 };
  const encode = (answer: object) => {
    if ('failed' in answer) throw new Error('a check failed');
    return method.encode(answer as Parameters<typeof method.encode>[0]);
  };
  return bytes => {
    const request = method.decode(bytes);
    if (request === undefined) throw new Error('no request');
    const answer = method.handle(request, call);
    return answer instanceof Promise ? answer.then(encode) : encode(answer);
  };
}

function configure(checker: Checker, yaml: string): void {
  const none = { host: '127.0.0.1', port: 1 };
  const options = { edge: none, sds: none, rateLimit: none, extAuthz: none };
  const compiled = compile(resourceSetOf(yaml).resources, EXT_AUTHZ, options);
  const snapshot = snapshotEncoder(Buffer.alloc(32))(compiled);
  const filters = new FilterSet();
  for (const typeUrl of FILTER_TYPES) {
    const changed = [...(snapshot.get(typeUrl)?.values() ?? [])];
    const parsed = filters.update({ typeUrl, changed, removed: [], complete: true });
    if ('error' in parsed) throw new Error(parsed.error);
    if (parsed.value !== undefined) checker.use(parsed.value);
  }
}
