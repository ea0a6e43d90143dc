import type { HttpRequest } from './http-request.ts';

/** Returns whether a gRPC client sent the request, also gRPC-Web. */
export function isGrpc({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  return (headers.get('content-type') ?? []).some(type =>
    /^application\/grpc(?:$|[+;\- ])/i.test(type),
  );
}
