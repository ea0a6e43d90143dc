import pino, { type Bindings, type Logger } from 'pino';

/**
 * What is kept, in bytes, of what cannot be written: when the disk has space again it follows, and
 * lines beyond it are lost.
 */
const MAX_UNWRITTEN_BYTES = 1_024 * 1_024;

/**
 * The log of a service: a line of JSON each on standard output, with `base` in every one. An output
 * that takes nothing, as on a full disk, neither ends nor delays the service.
 */
export function serviceLog(level: string, base: Bindings | null = null): Logger {
  const output = pino.destination({ sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  // Without a listener the error would be thrown at whoever logs.
  output.on('error', () => {});
  return pino({ level, base }, output);
}
