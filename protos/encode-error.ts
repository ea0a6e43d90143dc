import type { Json } from './json.ts';

const SHOWN_LENGTH = 60;

/** JSON that does not fit its message type: always a mistake of ours, never of the operator. */
export class EncodeError extends Error {
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path || '(message)'}: ${problem}`);
    this.name = 'EncodeError';
    this.path = path;
  }
}

/** A value as an error shows it: its beginning. */
export function show(json: Json | undefined): string {
  const text = JSON.stringify(json) ?? 'nothing';
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}
