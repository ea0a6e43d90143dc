import type { Json } from './json.ts';

const SHOWN_LENGTH = 60;

/** JSON that does not fit its message type. It is always our error, and never the operator's. */
export class EncodeError extends Error {
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path || '(message)'}: ${problem}`);
    this.name = 'EncodeError';
    this.path = path;
  }
}

/** Returns the beginning of a value, for an error. */
export function show(json: Json | undefined): string {
  const text = JSON.stringify(json) ?? 'nothing';
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}
