/**
 * A stream without any byte in either direction ends after this time, in ms, unless `timeout_ms`
 * allows for more.
 */
export const STREAM_IDLE_MS = 300_000;

/** Returns protobuf's JSON form of a duration in whole milliseconds: `250` is `"0.25s"`. */
export function toDuration(ms: number): string {
  return `${ms / 1000}s`;
}
