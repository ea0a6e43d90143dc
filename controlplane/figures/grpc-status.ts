/**
 * What a `grpc-status` is called, and the HTTP status that stands for it in the figures.
 * `UNIMPLEMENTED` is how gRPC says 404. Source: gRPC's pages "Status codes and their use in gRPC"
 * and "HTTP to gRPC Status Code Mapping".
 */
const STATUSES: readonly (readonly [name: string, status: number])[] = [
  ['OK', 200],
  ['CANCELLED', 499],
  ['UNKNOWN', 500],
  ['INVALID_ARGUMENT', 400],
  ['DEADLINE_EXCEEDED', 504],
  ['NOT_FOUND', 404],
  ['ALREADY_EXISTS', 409],
  ['PERMISSION_DENIED', 403],
  ['RESOURCE_EXHAUSTED', 429],
  ['FAILED_PRECONDITION', 400],
  ['ABORTED', 409],
  ['OUT_OF_RANGE', 400],
  ['UNIMPLEMENTED', 404],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DATA_LOSS', 500],
  ['UNAUTHENTICATED', 401],
];

/** Returns the name of a `grpc-status` and its HTTP status, or undefined for any other text. */
export function grpcStatusOf(
  text: string,
): { readonly grpcStatus: string; readonly status: number } | undefined {
  const [grpcStatus, status] = (/^\d{1,2}$/.test(text) ? STATUSES[Number(text)] : undefined) ?? [];
  return grpcStatus === undefined || status === undefined ? undefined : { grpcStatus, status };
}
