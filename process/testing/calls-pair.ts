import { EventEmitter } from 'node:events';
import { Calls } from '../calls.ts';

export type CallsPair = {
  readonly one: Calls;
  readonly other: Calls;
  /** As if the other side had sent it to `one`. */
  hear(message: unknown): void;
};

/** Returns both ends of a channel. What is sent is copied, as between processes. */
export function callsPair(): CallsPair {
  const [left, right] = [new EventEmitter(), new EventEmitter()];
  const end = (own: EventEmitter, other: EventEmitter) =>
    new Calls({
      on: (event, hear) => own.on(event, hear),
      send: message =>
        void setImmediate(() => other.emit('message', JSON.parse(JSON.stringify(message)))),
    });
  return {
    one: end(left, right),
    other: end(right, left),
    hear: message => void left.emit('message', message),
  };
}
