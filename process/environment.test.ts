import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  parseAddress,
  parseInteger,
  parseList,
  parseLogLevel,
  parseServerAddress,
  readTrustDomain,
  variablesOf,
} from './environment.ts';

const trustDomain = (value?: string) => readTrustDomain(variablesOf({ TRUST_DOMAIN: value }));

describe('the environment of a process', () => {
  test('has no spaces around its values, and says "otherwise" for what is empty', () => {
    const text = variablesOf({ A: ' a ', B: ' ' });
    assert.deepEqual([text('A', 'x'), text('B', 'x'), text('C', 'x')], ['a', 'x', 'x']);
  });

  test('has a trust domain', () => {
    assert.deepEqual([undefined, '', 'example.org', 'a_b-1'].map(trustDomain), [
      'gateway.internal',
      'gateway.internal',
      'example.org',
      'a_b-1',
    ]);
  });

  for (const wrong of [
    'a b',
    'Example.org',
    'spiffe://example.org',
    'a/group/b',
    'a:1',
    'a'.repeat(256),
  ]) {
    test(`has no trust domain "${wrong.slice(0, 30)}"`, () => {
      assert.throws(() => trustDomain(wrong), /^Error: TRUST_DOMAIN is ".*": want small letters/);
    });
  }

  test('tells what an address, an integer and a level should be', () => {
    assert.throws(() => parseAddress('ADDRESS', '1'), /^Error: ADDRESS is "1": want host:port/);
    assert.equal(parseAddress('ADDRESS', 'a:0').port, 0);
    assert.throws(
      () => parseServerAddress('XDS', 'a:0'),
      /^Error: XDS is "a:0": want the port of a server/,
    );
    assert.deepEqual(
      [parseList('LIST', '', ','), parseList('LIST', ' a,,b ', ',')],
      [[], ['a', 'b']],
    );
    assert.throws(
      () => parseList('LIST', ' , ', ','),
      /^Error: LIST is " , ", which names nothing/,
    );
    assert.throws(
      () => parseInteger('WAIT', '0', 9, ' of seconds'),
      /^Error: WAIT is "0": want an integer of seconds from 1 to 9$/,
    );
    assert.throws(() => parseInteger('WAIT', '1e1', 99), /want an integer from 1 to 99$/);
    assert.throws(() => parseLogLevel('loud'), /^Error: LOG_LEVEL is "loud": want one of trace,/);
  });
});
