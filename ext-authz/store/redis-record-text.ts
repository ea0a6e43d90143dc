import type { Reply } from '#redis/connect.ts';

/** A record as Redis keeps it. It is text, because replies are read as UTF-8. */
export type RecordText = {
  readonly version: string;
  readonly groups: readonly string[];
  readonly value: Uint8Array;
};

/**
 * Writes `<version>.<groups>.<value in Base64>`. Neither version nor group has a dot or a comma.
 */
export function writeRecordText({ groups, value, version }: RecordText): string {
  return `${version}.${groups.join()}.${toBase64(value)}`;
}

/**
 * Reads a record.
 * @returns undefined when the reply is not a record of ours
 */
export function readRecordText(reply: Reply): RecordText | undefined {
  if (typeof reply !== 'string') return undefined;
  const [version, groups, value, ...rest] = reply.split('.');
  if (version === undefined || groups === undefined || value === undefined || rest.length > 0)
    return undefined;
  return {
    version,
    groups: groups === '' ? [] : groups.split(','),
    value: Buffer.from(value, 'base64'),
  };
}

/** Returns what a record in this version, and no other, begins with, one byte a character. */
export function beginOfVersion(version: string): string {
  return `${version}.`;
}

export function toBase64(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
}
