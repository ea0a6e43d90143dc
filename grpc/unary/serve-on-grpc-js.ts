import { X509Certificate } from 'node:crypto';
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
import { isFailure, type UnaryCall, type UnaryMethod, type UnaryPeer } from './method.ts';
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
  const given = grpcJsServices(methods, onError);
  return serve({ host, port, ...given, tls, ...(http === undefined ? {} : { http }) });
}

/** Returns the methods as services of grpc-js, beside which others may stand. */
export function grpcJsServices(
  methods: readonly UnaryMethod[],
  onError: ServeUnaryOptions['onError'],
) {
  const services: Record<string, UntypedServiceImplementation> = {};
  const definitions: Record<string, ServiceDefinition> = {};
  for (const method of methods) {
    const [, service = '', name = ''] = method.path.split('/');
    const definition = definitions[service] ?? serviceDefinition(service);
    definitions[service] = { ...definition, [name]: withCodec(definition[name], method) };
    services[service] = { ...services[service], [name]: handler(method, onError) };
  }
  return { services, definitions };
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

function toCall(call: ServerUnaryCall<object, object>): UnaryCall {
  const text = (name: string) => String(call.metadata.get(name)[0] ?? '');
  return { metadata: text, timeoutMs: undefined, peer: () => peerOf(call) };
}

/** grpc-js gives an address with its port. */
function peerOf(call: ServerUnaryCall<object, object>): UnaryPeer {
  const { sslPeerCertificate } = call.getAuthContext();
  const at = call.getPeer();
  return {
    address: at.slice(0, at.lastIndexOf(':')).replace(/^\[|\]$/g, ''),
    certificate: sslPeerCertificate && new X509Certificate(sslPeerCertificate.raw),
  };
}
