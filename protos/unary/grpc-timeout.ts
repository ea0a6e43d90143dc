const MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };
const TIMEOUT = /^(\d{1,8})([HMSmun])$/;

/** The header `grpc-timeout`, such as `20m` or `1S`, in milliseconds; undefined when it is none. Source: gRPC over HTTP2, "Timeout". */
export function parseGrpcTimeout(text: string): number | undefined {
  const [, value, unit = ''] = TIMEOUT.exec(text) ?? [];
  const ms = MS[unit];
  return value === undefined || ms === undefined ? undefined : Number(value) * ms;
}
