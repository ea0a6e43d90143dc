/** JSON that does not fit its message type: always a mistake of ours, never of the operator. */
export class EncodeError extends Error {
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path || '(message)'}: ${problem}`);
    this.name = 'EncodeError';
    this.path = path;
  }
}
