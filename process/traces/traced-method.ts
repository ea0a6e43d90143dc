import { status } from '@grpc/grpc-js';
import { isFailure, type UnaryMethod } from '#grpc/unary/method.ts';
import type { SpanStart, Traces } from './traces.ts';

/** Returns the method with a span for each call, as a part of its caller's trace. */
export function tracedMethod<Request extends object, Response extends object>(
  method: UnaryMethod<Request, Response>,
  traces: Traces | undefined,
): UnaryMethod<Request, Response> {
  if (traces === undefined) return method;
  const [, service = '', name = ''] = method.path.split('/');
  const start: SpanStart = {
    name: `${service}/${name}`,
    kind: 'server',
    attributes: { 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': name },
  };
  return {
    ...method,
    handle: (request, call) =>
      traces.span(
        { ...start, caller: header => call.metadata(header) },
        () => method.handle(request, call),
        answer =>
          isFailure(answer)
            ? { 'rpc.grpc.status_code': status[answer.failed], 'error.type': answer.failed }
            : { 'rpc.grpc.status_code': status.OK },
      ),
  };
}
