import pino, { type Bindings, type Logger } from 'pino';

/**
 * How many bytes of unwritable log lines are kept. They are written when the disk has space again.
 * Lines beyond the limit are lost.
 */
const MAX_UNWRITTEN_BYTES = 1_024 * 1_024;

/**
 * Opens the log of a service. Each line is JSON on standard output, with `base` in every one. An
 * output that accepts nothing, as on a full disk, neither ends nor delays the service.
 */
export function serviceLog(level: string, base: Bindings | null = null): Logger {
  const output = pino.destination({ sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  // Without a listener the error would be thrown in the code that logs.
  output.on('error', () => {});
  return pino({ level, base }, output);
}
