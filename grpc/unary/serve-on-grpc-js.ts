import type {
  MethodDefinition,
  ServerUnaryCall,
  ServiceDefinition,
  sendUnaryData,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { type Served, serve } from '#grpc/serve.ts';
import { serviceDefinition } from '#grpc/service.ts';
import { isFailure, type UnaryCall, type UnaryMethod } from './method.ts';
import type { ServeUnaryOptions } from './serve-unary.ts';

/** Serves the same methods on grpc-js, for comparison and as a fallback. */
export function serveOnGrpcJs({
  host,
  port,
  methods,
  http,
  onError,
  tls,
}: ServeUnaryOptions): Promise<Served> {
  const services: Record<string, UntypedServiceImplementation> = {};
  const definitions: Record<string, ServiceDefinition> = {};
  for (const method of methods) {
    const [, service = '', name = ''] = method.path.split('/');
    const definition = definitions[service] ?? serviceDefinition(service);
    definitions[service] = { ...definition, [name]: withCodec(definition[name], method) };
    services[service] = { ...services[service], [name]: handler(method, onError) };
  }
  return serve({ host, port, services, definitions, tls, ...(http === undefined ? {} : { http }) });
}

function withCodec(
  definition: MethodDefinition<object, object> | undefined,
  { decode, encode, path }: UnaryMethod,
): MethodDefinition<object, object> {
  if (definition === undefined) throw new Error(`there is no method ${path} in the API`);
  const requestDeserialize = (bytes: Buffer) => {
    const request = decode(bytes);
    if (request === undefined) throw new Error('the message is malformed');
    return request;
  };
  // What is written may be a view of a buffer that is used again.
  return {
    ...definition,
    requestDeserialize,
    responseSerialize: response => Buffer.from(encode(response)),
  };
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
