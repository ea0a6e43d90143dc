import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noticeInLine, problemInLine } from './problem-line.ts';

const TABLE: readonly [line: string, problem: string | undefined][] = [
  [
    '[2026-11-21 07:09:15.123][4242][warning][config] [source/common/config/grpc_stream.h:212] stream closed: 14',
    'warning: stream closed: 14',
  ],
  [
    '[2026-11-21 07:09:15.123][4242][critical][main] no such file: [a] b',
    'critical: no such file: [a] b',
  ],
  ['[2026-11-21 07:09:15.123][4242][info][main] [source/server/server.cc:1] starting', undefined],
  [
    '[2026-11-21 07:09:15.123][4242][warning][http] bad host a\u001b[2Jb\rc\u2028d',
    'warning: bad host a [2Jb c\u2028d',
  ],
  ['{"level":30,"msg":"listening"}', undefined],
  ['{"level":40,"msg":"resource refused"}', 'warning: resource refused'],
  [
    '{"level":50,"msg":"store down","err":{"message":"ECONNREFUSED"}}',
    'error: store down: ECONNREFUSED',
  ],
  ['{"level":60,"msg":"bad PORT","err":{"message":"bad PORT"}}', 'fatal: bad PORT'],
  [
    '{"level":50,"msg":"a filter failed","reason":"no answer"}',
    'error: a filter failed: no answer',
  ],
  [
    '{"level":40,"msg":"request","error":"disk full","cause":"ENOSPC"}',
    'warning: request: disk full',
  ],
  ['{"level":40,"msg":"refused","reason":"a\\u001b[2Jb"}', 'warning: refused: a [2Jb'],
  ['{"level":50,"msg":"odd","reason":7}', 'error: odd'],
  ['{"level":50,"msg":"found wrong","reason":"no key set","reported":true}', undefined],
  [
    '{"level":50,"msg":"found wrong","reason":"no key set","reported":false}',
    'error: found wrong: no key set',
  ],
  ['{"level":50', undefined],
  ['GET /user/health 200', undefined],
];

describe('a line of a log', () => {
  for (const [line, problem] of TABLE) {
    test(`${line} ${problem === undefined ? 'is no problem' : `says "${problem}"`}`, () => {
      assert.equal(problemInLine(line), problem);
    });
  }
});

test('a service may say something for the console that is no problem', () => {
  const line = '{"level":30,"console":true,"msg":"a.yaml: 1\\u001b route"}';
  assert.equal(noticeInLine(line), 'a.yaml: 1  route');
  assert.equal(problemInLine(line), undefined);
  for (const other of [
    '{"level":30,"msg":"a"}',
    '{"console":true}',
    'console',
    '{"console":"true","msg":"a"}',
  ])
    assert.equal(noticeInLine(other), undefined);
});
