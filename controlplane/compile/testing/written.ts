import type { CompileOptions } from '../options.ts';

/** Returns a document as operators write it. */
export function written(kind: string, namespace: string, name: string, spec: unknown): object {
  return { apiVersion: 'gateway.internal/v2', kind, metadata: { name, namespace }, spec };
}

export const FUZZ_OPTIONS: CompileOptions = {
  edge: { host: '127.0.0.1', port: 8080 },
  sds: { host: '127.0.0.1', port: 18003 },
  rateLimit: { host: '127.0.0.1', port: 18002 },
  extAuthz: { host: '127.0.0.1', port: 18001 },
};
