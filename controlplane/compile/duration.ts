/** Returns protobuf's JSON form of a duration in whole milliseconds: `250` is `"0.25s"`. */
export function toDuration(ms: number): string {
  return `${ms / 1000}s`;
}
