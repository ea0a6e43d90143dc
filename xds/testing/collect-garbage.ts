import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc: () => void = runInNewContext('gc');

/** Frees what nobody holds any more, so that a measure of memory says what is held. */
export function collectGarbage(): void {
  gc();
}
