import { type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import type { Configuration } from '#ext-authz/filters/filter-set.ts';
import { openFilterKit } from '#ext-authz/filters/open-filter-kit.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import type { CheckResponse } from '#ext-authz/wire/check-response.ts';
import { after } from '#process/after.ts';
import { findType } from '#protos/root.ts';
import { checkMethod } from '../check-method.ts';
import { Checker } from '../checker.ts';
import { createMetrics } from '../metrics.ts';
import { STORE_KEY } from './store-login.ts';

/** The service's way from the bytes of a check to those of its answer, without a server. */
export type DirectChecks = {
  readonly use: (configuration: Configuration) => void;
  /** Answers at once where the filter need not wait. */
  readonly check: (request: Uint8Array) => Uint8Array | Promise<Uint8Array>;
};

export type DirectChecksParts = {
  readonly store: RecordStore;
  readonly storeKey?: KeyObject;
  /** ms since the epoch */
  readonly now: () => number;
};

const CALL = { metadata: () => '', timeoutMs: 5_000 };

export function openDirectChecks({
  now,
  store,
  storeKey = STORE_KEY,
}: DirectChecksParts): DirectChecks {
  const log = pino({ level: 'silent' });
  const kit = openFilterKit({
    ...{ store, log, now, randomBytes, id: randomUUID, timeout: AbortSignal.timeout },
    storeKey,
    pause: async () => {},
  });
  const checker = new Checker({
    kit,
    log,
    after,
    metrics: createMetrics(),
    uptime: () => performance.now(),
  });
  const { decode, encode, handle } = checkMethod(checker);
  const toBytes = (answer: Awaited<ReturnType<typeof handle>>) => {
    if ('failed' in answer) throw new Error(answer.message);
    return encode(answer);
  };
  return {
    use: configuration => checker.use(configuration),
    check: bytes => {
      const request = decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      if (request === undefined) throw new Error('no request');
      const answer = handle(request, CALL);
      return answer instanceof Promise ? answer.then(toBytes) : toBytes(answer);
    },
  };
}

/** A GET in the bytes of a check. */
export function checkBytes(
  url: string,
  fields: readonly (readonly [name: string, value: string])[],
): Uint8Array {
  const { host, pathname, protocol, search } = new URL(url);
  const headers = fields.map(([key, value]) => ({ key, raw_value: Buffer.from(value) }));
  const http = { method: 'GET', host, path: pathname + search, scheme: protocol.slice(0, -1) };
  const message = { attributes: { request: { http: { ...http, header_map: { headers } } } } };
  const type = findType('envoy.service.auth.v3.CheckRequest');
  return type?.encode(type.fromObject(message)).finish() ?? new Uint8Array();
}

export function readAnswer(bytes: Uint8Array): CheckResponse {
  return findType('envoy.service.auth.v3.CheckResponse')?.decode(bytes) as unknown as CheckResponse;
}
