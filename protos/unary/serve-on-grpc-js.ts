import type { ServerUnaryCall, sendUnaryData, UntypedServiceImplementation } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { type Served, serve } from '../serve.ts';
import { isFailure, type UnaryCall, type UnaryMethod } from './method.ts';
import type { ServeUnaryOptions } from './serve-unary.ts';

/** The same methods on grpc-js, to compare with and to fall back on. Messages are read and written by protobufjs. */
export function serveOnGrpcJs({
  host,
  port,
  methods,
  http,
  onError,
  tls,
}: ServeUnaryOptions): Promise<Served> {
  const services: Record<string, UntypedServiceImplementation> = {};
  for (const method of methods) {
    const [, service = '', name = ''] = method.path.split('/');
    services[service] = { ...services[service], [name]: handler(method, onError) };
  }
  return serve({ host, port, services, tls, ...(http === undefined ? {} : { http }) });
}

function handler(method: UnaryMethod, onError: ServeUnaryOptions['onError']) {
  return async (call: ServerUnaryCall<object, object>, reply: sendUnaryData<object>) => {
    try {
      const answered = await method.handle(call.request, toCall(call));
      if (isFailure(answered)) reply({ code: status[answered.failed], details: answered.message });
      else reply(null, answered);
    } catch (error) {
      onError(error);
      reply({ code: status.INTERNAL, details: 'internal error, see the log' });
    }
  };
}

function toCall({ metadata }: ServerUnaryCall<object, object>): UnaryCall {
  const text = (name: string) => String(metadata.get(name)[0] ?? '');
  return { metadata: text, timeoutMs: undefined };
}
