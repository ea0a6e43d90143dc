import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stopRequests } from './stop-requests.ts';

type Event = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'disconnect';

/** Returns what has been requested after these events, each at its time in ms. */
async function after(events: readonly [ms: number, event: Event][]): Promise<readonly string[]> {
  let time = 0;
  const requests = stopRequests(() => time);
  const asked: string[] = [];
  void requests.first.then(() => asked.push('stop'));
  void requests.urgent.then(() => asked.push('at once'));
  for (const [ms, event] of events) {
    time = ms;
    (process as NodeJS.EventEmitter).emit(event);
  }
  await Promise.resolve();
  requests.close();
  return asked;
}

describe('a gateway is asked', () => {
  const table: readonly [
    what: string,
    events: readonly [number, Event][],
    asked: readonly string[],
  ][] = [
    ['nothing by silence', [], []],
    ['to stop by Ctrl-C', [[0, 'SIGINT']], ['stop']],
    ['to stop by SIGTERM', [[0, 'SIGTERM']], ['stop']],
    ['to stop by a terminal that closes', [[0, 'SIGHUP']], ['stop']],
    [
      'once by one Ctrl-C that arrives three times',
      [
        [0, 'SIGINT'],
        [1, 'SIGINT'],
        [90, 'SIGINT'],
      ],
      ['stop'],
    ],
    [
      'to stop at once by a second Ctrl-C',
      [
        [0, 'SIGINT'],
        [900, 'SIGINT'],
      ],
      ['stop', 'at once'],
    ],
    ['to stop at once by the end of its launcher', [[0, 'disconnect']], ['stop', 'at once']],
  ];
  for (const [what, events, asked] of table) {
    test(what, async () => assert.deepEqual(await after(events), asked));
  }
});
