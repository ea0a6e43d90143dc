import { DURATION, duration } from '../duration.ts';
import type { GoValue } from '../go-type.ts';
import {
  type GoType,
  INT,
  INT32,
  STRING,
  STRING_SLICE,
  structType,
  UINT8,
  UINT32,
  UINT64,
} from '../go-type.ts';
import { enumType, fromJson, goComplex, goInt, goMap, goSlice, goStruct } from '../go-value.ts';
import { goHeader } from '../header.ts';

const UNITS = new Map(
  Array.from(
    { length: 8 },
    (_, unit) => [unit, ['UNKNOWN', 'SECOND', 'MINUTE'][unit] ?? 'UNKNOWN'] as const,
  ),
);
const UNIT = enumType('main.Unit', 'int32', UNITS);
const LIMIT = structType('main.Limit', [
  { name: 'Name', json: 'name', omitEmpty: true },
  { name: 'RequestsPerUnit', json: 'requests_per_unit', omitEmpty: true },
  { name: 'Unit', json: 'unit', omitEmpty: true },
]);
const STATUS = structType('main.Status', [
  { name: 'Code', json: 'code', omitEmpty: true },
  { name: 'CurrentLimit', json: 'current_limit', omitEmpty: true },
  { name: 'LimitRemaining', json: 'limit_remaining', omitEmpty: true },
  { name: 'DurationUntilReset', json: 'duration_until_reset', omitEmpty: true },
]);
const RESPONSE = structType('main.Response', [
  { name: 'OverallCode', json: 'overall_code', omitEmpty: true },
  { name: 'Statuses', json: 'statuses', omitEmpty: true },
]);
const TOKEN = structType(
  'main.Token',
  ['Raw', 'Header', 'Claims', 'Valid', 'Extra'].map(name => ({ name, isAny: name === 'Extra' })),
);
const NAMED = structType('main.Named', [{ name: 'A' }, { name: 'B', isAny: true }, { name: 'C' }]);

const CLAIMS = String.raw`{
	"sub": "alice", "name": "Ali<c>e & \"Bob\" 'O'", "iat": 1516239022, "exp": 1.5e300, "tiny": 1e-7, "neg": -3, "zero": 0,
	"admin": true, "no": false, "null": null, "empty": "", "list": [1, "two", null, {"three": 3}, [4]], "none": [],
	"nested": {"a": {"b": {"c": "deep"}}, "e": {}}, "unicode": "h\u00e9llo \u4e16\u754c \ud83d\ude00\u2028\u0001",
	"scope": "read write", "numbers": [3, 1, 2.5], "key with space": "v", "Z": 1, "_": 2, "\u00e9": 3, "__proto__": "proto"
}`;

/** The data that fixtures name, the same as in fixtures/datasets.go. */
export function datasets(): ReadonlyMap<string, GoValue> {
  const token = fromJson(JSON.parse(CLAIMS));
  return new Map<string, GoValue>([
    ['ratelimit', ratelimit()],
    ['idle', idle()],
    ['claims', claims(token)],
    ['json', token],
    ['scalars', scalars()],
    ['nil', null],
    ['text', 'hello'],
    ['three', goInt(3)],
    ['list', goSlice(['a', goInt(1), null])],
    ['duration', duration(90e9)],
  ]);
}

function limit(name: string, rate: number, unit: number): GoValue {
  return goStruct(LIMIT, [name, goInt(rate, UINT32), goInt(unit, UNIT)]);
}

function status(code: number, current: GoValue, remaining: number, reset: number): GoValue {
  return goStruct(STATUS, [goInt(code), current, goInt(remaining, UINT32), duration(reset)]);
}

function ratelimit(): GoValue {
  const statuses = [
    status(2, limit('api.default-0', 5, 1), 0, 90e9),
    status(1, limit('', 100, 2), 99, 3600.5e9),
  ];
  return goMap([
    ['RateLimitResponse', goStruct(RESPONSE, [goInt(2), goSlice(statuses, STATUS)])],
    ['RetryAfter', duration(90e9)],
    ['status_code', goInt(429)],
    ['message', 'rate limit exceeded'],
    ['request_id', '0b7d4b1c-"<x>"'],
  ]);
}

function idle(): GoValue {
  return goMap([
    ['RateLimitResponse', goStruct(RESPONSE, [goInt(1), nilSlice(goSlice([], STATUS).type)])],
    ['RetryAfter', duration(0)],
  ]);
}

function nilSlice(type: GoType): GoValue {
  return { type, items: [], tail: [], isNil: true };
}

function claims(token: GoValue): GoValue {
  return goMap([
    ['token', goStruct(TOKEN, ['eyJ.x.y', goMap([['alg', 'RS256']]), token, true, null])],
    [
      'httpRequestHeader',
      goHeader([
        ['x-request-id', ['abc']],
        ['accept', ['text/html']],
        ['Accept', ['application/json']],
        ['empty', []],
      ]),
    ],
  ]);
}

function scalars(): GoValue {
  return goMap([
    ['int', goInt(42)],
    ['negative', goInt(-7)],
    ['zero', goInt(0)],
    ['big', goInt(2n ** 63n - 1n)],
    ['least', goInt(-(2n ** 63n))],
    ['int32', goInt(-123_456, INT32)],
    ['uint32', goInt(4_294_967_295, UINT32)],
    ['uint64', goInt(2n ** 64n - 1n, UINT64)],
    ['uint8', goInt(200, UINT8)],
    ['float', 3.25e-3],
    ['half', 2.5],
    ['million', 1e6],
    ['large', 1.5e300],
    ['small', 1.25e-7],
    ['minus', -0.5],
    ['whole', 100_000],
    ['inf', Number.POSITIVE_INFINITY],
    ['nan', Number.NaN],
    ['nought', 0],
    ['true', true],
    ['false', false],
    ['nil', null],
    ['string', 'héllo "w"\n'],
    ['empty', ''],
    ['rune', goInt(120, INT32)],
    ['smile', goInt(0x1f600)],
    ['surrogate', goInt(0xd800)],
    ['complex', goComplex(1.5, -2)],
    ['second', goInt(1, UNIT)],
    ['unit', goInt(7, UNIT)],
    ['duration', duration(1.5e9)],
    ['long', duration(26n * 3_600_000_000_000n + 3n)],
    ['before', goInt(-90e9, DURATION)],
    ['strings', goSlice(['a', 'b c'], STRING)],
    ['anys', goSlice([goInt(1), 'x', null, 2.5])],
    ['ints', goSlice([goInt(1), goInt(2), goInt(3)], INT)],
    [
      'map',
      goMap([
        ['b', goInt(1)],
        ['a', goSlice(['x'])],
      ]),
    ],
    ['texts', goMap([['k', 'v']], [], STRING)],
    ['named', goStruct(NAMED, [goInt(1), null, nilSlice(STRING_SLICE)])],
    ['header', goHeader([['a', ['1', '2']]])],
    ['limit', limit('api.default-0', 5, 1)],
    ['same', limit('api.default-0', 5, 1)],
  ]);
}
