import { InvalidArgumentError } from 'commander';
import { MAX_PORT_OFFSET } from '#launcher/ports.ts';

/** Parses the argument of `--port-offset`. Throws commander's error, which names the option. */
export function parsePortOffset(text: string): number {
  const offset = Number(text);
  if (/^\d+$/.test(text) && offset <= MAX_PORT_OFFSET) return offset;
  throw new InvalidArgumentError(`want a number from 0 to ${MAX_PORT_OFFSET}`);
}
