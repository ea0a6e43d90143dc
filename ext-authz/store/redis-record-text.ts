import type { Reply } from '#redis/connect.ts';

/** A record as Redis keeps it: text, since replies are read as UTF-8. */
export type RecordText = {
  readonly version: string;
  readonly groups: readonly string[];
  readonly value: Uint8Array;
};

/** `<version>.<groups>.<value in Base64>`; neither version nor group has a dot or a comma. */
export function writeRecordText({ groups, value, version }: RecordText): string {
  return `${version}.${groups.join()}.${toBase64(value)}`;
}

/** Undefined for what is no record of ours. */
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

/** What a record in this version begins with, one byte a character, and no other. */
export function beginOfVersion(version: string): string {
  return `${version}.`;
}

export function toBase64(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
}
